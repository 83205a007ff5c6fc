import type { TSchema } from 'typebox'
import type { Context, OperatorContext } from '../../context.js'
import { isDeadlock, isForeignKeyViolation, isUniqueViolation } from '../../database/errors.js'
import { CsvProblem, type CsvRecord, readCsv } from '../../lib/csv-read.js'
import { newId } from '../../lib/id.js'
import { ImportContact } from '../../model/contact-input.js'
import { compileSchema, findInputProblem } from '../../model/input.js'
import type { Organization } from '../../model/organization.js'
import { isUserIdChatId } from '../../model/phone-number.js'
import { PROBLEMS, Problem } from '../../model/problem.js'
import {
  analyzeContacts,
  type ImportedContact,
  type ImportedRow,
  importContacts as importRows,
} from '../../storage/contact-imports.js'
import { type ContactInput, readAddresses, readInputNumber, readSource } from '../contacts.js'
import { type ContactColumns, readCells, readHeader } from './cells.js'

/** What happens to contacts that are there already: they get the cells that are not empty, or are left alone. */
export interface ImportOptions {
  existing: 'update' | 'skip'
}

/** What became of one row of the file; `error` and `message` as the API would answer. */
export interface ImportResult {
  /** As a spreadsheet numbers it: the header is 1. */
  row: number
  status: 'created' | 'updated' | 'unchanged' | 'skipped' | 'failed'
  chat_id: string | null
  id: string | null
  error?: string
  message?: string
}

/** How many rows had which result. */
export type ImportSummary = Record<'total' | ImportResult['status'], number>

/** A row that can be imported. */
interface GoodRow {
  row: number
  contact: ImportedContact
}

type ReadRow = GoodRow | { row: number; failure: Problem }

const MAX_BATCH = 500
const MAX_COLUMNS = 1_000
/** So many new contacts may change what PostgreSQL has to know of them. */
const MANY = 1_000
/** How often rows are tried anew when other writers come in between. */
const MAX_TRIES = 20

const SCHEMA: TSchema = ImportContact
const validate = compileSchema(SCHEMA)

/**
 * Imports a CSV file of contacts, batch by batch; each row stands for itself, and later ones see what earlier ones made. Hands the
 * results over in the order of the file, and waits for `report` before it goes on. Before anything is written it throws
 * invalid_csv for a file that is none, missing_field where no column names a number. Repeated it changes nothing more.
 */
export async function importContacts(
  ctx: OperatorContext,
  organization: Organization,
  path: string,
  options: ImportOptions,
  report: (results: ImportResult[]) => Promise<void>,
): Promise<ImportSummary> {
  const summary: ImportSummary = { total: 0, created: 0, updated: 0, unchanged: 0, skipped: 0, failed: 0 }
  const columns = await checkFile(path)
  for await (const batch of readBatches(organization, columns, path, ctx.clock())) {
    const before = summary.created
    const results = await importBatch(ctx, organization, options, batch)
    for (const { status } of results) summary[status]++
    summary.total += results.length
    if (before < MANY && summary.created >= MANY) await analyzeContacts(ctx.database)
    await report(results)
  }
  return summary
}

