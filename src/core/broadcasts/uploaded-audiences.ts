import { stat } from 'node:fs/promises'
import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { inBatches } from '../../lib/async/batches.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { excerpt } from '../../lib/text/text.js'
import { MEBIBYTE } from '../../lib/text/units.js'
import type { UploadedPart } from '../../model/broadcasts/broadcast.js'
import type { RejectedRow, UploadedAudience } from '../../model/broadcasts/uploaded-audience.js'
import {
  type ContactNumber,
  type DoubtfulNumber,
  findDoubt,
  type NumberReading,
} from '../../model/contacts/written-number.js'
import type { Again } from '../../model/jobs.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { MAX_PARAMETERS } from '../../model/templates/input.js'
import { readParameters } from '../../model/templates/parameters.js'
import type { Template } from '../../model/templates/template.js'
import {
  addUploadedRecipients,
  findAudienceUse,
  findUploadedAudience,
  findUploadedRecipients,
  insertUploadedAudience,
  listUploadedAudiences,
  lockUploadedAudience,
  lockUploadedAudiences,
  planAudienceRemoval,
  removeUploadedAudience,
  removeUploadedRecipients,
  type UploadedRecipient,
} from '../../storage/broadcasts/uploaded-audiences.js'
import { describeDoubtful } from '../contacts/import-file.js'
import { notNumber, readGiven, settleReadings } from '../contacts/numbers.js'
import { describeIgnored, describeProblem } from '../contacts/table.js'
import { type AudienceFile, type AudienceRow, readAudienceFile } from './audience-file.js'
import { type RecipientInput, toNumber } from './list-recipients.js'

/** The most audiences that an organization can have at a time. */
export const MAX_AUDIENCES = 20
/** The most bytes that the files of its audiences can have together: four of the largest. */
export const MAX_AUDIENCE_BYTES = 2_048 * MEBIBYTE
/** The most recipients of an uploaded audience. */
export const MAX_RECIPIENTS = 1_000_000
const KEPT_MS = 7 * 24 * 60 * 60_000
/** How many rejected rows, and how many in doubt, are listed. */
const MAX_LISTED = 100
const NAMED_VALUES = 'bodyParameters.… or buttonParameters.…'
const READ_BATCH = 2_000
const INSERT_BATCH = 2_000
/** After this time a job gives its place back. */
const SLICE_MS = 5_000
/** Longer than any upload takes to be read. */
const UPLOAD_SECONDS = 24 * 60 * 60
/** How long recipients stay that a broadcast is still being prepared from. */
const IN_USE_MS = 60_000

/** The file of an audience, and what the audience is called. */
export interface AudienceUpload {
  id: string
  name: string | null
  file: AudienceFile
}

/** A stored audience, and what its uploader should look at. */
export interface NewAudience {
  audience: UploadedAudience
  doubtful: DoubtfulRow[]
  warnings: string[]
}

/** A row whose number has no country code, and may be of another country. */
export interface DoubtfulRow extends DoubtfulNumber {
  row: number
}

/** What is known of the rows so far. */
export interface Tally {
  recipients: number
  rejected: number
  errors: RejectedRow[]
  doubts: number
  doubtful: DoubtfulRow[]
  body: Set<string>
  buttons: Set<string>
}

/**
 * Stores the recipients of a file; rejected rows are counted, and the first 100 of them described. Resolves also with
 * the first 100 rows whose number is in doubt, and a sentence for each ignored column. Throws too_many_audiences,
 * payload_too_large, invalid_field without any recipient, and the errors of readAudienceFile; then nothing is stored.
 */
export async function createAudience(
  ctx: Context,
  tenant: Tenant,
  { id, name, file }: AudienceUpload,
): Promise<NewAudience> {
  await checkQuota(ctx.database, tenant, ctx.clock())
  const warnings: string[] = []
  const tally = createTally()
  await planAudienceRemoval(ctx.database, tenant.id, id, UPLOAD_SECONDS)
  try {
    const rows = readAudienceFile(file, ({ ignored }) => {
      warnings.push(...describeIgnored(ignored, () => `: a value of the template is named ${NAMED_VALUES}`))
    })
    for await (const batch of inBatches(readRecipients(ctx, tenant, rows, tally), INSERT_BATCH)) {
      await addUploadedRecipients(ctx.database, tenant.id, id, batch)
    }
    checkAny(tally)
    const { size } = await stat(file.path)
    const audience = await insertAudience(ctx, tenant, { id, name, bytes: size }, tally)
    return { audience, doubtful: tally.doubtful, warnings: [...warnings, ...describeDoubtful(tally.doubts)] }
  } catch (error) {
    await planAudienceRemoval(ctx.database, tenant.id, id, 0)
    throw error
  }
}

