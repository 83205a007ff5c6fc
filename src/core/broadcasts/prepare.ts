import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnConflict } from '../../database/retry.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { newId } from '../../lib/bytes/id.js'
import { type Audience, type Broadcast, SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { ContactNumber, NumberReading } from '../../model/contacts/written-number.js'
import { type Again, ALONE_SLICE_MS, type RunningJob } from '../../model/jobs.js'
import type { Tenant } from '../../model/organizations/organization.js'
import {
  deleteUnpreparedRecipients,
  extendRecipients,
  findUnpreparedRecipients,
  prepareRecipients,
} from '../../storage/broadcasts/audiences.js'
import { lockBroadcast, markPreparedUpTo } from '../../storage/broadcasts/broadcasts.js'
import { launchBroadcast } from '../../storage/broadcasts/runs.js'
import { findContactsByAddresses } from '../../storage/contacts/contacts.js'
import { type ImportedContact, importContacts } from '../../storage/contacts/imports.js'
import { findTenant } from '../../storage/organizations/organizations.js'
import { readGiven, settleReadings } from '../contacts/numbers.js'
import { listUploaded } from './list-recipients.js'

/**
 * How many listed recipients are prepared together. If a batch lists a contact twice, the second entry is a
 * duplicate, even if the first one is skipped.
 */
export const LISTED_BATCH = 500
const AUDIENCE_BATCH = 2_000
/** After this time a job gives its place back. */
const SLICE_MS = 5_000

/**
 * Prepares the recipients of a broadcast in batches, one transaction each, so a later process continues where a killed
 * one stopped. Sending starts when all are ready. Of a cancelled broadcast, it deletes those that are not prepared.
 * Stops after `forMs`; resolves to whether nothing is left to do.
 */
export async function prepareBroadcast(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  { forMs, signal }: { forMs: number; signal?: AbortSignal },
): Promise<boolean> {
  const tenant = await findTenant(ctx.database, organizationId)
  if (!tenant) return true
  const leftMs = startCountdown(forMs)
  while (leftMs() > 0) {
    signal?.throwIfAborted()
    const step = await prepareNext(ctx, tenant, broadcastId)
    if (step === 'cancelled') return deleteUnprepared(ctx, organizationId, broadcastId, leftMs)
    if (step === 'done') return true
  }
  return false
}

async function deleteUnprepared(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  leftMs: () => number,
): Promise<boolean> {
  let after: number | null = 0
  while (after !== null && leftMs() > 0)
    after = await deleteUnpreparedRecipients(ctx.database, organizationId, broadcastId, after)
  return after === null
}

/** Like prepareBroadcast, as a job that runs again until nothing is left to do. */
export async function prepareBroadcastAsJob(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  { signal, isAlone }: Pick<RunningJob, 'signal' | 'isAlone'>,
): Promise<Again | null> {
  const forMs = isAlone ? ALONE_SLICE_MS : SLICE_MS
  return (await prepareBroadcast(ctx, organizationId, broadcastId, { forMs, signal })) ? null : { againInMs: 0 }
}

type Step = 'more' | 'done' | 'cancelled'

/** Retried if another transaction creates a contact with one of the numbers at the same moment; then it is found. */
function prepareNext(ctx: Context, tenant: Tenant, broadcastId: string): Promise<Step> {
  return retryOnConflict(() =>
    ctx.database.transaction((transaction) => prepareBatch(ctx, transaction, tenant, broadcastId)),
  )
}

type LockedBroadcast = Omit<Broadcast, 'counters'>

async function prepareBatch(ctx: Context, transaction: Queryable, tenant: Tenant, broadcastId: string): Promise<Step> {
  const broadcast = await lockBroadcast(transaction, tenant.id, broadcastId)
  if (!broadcast || broadcast.prepared_at !== null) return 'done'
  if (broadcast.status === 'cancelled') return 'cancelled'
  if (await prepareListed(ctx, transaction, tenant, broadcast)) return 'more'
  if (await listMore(transaction, broadcast)) return prepareBatch(ctx, transaction, tenant, broadcastId)
  return extendAudience(ctx, transaction, broadcast)
}

/** Lists recipients of the uploaded audience, which come before the contacts with the tags. False at its end. */
async function listMore(transaction: Queryable, broadcast: LockedBroadcast): Promise<boolean> {
  const { audience, prepared_n: after, prepared_contact } = broadcast
  if (!audience.uploaded || prepared_contact !== null) return false
  return (await listUploaded(transaction, broadcast, audience.uploaded, { after, limit: LISTED_BATCH })) > 0
}

/** Prepares the next listed recipients. Unknown numbers become contacts. False if there are none. */
async function prepareListed(
  ctx: Context,
  transaction: Queryable,
  tenant: Tenant,
  { id: broadcastId, audience, prepared_n: preparedN }: LockedBroadcast,
): Promise<boolean> {
  const listed = await findUnpreparedRecipients(transaction, tenant.id, broadcastId, {
    after: preparedN,
    limit: LISTED_BATCH,
  })
  const last = listed.at(-1)
  if (last === undefined) return false
  const readings = listed.map(({ number }) => (number === null ? null : readListed(tenant, number, audience)))
  const numbers = await settleReadings(transaction, tenant, readings)
  const recipients = listed.map(({ name }, index) => ({ name, number: numbers[index] ?? null }))
  const contactIds = await findOrCreateContacts(ctx, transaction, tenant, recipients)
  const prepared = listed.map(({ n, contact_id, number }, index) => ({
    n,
    contact_id: contact_id ?? contactIds[index] ?? null,
    reason: number !== null && numbers[index] === null ? SKIP_REASONS.notNumber : null,
  }))
  await prepareRecipients(transaction, tenant.id, broadcastId, prepared)
  await markPreparedUpTo(transaction, tenant.id, broadcastId, { n: last.n, contactId: null, at: null })
  return true
}

/** How the number of a listed recipient can be read. */
export function readListed(tenant: Tenant, value: string, { numbers }: Pick<Audience, 'numbers'>): NumberReading {
  return readGiven(tenant, { name: 'chatNumber', value }, numbers ?? 'api')
}

/** The contacts of the recipients' numbers, in their order. Numbers that share an address become one contact. */
async function findOrCreateContacts(
  ctx: Context,
  transaction: Queryable,
  tenant: Tenant,
  recipients: readonly { name: string | null; number: ContactNumber | null }[],
): Promise<(string | null)[]> {
  const taken = new Set<string>()
  const contacts: ImportedContact[] = []
  for (const { name, number } of recipients) {
    if (number === null || number.forms.some((form) => taken.has(form))) continue
    for (const form of number.forms) taken.add(form)
    contacts.push(toContact(ctx, number, name))
  }
  if (contacts.length > 0) await importContacts(transaction, tenant.id, contacts, { leaveExisting: true })
  const lookups = recipients.map(({ number }) => ({ organizationId: tenant.id, addresses: number?.forms ?? [] }))
  const found = await findContactsByAddresses(transaction, lookups)
  return found.map((contact) => contact?.id ?? null)
}

function toContact(ctx: Context, number: ContactNumber, name: string | null): ImportedContact {
  return {
    id: newId(),
    eventId: newId(),
    optOutEventId: newId(),
    chat_id: number.digits,
    addresses: number.forms,
    user_id: null,
    creatable: isCreatable(number),
    full_name: name,
    email: null,
    tags: null,
    allow_broadcast: null,
    archived: null,
    blocked: null,
    bot_status: null,
    contact_summary: null,
    opted_out_at: null,
    source: { type: 'broadcast_recipient', created_at: ctx.clock().toISOString() },
  }
}

/** Whether an unknown number becomes a contact. People without a number cannot be created from a list. */
export function isCreatable({ kind }: ContactNumber): boolean {
  return kind === 'phone'
}

async function extendAudience(
  ctx: Context,
  transaction: Queryable,
  { organization_id, id, status, audience, prepared_n, prepared_contact, stored_at }: LockedBroadcast,
): Promise<'more' | 'done'> {
  const isOpen = audience.all === true || audience.tags !== undefined
  const step = {
    tags: audience.all ? null : (audience.tags ?? null),
    until: stored_at,
    afterContact: prepared_contact,
    afterN: prepared_n,
    messageIds: isOpen ? Array.from({ length: AUDIENCE_BATCH }, newId) : [],
  }
  const { added, lastContact } = isOpen
    ? await extendRecipients(transaction, organization_id, id, step)
    : { added: 0, lastContact: null }
  const isLast = added < AUDIENCE_BATCH
  await markPreparedUpTo(transaction, organization_id, id, {
    n: prepared_n + added,
    contactId: lastContact ?? prepared_contact,
    at: isLast ? ctx.clock() : null,
  })
  if (!isLast) return 'more'
  if (status === 'running') {
    await launchBroadcast(transaction, organization_id, id, { from: ['running'], at: ctx.clock(), eventId: newId() })
  }
  return 'done'
}
