import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { packageRoot } from '../../lib/files/package-root.js'

/** A page of the docs, as it is in the package. */
export interface Page {
  /** The file, such as webhooks.md or decisions/http-client.md. */
  file: string
  title: string
  /** The first sentence after the title; empty if there is none. */
  summary: string
  text: string
}

/** Reads the pages of the package's docs folder and its subfolders, by name. */
export function readPages(): Page[] {
  const folder = join(packageRoot(), 'docs')
  const files = readdirSync(folder, { encoding: 'utf8', recursive: true }).filter((file) => /^[\w/-]+\.md$/.test(file))
  return files.sort().map((file) => {
    const text = readFileSync(join(folder, file), 'utf8')
    return { file, title: /^# (.+)$/m.exec(text)?.[1] ?? file, summary: firstSentence(text), text }
  })
}

/** Of the first paragraph: pages may begin with a list, a table or code, too. */
function firstSentence(text: string): string {
  const paragraph = /^# .+\n+(?!```)([A-Z`*[][^\n]*(?:\n[^\n]+)*)/m.exec(text)?.[1] ?? ''
  const plain = paragraph.replaceAll(/\[([^\]]+)\]\([^)]*\)/g, '$1').replaceAll(/\s+/g, ' ')
  return /^.+?[.:](?= |$)/.exec(plain)?.[0].replace(/:$/, '.') ?? plain
}