/** Inserts an audience whose recipients are stored. Throws too_many_audiences. */
function insertAudience(
  ctx: Context,
  tenant: Tenant,
  { id, name, bytes }: Pick<AudienceUpload, 'id' | 'name'> & { bytes: number },
  { recipients, rejected, errors, body, buttons }: Tally,
): Promise<UploadedAudience> {
  const created = ctx.clock()
  return ctx.database.transaction(async (transaction) => {
    await lockUploadedAudiences(transaction, tenant.id)
    await checkQuota(transaction, tenant, created, bytes)
    return insertUploadedAudience(transaction, tenant.id, {
      id,
      name,
      recipients,
      rejected,
      errors: errors.map(({ sentence: _, ...row }) => row),
      bytes,
      body_parameters: [...body],
      button_parameters: [...buttons],
      created_at: created,
      expires_at: new Date(created.getTime() + KEPT_MS),
    })
  })
}

/** Whether the organization may have another audience, with a file of so many bytes. Throws too_many_audiences. */
export async function checkQuota(db: Queryable, tenant: Tenant, now: Date, bytes = 1): Promise<void> {
  const audiences = await listUploadedAudiences(db, tenant.id, now)
  if (audiences.length >= MAX_AUDIENCES) {
    throw new Problem(
      'too_many_audiences',
      `The organization has ${audiences.length} audiences, and may have ${MAX_AUDIENCES}: delete one that is not needed`,
    )
  }
  const total = audiences.reduce((sum, audience) => sum + audience.bytes, bytes)
  if (total <= MAX_AUDIENCE_BYTES) return
  throw new Problem(
    'too_many_audiences',
    `The files of the organization's audiences would have ${Math.ceil(total / MEBIBYTE)} MB together, and may have ${MAX_AUDIENCE_BYTES / MEBIBYTE} MB: delete audiences that are not needed`,
  )
}

/** The recipients of rows; counts them, the rejected rows and the numbers in doubt. Throws payload_too_large. */
export async function* readRecipients(
  ctx: Pick<Context, 'database'>,
  tenant: Tenant,
  rows: AsyncIterable<AudienceRow>,
  tally: Tally,
): AsyncGenerator<UploadedRecipient> {
  for await (const batch of inBatches(rows, READ_BATCH)) yield* await readBatch(ctx, tenant, batch, tally)
}

/** The recipients of a batch of rows; known contacts decide how numbers are read. Throws payload_too_large. */
async function readBatch(
  { database }: Pick<Context, 'database'>,
  tenant: Tenant,
  rows: readonly AudienceRow[],
  tally: Tally,
): Promise<UploadedRecipient[]> {
  const readings = rows.map((read) => ('problem' in read ? null : readingOf(tenant, read.recipient)))
  const numbers = await settleReadings(database, tenant, readings)
  return rows.flatMap((read, index) => {
    const recipient = 'problem' in read ? read.problem : toRecipient(tenant, read, numbers[index] ?? null, tally)
    if (recipient instanceof Problem) {
      noteProblem(tally, read, recipient)
      return []
    }
    if (tally.recipients === MAX_RECIPIENTS) {
      throw new Problem('payload_too_large', `The file has more than ${MAX_RECIPIENTS} recipients: upload it in parts`)
    }
    tally.recipients++
    return [{ ...recipient, n: tally.recipients }]
  })
}

function readingOf(tenant: Tenant, { chatNumber }: RecipientInput): NumberReading {
  return readGiven(tenant, { name: 'chatNumber', value: chatNumber }, 'table')
}

/** Nothing is known yet. */
export function createTally(): Tally {
  return {
    recipients: 0,
    rejected: 0,
    errors: [],
    doubts: 0,
    doubtful: [],
    body: new Set(),
    buttons: new Set(),
  }
}

function noteProblem(tally: Tally, read: AudienceRow, problem: Problem): void {
  tally.rejected++
  if (tally.errors.length === MAX_LISTED) return
  const fields = 'problem' in read ? read.fields : read.recipient
  tally.errors.push({ row: read.row, ...describeProblem(problem, { ...fields }), sentence: problem.sentence })
}

/** The recipient to store, or the problem that rejects it. */
function toRecipient(
  tenant: Tenant,
  { row, recipient }: { row: number; recipient: RecipientInput },
  number: ContactNumber | null,
  tally: Tally,
): Omit<UploadedRecipient, 'n'> | Problem {
  const { chatNumber: value, name, bodyParameters, buttonParameters } = recipient
  const reading = readingOf(tenant, recipient)
  if (number === null) return notNumber({ name: 'chatNumber', value }, reading, 'body')
  try {
    const own = { body: bodyParameters ?? {}, buttons: buttonParameters ?? {} }
    const names = [
      ...note(tally.body, own.body, 'bodyParameters'),
      ...note(tally.buttons, own.buttons, 'buttonParameters'),
    ]
    noteDoubt(tally, row, findDoubt(value, reading, number, tenant.default_country))
    return { address: number.digits, name: name ?? null, parameters: names.length > 0 ? own : null }
  } catch (error) {
    if (error instanceof Problem) return error
    throw error
  }
}

function noteDoubt(tally: Tally, row: number, doubt: DoubtfulNumber | null): void {
  if (doubt === null) return
  tally.doubts++
  if (tally.doubtful.length < MAX_LISTED) tally.doubtful.push({ row, ...doubt })
}

