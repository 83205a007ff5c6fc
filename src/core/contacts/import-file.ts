import type { Context, OperatorContext } from '../../context.js'
import { isForeignKeyViolation } from '../../database/errors.js'
import { retryOnConflict } from '../../database/retry.js'
import { inBatches } from '../../lib/async/batches.js'
import { CsvProblem, type CsvRecord, readCsv } from '../../lib/text/csv-read.js'
import { nearestWord } from '../../lib/text/nearest-word.js'
import { excerpt } from '../../lib/text/text.js'
import {
  type ContactNumber,
  type DoubtfulNumber,
  findDoubt,
  type NumberReading,
} from '../../model/contacts/written-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import {
  analyzeContacts,
  type ImportedContact,
  type ImportedRow,
  importContacts as importRows,
} from '../../storage/contacts/imports.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { type ContactColumn, type ContactColumns, readCells, readHeader } from './cells.js'
import { type GivenNumber, notNumber, settleReadings } from './numbers.js'

/** What the rows of a file are. */
export interface ImportKind {
  /** The columns that are read; others are ignored. */
  columns: readonly ContactColumn[]
  /** Reads the values of a row; throws a Problem if one is invalid. */
  readContact(organization: Organization, fields: Record<string, unknown>, now: Date): RowContent
  /** Whether existing contacts stay as they are. */
  leaveExisting: boolean
}

/** A row: its number, and the contact without it. */
export interface RowContent {
  given: GivenNumber
  reading: NumberReading
  contact: Omit<ImportedContact, 'chat_id' | 'addresses' | 'creatable'>
}

/** The result of one row of the file; `error` and `message` as in an answer of the API. */
export interface ImportResult {
  /** Numbered as in a spreadsheet: the header is row 1. */
  row: number
  status: 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed'
  chat_id: string | null
  id: string | null
  /** Of a row without a country code: how its number was read, and could be read as well. */
  doubt?: DoubtfulNumber
  error?: string
  message?: string
}

/** How many rows had each result. */
export type ImportSummary = Record<'total' | ImportResult['status'], number>

/** The result of an import. */
export interface Import {
  summary: ImportSummary
  /** A sentence for each ignored column, and one if numbers are in doubt. */
  warnings: string[]
}

/** A row that can be imported. */
interface GoodRow {
  row: number
  contact: ImportedContact
  doubt: DoubtfulNumber | null
}

interface BadRow {
  row: number
  failure: Problem
}

type ReadRow = GoodRow | BadRow

const MAX_BATCH = 500
const MAX_COLUMNS = 1_000
/** How many ignored columns are named. */
const MAX_WARNINGS = 20
/** After this many new contacts, the statistics of PostgreSQL are updated. */
const MANY = 1_000
/** How often rows are tried again when other transactions interfere. */
const MAX_TRIES = 20

/**
 * Imports a CSV file of contacts in batches. Each row stands alone, and later rows see the contacts of earlier ones.
 * Passes the results to `report` in the order of the file and waits for it. Throws before anything is written:
 * invalid_csv if the file is not CSV, missing_field if no column names a number. Importing a file again changes nothing
 * more.
 */
