import { execFile } from 'node:child_process'
import { mkdir, readFile, symlink, writeFile } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { patience } from '../support/patience.js'
import { builtProgram } from './support/build.js'
import { endPrograms, startProgram } from './support/programs.js'
import { makeFolder } from './support/service.js'

const README = pageAt('README.md')
const TOUR = pageAt('docs/tour.md')
/** In this order: the first one sets the variables that all of them use. */
const OTHERS = ['gateway', 'gateway-webhooks', 'webhooks', 'broadcasts', 'import-export'].map((name) =>
  pageAt(`docs/${name}.md`),
)
const CURL = fileURLToPath(new URL('support/curl.mjs', import.meta.url))

/** A block of commands, and the answer that stands below it, if any. */
interface Step {
  commands: string
  shown: string | null
}

let folder: Awaited<ReturnType<typeof makeFolder>>

beforeAll(async () => {
  folder = await makeFolder()
  const programs = join(folder.path, 'bin')
  await mkdir(programs)
  const program = await builtProgram()
  await writeFile(join(programs, 'parley'), `#!/bin/sh\nexec '${process.execPath}' '${program}' "$@"\n`, {
    mode: 0o755,
  })
  // Not every machine has it.
  await symlink(CURL, join(programs, 'curl'))
  const started = await startProgram(['up'], { env: { PARLEY_PORT: '0' }, cwd: folder.path })
  await vi.waitFor(() => expect(started.output.at(-1)).toMatch(/^Ctrl-C/), patience)
})

afterAll(async () => {
  await endPrograms()
  await folder?.remove()
})

describe('the commands of the docs', () => {
  it('in the README can be pasted in order, unchanged, and answer as shown', async () => {
    const steps = await readSteps(README)
    expect(steps).toHaveLength(4)
    const outputs = await pasteAndCheck(steps)
    expect(outputs.at(-1)).toContain('Is it still there?')
  })

  it('in the tour can be pasted in order, unchanged, and answer as shown', async () => {
    const steps = await readSteps(TOUR)
    expect(steps.length).toBeGreaterThan(8)
    const outputs = await pasteAndCheck(steps)
    expect(outputs.at(-2)).toContain('"error":"Outcome unknown"')
    expect(outputs.at(-1)).toContain('Did it arrive?')
  })

  it('on the other pages can be pasted too', async () => {
    const steps = (await Promise.all(OTHERS.map(readSteps))).flat()
    expect(steps.length).toBeGreaterThan(8)
    await pasteAndCheck(steps)
  })
})

function pageAt(path: string): string {
  return fileURLToPath(new URL(`../../${path}`, import.meta.url))
}

async function readSteps(page: string): Promise<Step[]> {
  const blocks = (await readFile(page, 'utf8')).matchAll(/^```sh\n(.*?)^```\n(?:```json\n(.*?)^```\n)?/gms)
  return [...blocks].map(([, commands = '', shown = null]) => ({ commands, shown }))
}

/** Runs all steps and compares each answer with the one that is shown; resolves to what each printed. */
async function pasteAndCheck(steps: Step[]): Promise<string[]> {
  const outputs = await paste(steps)
  for (const [index, { commands, shown }] of steps.entries()) {
    const output = outputs[index] ?? ''
    expect({ commands, output }).not.toMatchObject({ output: expect.stringContaining('"error":"Invalid') })
    if (shown !== null) expectShown(JSON.parse(output), readShown(shown))
  }
  return outputs
}

/** Runs all steps in one shell, which ends at the first command that fails; resolves to what each printed. */
async function paste(steps: Step[]): Promise<string[]> {
  const mark = '--- next step ---'
  const script = steps.map(({ commands }) => `${commands}\necho\necho '${mark}'`).join('\n')
  const path = [join(folder.path, 'bin'), process.env.PATH].join(delimiter)
  const { HOME, TMPDIR } = process.env
  const options = { cwd: folder.path, env: { PATH: path, HOME, TMPDIR }, maxBuffer: 16 * 1_048_576 }
  const { stdout } = await promisify(execFile)('sh', ['-euc', script], options)
  return stdout
    .split(mark)
    .map((output) => output.trim())
    .slice(0, steps.length)
}

/** The answer as the page shows it, without the places where it leaves something out. */
function readShown(text: string): unknown {
  return JSON.parse(text.replaceAll(', …', ''))
}

/** What is shown is there, in the same order and of the same kinds; an empty list shows nothing of its items. */
function expectShown(answer: unknown, shown: unknown): void {
  if (Array.isArray(shown)) {
    expect(answer).toBeInstanceOf(Array)
    for (const [index, item] of shown.entries()) expectShown((answer as unknown[])[index], item)
  } else if (typeof shown === 'object' && shown !== null) {
    expect(Object.keys(answer as object)).toEqual(expect.arrayContaining(Object.keys(shown)))
    for (const [name, value] of Object.entries(shown)) expectShown((answer as Record<string, unknown>)[name], value)
  } else if (shown !== null && answer !== null) {
    expect(typeof answer).toBe(typeof shown)
  }
}
