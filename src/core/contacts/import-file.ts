import type { Context, OperatorContext } from '../../context.js'
import { isForeignKeyViolation } from '../../database/errors.js'
import { retryOnConflict } from '../../database/retry.js'
import { inBatches } from '../../lib/async/batches.js'
import { addressesOfUserId } from '../../model/contacts/user-id.js'
import {
  type ContactNumber,
  type DoubtfulNumber,
  findDoubt,
  type NumberReading,
} from '../../model/contacts/written-number.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import {
  analyzeContacts,
  type ImportedContact,
  type ImportedRow,
  importContacts as importRows,
} from '../../storage/contacts/imports.js'
import { findOrganization } from '../../storage/organizations/organizations.js'
import { readCells } from './cells.js'
import type { ContactField } from './headings.js'
import { type GivenNumber, notNumber, settleReadings } from './numbers.js'
import { describeIgnored, describeProblem, readTable, suggestField, type TableKind, type TableRow } from './table.js'

/** What the rows of a file are. */
export interface ImportKind {
  /** The fields that are read; columns of others are ignored. */
  fields: readonly ContactField[]
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
  /** Numbered as in a spreadsheet: the first row is 1, the header included. */
  row: number
  status: 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed'
  chat_id: string | null
  id: string | null
  /** Of a row without a country code: how its number was read, and could be read as well. */
  doubt?: DoubtfulNumber
  error?: string
  message?: string
  /** The beginning of the text that the error is about. */
  value?: string
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
  given: GivenNumber
  contact: ImportedContact
  doubt: DoubtfulNumber | null
}

interface BadRow {
  row: number
  failure: ImportResult
}

type ReadRow = GoodRow | BadRow

const MAX_BATCH = 500
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
  { kind, report }: { kind: ImportKind; report: (results: ImportResult[]) => Promise<void> },
): Promise<Import> {
  const summary: ImportSummary = { total: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
  const table = { fields: kind.fields, number: 'phone_number (or chat_id)' }
  const warnings = await checkFile(path, table)
  let isAnalyzed = false
  let doubtful = 0
  for await (const batch of readBatches(ctx, organization, kind, readTable(path, table))) {
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
async function checkFile(path: string, table: TableKind): Promise<string[]> {
  const warnings: string[] = []
  const rows = readTable(path, table, ({ ignored }) => {
    warnings.push(...describeIgnored(ignored, (heading) => suggestField(heading, table.fields)))
  })
  for await (const _ of rows);
  return warnings
}

/** A sentence that says how many numbers are in doubt; none if there are none. */
export function describeDoubtful(count: number): string[] {
  if (count === 0) return []
  const numbers = count === 1 ? '1 number without a country code was' : `${count} numbers without a country code were`
  return [`${numbers} read as another country's, or can be read both ways: check doubtful`]
}

/** The rows of a batch have no address in common. */
async function* readBatches(
  ctx: Pick<Context, 'database' | 'clock'>,
  organization: Organization,
  kind: ImportKind,
  table: AsyncIterable<TableRow>,
): AsyncGenerator<ReadRow[]> {
  for await (const rows of inBatches(readRows(organization, kind, table, ctx.clock()), MAX_BATCH)) {
    const readings = rows.map((row) => ('failure' in row ? null : row.reading))
    const numbers = await settleReadings(ctx.database, organization, readings)
    let batch: ReadRow[] = []
    let taken = new Set<string>()
    for (const [index, row] of rows.entries()) {
      const read = 'failure' in row ? row : withNumber(organization, row, numbers[index] ?? null)
      const { addresses = [], user_id: userId = null } = 'contact' in read ? read.contact : {}
      const named = [...addresses, ...(userId === null ? [] : addressesOfUserId(userId))]
      if (named.some((address) => taken.has(address))) {
        yield batch
        batch = []
        taken = new Set()
      }
      batch.push(read)
      for (const address of named) taken.add(address)
    }
    yield batch
  }
}

function withNumber(
  { default_country }: Organization,
  { row, given, reading, contact }: RowContent & { row: number },
  number: ContactNumber | null,
): ReadRow {
  if (number === null) {
    return { row, failure: failed(row, notNumber(given, reading, 'body'), { [given.name]: given.value }) }
  }
  const { kind, digits, forms } = number
  return {
    row,
    given,
    contact: { ...contact, chat_id: digits, addresses: forms, creatable: kind === 'phone' },
    doubt: findDoubt(given.value, reading, number, default_country),
  }
}

async function* readRows(
  organization: Organization,
  kind: ImportKind,
  rows: AsyncIterable<TableRow>,
  now: Date,
): AsyncGenerator<(RowContent & { row: number }) | BadRow> {
  for await (const row of rows) yield readRow(organization, kind, row, now)
}

function readRow(
  organization: Organization,
  { readContact }: ImportKind,
  read: TableRow,
  now: Date,
): (RowContent & { row: number }) | BadRow {
  const { row } = read
  if ('problem' in read) return { row, failure: failed(row, read.problem) }
  try {
    return { row, ...readContact(organization, readCells(read.fields), now) }
  } catch (error) {
    if (error instanceof Problem) return { row, failure: failed(row, error, read.fields) }
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
  const results = batch.flatMap((read) => ('failure' in read ? [read.failure] : []))
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

function toResult({ row, given, contact, doubt }: GoodRow, { outcome, id, chat_id }: ImportedRow): ImportResult {
  if (outcome === 'created' || outcome === 'updated' || outcome === 'unchanged' || outcome === 'skipped') {
    return { row, status: outcome, chat_id, id, ...(doubt && { doubt }) }
  }
  const message =
    given.name === 'user_id'
      ? `No contact with user_id ${given.value.trim()}: create it with POST /contact, or it becomes one with its first message`
      : `No contact with chat_id ${contact.chat_id}: it is the id of a person without a phone number, who becomes a contact with the first message`
  return failed(row, new Problem('contact_not_found', message))
}

function busy({ contact }: GoodRow): Problem {
  return new Problem('service_unavailable', `The contact ${contact.chat_id} keeps changing: import the row again`)
}

function failed(row: number, problem: Problem, fields?: Readonly<Record<string, string>>): ImportResult {
  return { row, status: 'failed', chat_id: null, id: null, ...describeProblem(problem, fields) }
}