export async function importFile(
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  kind: ImportKind,
  report: (results: ImportResult[]) => Promise<void>,
): Promise<Import> {
  const summary: ImportSummary = { total: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
  const { columns, warnings } = await checkFile(path, kind)
  let isAnalyzed = false
  let doubtful = 0
  for await (const batch of readBatches(ctx, organization, kind, columns, path)) {
    const results = await importBatch(ctx, organization, kind, batch)
    for (const { status } of results) summary[status]++
    summary.total += results.length
    doubtful += results.filter(({ doubt }) => doubt).length
    if (!isAnalyzed && summary.created >= MANY) isAnalyzed = await analyzeContacts(ctx.database)
    await report(results)
  }
  return { summary, warnings: [...warnings, ...describeDoubtful(doubtful)] }
}

/** Reads the whole file first, so that a file with an error at its end changes nothing. */
async function checkFile(path: string, kind: ImportKind): Promise<{ columns: ContactColumns; warnings: string[] }> {
  let header: string[] | undefined
  let columns: ContactColumns | undefined
  try {
    for await (const { cells } of readCsv(path)) {
      header ??= cells
      columns ??= checkHeader(readHeader(cells, kind.columns))
    }
  } catch (error) {
    throw error instanceof CsvProblem ? new Problem('invalid_csv', error.message) : error
  }
  if (header === undefined || columns === undefined) {
    throw new Problem('invalid_csv', 'The file is empty: its first row must name the columns')
  }
  return { columns, warnings: describeIgnored(header, columns, kind) }
}

/** A sentence that says how many numbers are in doubt; none if there are none. */
export function describeDoubtful(count: number): string[] {
  if (count === 0) return []
  const numbers = count === 1 ? '1 number without a country code is' : `${count} numbers without a country code are`
  return [`${numbers} of another country, or can be read both ways: look at doubtful before you send`]
}

function describeIgnored(header: readonly string[], columns: ContactColumns, kind: ImportKind): string[] {
  const ignored = header.filter((name, index) => columns[index] === null && name.trim() !== '')
  return ignored.slice(0, MAX_WARNINGS).map((name) => {
    const nearest = nearestWord(name.trim().toLowerCase(), kind.columns)
    return `The column "${excerpt(name)}" is not known and was ignored.${nearest === null ? '' : ` Did you mean ${nearest}?`}`
  })
}

function checkHeader(columns: ContactColumns): ContactColumns {
  if (columns.length > MAX_COLUMNS) {
    throw new Problem(
      'invalid_csv',
      `The header (row 1 of the file) has ${columns.length} columns: at most ${MAX_COLUMNS}`,
    )
  }
  const twice = columns.find((column, index) => column !== null && columns.indexOf(column) < index)
  if (twice) throw new Problem('invalid_csv', `The header (row 1 of the file) names ${twice} twice`)
  if (columns.includes('phone_number') || columns.includes('chat_id')) return columns
  throw new Problem(
    'missing_field',
    'phone_number (or chat_id) is required: the header (row 1 of the file) must name such a column',
  )
}

/** The rows of a batch have no address in common. */
async function* readBatches(
  ctx: Pick<Context, 'database' | 'clock'>,
  organization: Organization,
  kind: ImportKind,
  columns: ContactColumns,
  path: string,
): AsyncGenerator<ReadRow[]> {
  for await (const rows of inBatches(readRows(organization, kind, columns, path, ctx.clock()), MAX_BATCH)) {
    const readings = rows.map((row) => ('failure' in row ? null : row.reading))
    const numbers = await settleReadings(ctx.database, organization, readings)
    let batch: ReadRow[] = []
    let taken = new Set<string>()
    for (const [index, row] of rows.entries()) {
      const read = 'failure' in row ? row : withNumber(organization, row, numbers[index] ?? null)
      const addresses = 'contact' in read ? read.contact.addresses : []
      if (addresses.some((address) => taken.has(address))) {
        yield batch
        batch = []
        taken = new Set()
      }
      batch.push(read)
      for (const address of addresses) taken.add(address)
    }
    yield batch
  }
}

function withNumber(
  { default_country }: Organization,
  { row, given, reading, contact }: RowContent & { row: number },
  number: ContactNumber | null,
): ReadRow {
  if (number === null) return { row, failure: notNumber(given, reading, 'body') }
  const { kind, digits, forms } = number
  return {
    row,
    contact: { ...contact, chat_id: digits, addresses: forms, creatable: kind === 'phone' },
    doubt: findDoubt(given.value, reading, number, default_country),
  }
}

async function* readRows(
  organization: Organization,
  kind: ImportKind,
  columns: ContactColumns,
  path: string,
  now: Date,
): AsyncGenerator<(RowContent & { row: number }) | BadRow> {
  for await (const record of readCsv(path)) {
    if (record.row === 1 || record.cells.every((cell) => cell.trim() === '')) continue
    yield readRow(organization, kind, columns, record, now)
  }
}

function readRow(
  organization: Organization,
  { readContact }: ImportKind,
  columns: ContactColumns,
  { row, cells }: CsvRecord,
  now: Date,
): (RowContent & { row: number }) | BadRow {
  try {
    if (cells.length > columns.length) {
      const counts = `has ${cells.length} cells, and the header ${columns.length}`
      throw new Problem('invalid_csv', `The row ${counts}: a cell that holds the delimiter must be quoted`)
    }
    return { row, ...readContact(organization, readCells(columns, cells), now) }
  } catch (error) {
    if (error instanceof Problem) return { row, failure: error }
    throw error
  }
}

/** Rows that were skipped are tried again, after the contact that they collide with exists. */
async function importBatch(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  kind: ImportKind,
  batch: readonly ReadRow[],
): Promise<ImportResult[]> {
  const results = batch.flatMap((read) => ('failure' in read ? [failed(read.row, read.failure)] : []))
  let waiting = batch.filter((read): read is GoodRow => 'contact' in read)
  for (let attempt = 1; waiting.length > 0; attempt++) {
    const outcomes = await importGoodRows(ctx, organization, kind, waiting)
    const passed: GoodRow[] = []
    waiting.forEach((good, index) => {
      const outcome = outcomes[index] as ImportedRow
      if (outcome.outcome !== 'passed') results.push(toResult(good, outcome))
      else if (attempt < batch.length + MAX_TRIES) passed.push(good)
      else results.push(failed(good.row, busy(good)))
    })
    waiting = passed
  }
  return results.sort((one, other) => one.row - other.row)
}

/** If another transaction takes one of the numbers at the same moment, the next try finds its contact. */
async function importGoodRows(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  { leaveExisting }: ImportKind,
  rows: readonly GoodRow[],
): Promise<ImportedRow[]> {
  const contacts = rows.map(({ contact }) => contact)
  // The organization may be deleted during the import of a large file.
  if (!(await findOrganization(ctx.database, organization.id))) throw organizationGone()
  try {
    return await retryOnConflict(() => importRows(ctx.database, organization.id, contacts, { leaveExisting }))
  } catch (error) {
    if (!isForeignKeyViolation(error)) throw error
    throw organizationGone()
  }
}

function organizationGone(): Problem {
  return new Problem('organization_not_found', 'The organization was deleted')
}

function toResult({ row, contact, doubt }: GoodRow, { outcome, id, chat_id }: ImportedRow): ImportResult {
  if (outcome === 'created' || outcome === 'updated' || outcome === 'unchanged' || outcome === 'skipped') {
    return { row, status: outcome, chat_id, id, ...(doubt && { doubt }) }
  }
  return failed(
    row,
    new Problem(
      'contact_not_found',
      `No contact with chat_id ${contact.chat_id}: it is the id of a person without a phone number, who becomes a contact with the first message`,
    ),
  )
}

function busy({ contact }: GoodRow): Problem {
  return new Problem('service_unavailable', `The contact ${contact.chat_id} keeps changing: import the row again`)
}

function failed(row: number, { code, message }: Problem): ImportResult {
  return { row, status: 'failed', chat_id: null, id: null, error: PROBLEMS[code], message }
}
