import { stringify } from 'csv-stringify/sync'
import { inBatches } from '../async/batches.js'
import { guardFormula } from './formula-guard.js'

/** Tells spreadsheets that the file is UTF-8. */
const BYTE_ORDER_MARK = '\uFEFF'
const ROWS_A_PART = 200

/**
 * A CSV file (RFC 4180, UTF-8 with a byte order mark), part by part. No cell is a formula to a spreadsheet. The first part
 * comes when the first rows are there.
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