/** Reads the whole file once, so that one that breaks off in the middle changes nothing. */
async function checkFile(path: string): Promise<ContactColumns> {
  let columns: ContactColumns | undefined
  try {
    for await (const { cells } of readCsv(path)) columns ??= checkHeader(readHeader(cells))
  } catch (error) {
    throw error instanceof CsvProblem ? new Problem('invalid_csv', error.message) : error
  }
  if (columns === undefined) throw new Problem('invalid_csv', 'The file is empty: its first row must name the columns')
  return columns
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

/** No two rows of a batch have an address in common. */
async function* readBatches(
  organization: Organization,
  columns: ContactColumns,
  path: string,
  now: Date,
): AsyncGenerator<ReadRow[]> {
  let batch: ReadRow[] = []
  let taken = new Set<string>()
  for await (const record of readCsv(path)) {
    if (record.row === 1 || record.cells.every((cell) => cell.trim() === '')) continue
    const read = readRow(organization, columns, record, now)
    const addresses = 'contact' in read ? read.contact.addresses : []
    if (batch.length === MAX_BATCH || addresses.some((address) => taken.has(address))) {
      yield batch
      batch = []
      taken = new Set()
    }
    batch.push(read)
    for (const address of addresses) taken.add(address)
  }
  if (batch.length > 0) yield batch
}

function readRow(organization: Organization, columns: ContactColumns, { row, cells }: CsvRecord, now: Date): ReadRow {
  try {
    if (cells.length > columns.length) {
      const counts = `has ${cells.length} cells, and the header ${columns.length}`
      throw new Problem('invalid_csv', `The row ${counts}: a cell that holds the delimiter must be quoted`)
    }
    return { row, contact: readContact(organization, readCells(columns, cells), now) }
  } catch (error) {
    if (error instanceof Problem) return { row, failure: error }
    throw error
  }
}

/** Throws what POST /contact would answer. */
function readContact(organization: Organization, fields: Record<string, unknown>, now: Date): ImportedContact {
  const problem = findInputProblem(validate, SCHEMA, fields, 'The row')
  if (problem) throw problem
  const input = fields as ContactInput & Partial<ImportedContact>
  const { phone_number, chat_id } = input
  const isPerson = !phone_number && typeof chat_id === 'string' && isUserIdChatId(chat_id)
  const number = isPerson
    ? readAddresses(organization, 'chat_id', chat_id, 'body')
    : readInputNumber(organization, { phone_number, chat_id })
  return {
    id: newId(),
    eventId: newId(),
    chat_id: number.digits,
    addresses: number.forms,
    creatable: !isPerson,
    full_name: input.full_name ?? null,
    email: input.email ?? null,
    tags: input.tags ? [...new Set(input.tags)] : null,
    allow_broadcast: input.allow_broadcast ?? null,
    archived: input.archived ?? null,
    blocked: input.blocked ?? null,
    bot_status: input.bot_status ?? null,
    contact_summary: input.contact_summary ?? null,
    source: readSource(input.source) ?? { type: 'import', created_at: now.toISOString() },
  }
}

/** What was passed over is tried again, and comes after the contact for which it was. */
async function importBatch(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  options: ImportOptions,
  batch: readonly ReadRow[],
): Promise<ImportResult[]> {
  const results = batch.flatMap((read) => ('failure' in read ? [failed(read.row, read.failure)] : []))
  let waiting = batch.filter((read): read is GoodRow => 'contact' in read)
  for (let attempt = 1; waiting.length > 0; attempt++) {
    const outcomes = await importGoodRows(ctx, organization, options, waiting)
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

/** Where another writer takes one of the numbers at the same moment, the next try finds the contact. */
async function importGoodRows(
  ctx: Pick<Context, 'database'>,
  organization: Organization,
  { existing }: ImportOptions,
  rows: readonly GoodRow[],
): Promise<ImportedRow[]> {
  const contacts = rows.map(({ contact }) => contact)
  for (let attempt = 1; ; attempt++) {
    try {
      return await importRows(ctx.database, organization.id, contacts, { leaveExisting: existing === 'skip' })
    } catch (error) {
      if (isForeignKeyViolation(error)) {
        throw new Problem('organization_not_found', 'The organization has just been deleted')
      }
      if (attempt === MAX_TRIES || !(isUniqueViolation(error) || isDeadlock(error))) throw error
    }
  }
}

function toResult({ row, contact }: GoodRow, { outcome, id, chat_id }: ImportedRow): ImportResult {
  if (outcome === 'created' || outcome === 'updated' || outcome === 'unchanged' || outcome === 'skipped') {
    return { row, status: outcome, chat_id, id }
  }
  return failed(
    row,
    new Problem(
      'contact_not_found',
      `No contact with chat_id ${contact.chat_id}: it stands for a person without a phone number, who becomes a contact by writing`,
    ),
  )
}

function busy({ contact }: GoodRow): Problem {
  return new Problem('service_unavailable', `The contact ${contact.chat_id} keeps changing: import the row again`)
}

function failed(row: number, { code, message }: Problem): ImportResult {
  return { row, status: 'failed', chat_id: null, id: null, error: PROBLEMS[code], message }
}
