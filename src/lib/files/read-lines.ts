import { createReadStream } from 'node:fs'
import { createSteps } from '../async/steps.js'

/** A line is longer than the limit; the message names it. */
export class LineTooLong extends Error {
  override readonly name = 'LineTooLong'
}

/**
 * Reads a UTF-8 file line by line, without a byte order mark and without the ends of lines. Lines of more than
 * `maxLength` characters throw LineTooLong, before they fill the memory. Other requests have their turn between lines.
 */
export async function* readLines(path: string, maxLength: number): AsyncGenerator<string> {
  const step = createSteps()
  let rest = ''
  let row = 0
  for await (const chunk of createReadStream(path, { encoding: 'utf8' }) as AsyncIterable<string>) {
    const lines = (row === 0 && rest === '' ? chunk.replace(/^\ufeff/, '') : rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      yield checked(line, ++row, maxLength)
      await step()
    }
    checked(rest, row + 1, maxLength)
  }
  if (rest !== '') yield checked(rest, row + 1, maxLength)
}

function checked(line: string, row: number, maxLength: number): string {
  if (line.length > maxLength) throw new LineTooLong(`Line ${row} of the file is longer than ${maxLength} characters`)
  return line.endsWith('\r') ? line.slice(0, -1) : line
}