/** Adds the names of the values to the known ones, whose number is limited. */
function note(known: Set<string>, values: Record<string, string>, field: string): string[] {
  const names = Object.keys(values)
  for (const name of names) {
    if (known.has(name)) continue
    if (known.size === MAX_PARAMETERS) {
      const message = `${field}.${excerpt(name)} is one name too many: the file may have ${MAX_PARAMETERS} of them`
      throw new Problem('invalid_field', message)
    }
    known.add(name)
  }
  return names
}

function checkAny({ recipients, rejected, errors: [first] }: Tally): void {
  if (recipients > 0) return
  if (first === undefined) throw new Problem('invalid_field', 'The file has no recipients')
  const message = `The file has no recipients: ${rejected} rows were rejected, the first (row ${first.row}): ${first.message}`
  throw new Problem('invalid_field', message)
}

/** The audiences that have not expired, newest first. */
export function listAudiences(ctx: Pick<Context, 'database' | 'clock'>, tenant: Tenant): Promise<UploadedAudience[]> {
  return listUploadedAudiences(ctx.database, tenant.id, ctx.clock())
}

/** One audience. Throws audience_not_found. */
export async function getAudience(
  ctx: Pick<Context, 'database' | 'clock'>,
  tenant: Tenant,
  id: string,
): Promise<UploadedAudience> {
  return (await findUploadedAudience(ctx.database, tenant.id, id, ctx.clock())) ?? notFound(id)
}

/** Deletes an audience. Broadcasts that were created from it keep their recipients. Throws audience_not_found. */
export async function deleteAudience(ctx: Context, tenant: Tenant, id: string): Promise<void> {
  if (!(await removeUploadedAudience(ctx.database, tenant.id, id, ctx.clock()))) notFound(id)
}

function notFound(id: string): never {
  throw new Problem('audience_not_found', `No audience with the id ${id} in this organization: it may have expired`)
}

/** An uploaded audience for a broadcast of this template. Throws invalid_field. */
export async function readUploaded(
  ctx: Pick<Context, 'database' | 'clock'>,
  tenant: Tenant,
  id: string,
  template: Template,
): Promise<Omit<UploadedPart, 'after'>> {
  const { body_parameters: body, button_parameters: buttons } = await findGiven(ctx, tenant, id)
  const blank = (names: string[]) => Object.fromEntries(names.map((name) => [name, '']))
  const { surplus } = readParameters(template, { body: blank(body), header: {}, buttons: blank(buttons) }, false)
  if (surplus.length === 0) return { id, body, buttons }
  const message = `audience.audienceId: its recipients have ${excerpt(surplus.join(', '))}, which the template "${template.name}" does not take`
  throw new Problem('invalid_field', message)
}

/** Keeps the audience from being deleted until the transaction has stored its broadcast. Throws invalid_field. */
export async function keepUploaded(transaction: Queryable, tenant: Tenant, id: string): Promise<void> {
  if (!(await lockUploadedAudience(transaction, tenant.id, id))) throw unknownAudience(id)
}

async function findGiven(ctx: Pick<Context, 'database' | 'clock'>, tenant: Tenant, id: string) {
  const audience = await findUploadedAudience(ctx.database, tenant.id, id, ctx.clock())
  if (audience) return audience
  throw unknownAudience(id)
}

function unknownAudience(id: string): Problem {
  const message = `audience.audienceId: there is no audience with the id ${id} in this organization; it may have expired`
  return new Problem('invalid_field', message)
}

/** The numbers of an uploaded audience, `limit` at a time. Throws invalid_field. */
export async function* uploadedNumbers(
  ctx: Pick<Context, 'database' | 'clock'>,
  tenant: Tenant,
  id: string,
  limit: number,
): AsyncGenerator<RecipientInput[]> {
  await findGiven(ctx, tenant, id)
  for (let after = 0; ; ) {
    const rows = await findUploadedRecipients(ctx.database, tenant.id, id, { after, limit })
    if (rows.length === 0) return
    yield rows.map(({ address }) => ({ chatNumber: toNumber(address) ?? '' }))
    after = (rows.at(-1) as UploadedRecipient).n
  }
}

/**
 * Deletes the recipients of a deleted audience in slices, as a job. Does nothing while the audience exists, and waits
 * while a broadcast takes its recipients.
 */
export async function removeAudienceRecipients(
  ctx: Context,
  organizationId: string,
  id: string,
  signal: AbortSignal,
): Promise<Again | null> {
  const { isKept, isInUse } = await findAudienceUse(ctx.database, organizationId, id)
  if (isKept) return null
  if (isInUse) return { againInMs: IN_USE_MS }
  const leftMs = startCountdown(SLICE_MS)
  for (let after: number | null = 0; after !== null; ) {
    signal.throwIfAborted()
    if (leftMs() === 0) return { againInMs: 0 }
    after = await removeUploadedRecipients(ctx.database, organizationId, id, after)
  }
  return null
}
