import { createReadStream } from 'node:fs'
import { open } from 'node:fs/promises'
import { pipeline } from 'node:stream'
import { CsvError, parse } from 'csv-parse'
import { createSteps } from '../async/steps.js'
import { findDialect } from './csv-dialect.js'
import { MEBIBYTE } from './units.js'

/** One record of a file. `row` is its number in a spreadsheet: the header is 1, blank rows count. */
export interface CsvRecord {
  row: number
  cells: string[]
}

/** The file is not CSV; the message completes "row 3 of the file …". */
export class CsvProblem extends Error {
  override readonly name = 'CsvProblem'
  readonly row: number

  constructor(row: number, message: string) {
    super(message)
    this.row = row
  }
}

/** Larger than the largest contact row that the limits of its fields allow. */
const MAX_RECORD_BYTES = MEBIBYTE / 4
const HEAD_BYTES = 65_536

const REASONS: Partial<Record<CsvError['code'], string>> = {
  CSV_QUOTE_NOT_CLOSED: 'has a quoted cell that does not end',
  CSV_MAX_RECORD_SIZE: `is longer than ${MAX_RECORD_BYTES} bytes: a quoted cell may not end where it should`,
}

/**
 * Reads a CSV file (RFC 4180, UTF-8) record by record, with the delimiter that findDialect finds. Quotes within a cell
 * that is not quoted are part of its text. Other requests have their turn between records. Throws CsvProblem.
 */
export async function* readCsv(path: string): AsyncGenerator<CsvRecord> {
  const step = createSteps()
  const { delimiter, hasSeparatorLine } = findDialect(await readHead(path))
  // Spreadsheets do not show the line with the separator.
  let parsed = hasSeparatorLine ? -1 : 0
  let row = parsed
  const parser = parse({
    bom: true,
    delimiter,
    record_delimiter: ['\r\n', '\n', '\r'],
    relax_column_count: true,
    relax_quotes: true,
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
      if (++row > 0) yield { row, cells }
      await step()
    }
  } catch (error) {
    if (!(error instanceof CsvError)) throw error
    throw new CsvProblem(parsed + 1, REASONS[error.code] ?? `cannot be read: ${error.message}`)
  }
}

async function readHead(path: string): Promise<string> {
  const file = await open(path)
  try {
    const { buffer, bytesRead } = await file.read(Buffer.alloc(HEAD_BYTES), 0, HEAD_BYTES, 0)
    return buffer.toString('utf8', 0, bytesRead).replace(/^\ufeff/, '')
  } finally {
    await file.close()
  }
}
