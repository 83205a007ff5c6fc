import { stringify } from 'csv-stringify/sync'
import { inBatches } from '../async/batches.js'
import { guardFormula } from './formula-guard.js'

/** Marks the file as UTF-8 for spreadsheets. */
const BYTE_ORDER_MARK = '\uFEFF'
const ROWS_A_PART = 200

/**
 * Yields a CSV file in parts (RFC 4180, UTF-8 with a byte order mark). Cells are never formulas. The first part comes
 * with the first rows.
 */
export async function* writeCsv(
  header: readonly string[],
  rows: AsyncIterable<readonly string[]>,
): AsyncGenerator<string> {
  let head = BYTE_ORDER_MARK + format([header])
  for await (const some of inBatches(rows, ROWS_A_PART)) {
    yield head + format(some)
    head = ''
  }
  if (head !== '') yield head
}

function format(rows: readonly (readonly string[])[]): string {
  return stringify(
    rows.map((cells) => cells.map(guardFormula)),
    { record_delimiter: '\r\n', quote_record_delimiter: true },
  )
}
