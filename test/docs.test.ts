import { execFile } from 'node:child_process'
import { access, readdir, readFile } from 'node:fs/promises'
import { dirname, join, normalize } from 'node:path'
import { promisify } from 'node:util'
import { describe, expect, it } from 'vitest'
import { anchorsOf, withoutCode } from './support/anchors.js'

const LINK = /\]\(([^()\s]+)\)|<img src="([^"]+)"/g
/** A path in backticks that begins with a folder of this repository, or of `src`; `src/core/a.ts:12` names a line too. */
const CITED = new RegExp(`\`((?:${(await listFolders()).join('|')})/[\\w./-]*\\w)(?::\\d+)?\``, 'g')
/** Created by a build or a run. */
const MADE = /^(?:console\/dist|docs\/static)/
const MAX_COLUMNS = 120
/** Where a subject begins: a sentence, a part of one after a comma or the like, or a clause. */
const CLAUSE = '(?:^|[,.;:!?(] |\\b(?:if|when|while|until|because|so that) )(?:(?:and|but|nor|or|so) )?'
/** Words that make a sentence hard to read, what to write instead, and a sentence that is refused. */
const REFUSED_WORDS = [
  { words: /\b(?:tells?|told|telling)\b/i, instead: 'says, shows, lists, reports', example: 'A note tells of it.' },
  { words: /\b(?:stands?|stood) (?!in for\b)/i, instead: 'is, is in, requires', example: 'A list stands on\na table.' },
  { words: /\b(?:go|goes|going|went) on\b/i, instead: 'continues, keeps …ing', example: 'The job goes on.' },
  { words: /\b(?:whatever|whoever|whomever)\b/i, instead: 'regardless of, a person who', example: '- Whoever asks' },
  { words: /\banew\b/i, instead: 'again, from the beginning', example: '| it is made anew |' },
  { words: /\bsurely\b/i, instead: 'nothing, or the reason', example: 'It surely ends.' },
  {
    words: new RegExp(`${CLAUSE}(?:those|that of|the others|of these)\\b`, 'i'),
    instead: 'the noun',
    example: 'One waits, and the\nothers continue.',
  },
]

const pages = await listPages()

describe.each(pages)('%s', (page) => {
  it('links to files and headings that exist', async () => {
    const text = withoutCode(await readFile(page, 'utf8'))
    const targets = [...text.matchAll(LINK)].map(([, link, image]) => link ?? image ?? '')
    const broken: string[] = []
    for (const target of targets.filter((target) => !/^[a-z]+:/.test(target))) {
      const [path = '', anchor] = target.split('#')
      const file = path === '' ? page : normalize(join(dirname(page), path))
      if (!(await exists(file)) || (anchor !== undefined && !anchorsOf(await readFile(file, 'utf8')).has(anchor)))
        broken.push(target)
    }
    expect(broken).toEqual([])
  })

  it('cites files and folders that exist', async () => {
    const text = await readFile(page, 'utf8')
    const cited = [...text.matchAll(CITED)].map(([, path = '']) => path).filter((path) => !MADE.test(path))
    const missing: string[] = []
    for (const path of cited) {
      const places = [path, `${path}.ts`, `src/${path}`, `src/${path}.ts`]
      if (!(await Promise.all(places.map(exists))).includes(true)) missing.push(path)
    }
    expect(missing).toEqual([])
  })

  it(`wraps its prose at ${MAX_COLUMNS} columns`, async () => {
    const lines = withoutCode(await readFile(page, 'utf8')).split('\n')
    const isProse = (line: string) => !/^\s*(\||#|<|!\[)/.test(line) && /\S\s+\S/.test(line.replace(/^\s*[-*]\s+/, ''))
    expect(lines.filter((line) => line.length > MAX_COLUMNS && isProse(line))).toEqual([])
  })

  it('is written in plain words', async () => {
    expect(findRefusedWords(await readFile(page, 'utf8'))).toEqual([])
  })
})

describe('the test of plain words', () => {
  it.each(REFUSED_WORDS)('refuses: $example', ({ instead, example }) => {
    expect(findRefusedWords(`# A page\n\n${example}\n`)).toEqual([expect.stringContaining(`(write: ${instead})`)])
  })

  it('permits them in code, in quoted text and as part of other words', () => {
    const text = 'A standby says "go on" by `tell`; keep those rows.\n\n```\nwhatever\n```\n'
    expect(findRefusedWords(text)).toEqual([])
  })
})

async function listPages(): Promise<string[]> {
  const { stdout } = await promisify(execFile)('git', [
    'ls-files',
    '--cached',
    '--others',
    '--exclude-standard',
    '*.md',
  ])
  const paths = stdout.split('\n').filter((path) => path !== '' && !path.startsWith('test/'))
  const present = await Promise.all(paths.map(exists))
  return paths.filter((_, index) => present[index])
}

async function listFolders(): Promise<string[]> {
  const top = ['src', 'docs', 'test', 'simulator', 'console', 'bench', 'bin', 'scripts', 'migrations']
  const entries = await readdir('src', { withFileTypes: true })
  return [...top, ...entries.filter((entry) => entry.isDirectory()).map(({ name }) => name)]
}

/** The places with refused words, each with what to write instead. */
function findRefusedWords(page: string): string[] {
  return sentencesOf(page).flatMap((sentences) =>
    REFUSED_WORDS.flatMap(({ words, instead }) => {
      const found = words.exec(sentences)
      return found ? [`${sentences.slice(found.index, found.index + 80)} (write: ${instead})`] : []
    }),
  )
}

/** The paragraphs, list items and table cells of a page, each on one line, without code and quoted text. */
function sentencesOf(page: string): string[] {
  return withoutCode(page)
    .split(/\n\s*\n|\n(?=\s*(?:[-*#|]|\d+\.)\s)|(?<!\\)\|/)
    .map((part) => part.replace(/^\s*(?:[-*#]+|\d+\.)\s+/, '').replaceAll(/\s+/g, ' '))
    .map((part) => part.replaceAll(/`[^`]*`|"[^"]*"/g, '…'))
    .map((part) => part.replaceAll('*', '').trim())
}

async function exists(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}
