import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { createSteps } from '../async/steps.js'
import { MEBIBYTE } from './units.js'

/** One record of a file. `row` is its number in a spreadsheet: the header is 1, blank rows count. */
export interface CsvRecord {
  row: number
  cells: string[]
}

/** The file is not CSV; the message names the row and the reason. */
export class CsvProblem extends Error {
  override readonly name = 'CsvProblem'
}

/** Larger than the largest contact row that the limits of its fields allow. */
const MAX_RECORD_BYTES = MEBIBYTE / 4
const HEAD_BYTES = 65_536
const DELIMITERS = [',', ';', '\t']

const REASONS: Partial<Record<CsvError['code'], string>> = {
  CSV_INVALID_CLOSING_QUOTE: 'has a quote (") inside a quoted cell: it must be doubled ("")',
  INVALID_OPENING_QUOTE:
    'has a quote (") inside a cell that is not quoted: quote the cell, and double the quotes in it',
  CSV_QUOTE_NOT_CLOSED: 'has a quoted cell that does not end',
  CSV_MAX_RECORD_SIZE: `is longer than ${MAX_RECORD_BYTES} bytes: a quoted cell may not end where it should`,
}

/**
 * Reads a CSV file (RFC 4180, UTF-8) record by record. The delimiter is the one of comma, semicolon and tab that is
 * most frequent in the header. Other requests have their turn between records. Throws CsvProblem.
 */
export async function* readCsv(path: string): AsyncGenerator<CsvRecord> {
  const step = createSteps()
  let parsed = 0
  let row = 0
  const parser = parse({
    bom: true,
    delimiter: await findDelimiter(path),
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    max_record_size: MAX_RECORD_BYTES,
    on_record: (cells: string[]) => {
      parsed++
      return cells
    },
  })
  // An error ends the parser, and with it the loop.
  pipeline(createReadStream(path), parser, () => undefined)
  try {
    for await (const cells of parser) {
      yield { row: ++row, cells }
      await step()
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new CsvProblem(`Row ${parsed + 1} of the file ${REASONS[error.code] ?? `cannot be read: ${error.message}`}`)
  }
}

/** Counts delimiters outside quotes in the first line. */
async function findDelimiter(path: string): Promise<string> {
  const counts = new Map(DELIMITERS.map((delimiter) => [delimiter, 0]))
  let quoted = false
  for (const character of await readHead(path)) {
    if (character === '"') quoted = !quoted
    if (quoted) continue
    if (character === '\n' || character === '\r') break
    const count = counts.get(character)
    if (count !== undefined) counts.set(character, count + 1)
  }
  return [...counts].reduce((most, one) => (one[1] > most[1] ? one : most))[0]
}

async function readHead(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead)
  } finally {
    await file.close()
  }
}
