import type { Context } from '../../context.js'
import type { AudienceCount } from '../../model/broadcasts/audience.js'
import { SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import { type ContactNumber, type DoubtfulNumber, findDoubt } from '../../model/contacts/written-number.js'
import type { Tenant } from '../../model/organizations/organization.js'
import {
  type ContactSkipReason,
  countAudience as countContacts,
  findSkipReasons,
} from '../../storage/broadcasts/audiences.js'
import { findContactsByAddresses } from '../../storage/contacts/contacts.js'
import { settleReadings } from '../contacts/numbers.js'
import { type AudienceInput, listInOrder } from './create.js'
import type { ListedInput } from './list-recipients.js'
import { isCreatable, LISTED_BATCH, readListed } from './prepare.js'
import { uploadedNumbers } from './uploaded-audiences.js'

const MAX_DOUBTFUL = 100

type CountContext = Pick<Context, 'database' | 'clock'>

/** By skip reason; null: would receive the broadcast. */
type Counts = Map<string | null, number>

/** The state of a count. */
interface Counting {
  counts: Counts
  /** Contacts with one of these tags are counted as well (null: all contacts); undefined: only listed ones. */
  tags: readonly string[] | null | undefined
  /** The listed contacts, reachable or not. */
  listed: Set<string>
  /** The listed contacts that would receive the broadcast. */
  reachable: Set<string>
  /** The names of contacts that would be created, by the forms of their numbers. */
  newNames: Map<string, string>
  /** How listed numbers are read. */
  numbers: AudienceInput['numbers']
  /** How many have no country code and may be of another country, and the first of them. */
  doubts: number
  doubtful: DoubtfulNumber[]
}

/**
 * Counts how many contacts a broadcast with this audience would reach now, and why it would skip the others, by the
 * rules of core/broadcasts/prepare. Writes nothing.
 */
export async function countAudience(
  ctx: CountContext,
  tenant: Tenant,
  audience: AudienceInput,
): Promise<AudienceCount> {
  const tags = audience.all ? null : audience.tags
  const counting = startCounting(tags, audience.numbers)
  if (tags !== undefined) {
    for (const { reason, contacts } of await countContacts(ctx.database, tenant.id, tags)) {
      add(counting.counts, reason, contacts)
    }
  }
  const listed = listInOrder(audience)
  for (let after = 0; after < listed.length; after += LISTED_BATCH) {
    await countListed(ctx, tenant, listed.slice(after, after + LISTED_BATCH), counting)
  }
  if (audience.audienceId) {
    for await (const batch of uploadedNumbers(ctx, tenant, audience.audienceId, LISTED_BATCH)) {
      await countListed(ctx, tenant, batch, counting)
    }
  }
  return present(counting)
}

/** Counts listed recipients only, in batches of LISTED_BATCH, as countAudience does. Their numbers are complete. */
export async function countListedRecipients(
  ctx: CountContext,
  tenant: Tenant,
  batches: AsyncIterable<readonly ListedInput[]>,
): Promise<AudienceCount> {
  const counting = startCounting(undefined, undefined)
  for await (const batch of batches) await countListed(ctx, tenant, batch, counting)
  return present(counting)
}

function startCounting(tags: Counting['tags'], numbers: Counting['numbers']): Counting {
  return {
    counts: new Map(),
    tags,
    listed: new Set(),
    reachable: new Set(),
    newNames: new Map(),
    numbers,
    doubts: 0,
    doubtful: [],
  }
}

/** Counts one batch by the rules of prepareRecipients. */
async function countListed(
  ctx: CountContext,
  tenant: Tenant,
  batch: readonly ListedInput[],
  counting: Counting,
): Promise<void> {
  const { counts, tags, listed, reachable } = counting
  const named = await resolveRecipients(ctx, tenant, batch, counting)
  const ids = named.flatMap((one) => ('contactId' in one && !one.isNew ? [one.contactId] : []))
  const judged = await findSkipReasons(ctx.database, tenant.id, ids, tags ?? null)
  const inBatch = new Set<string>()
  for (const one of named) {
    const reason = skipReason(one, judged, (id) => inBatch.has(id) || reachable.has(id))
    add(counts, reason, 1)
    if (!('contactId' in one)) continue
    inBatch.add(one.contactId)
    if (reason === null) reachable.add(one.contactId)
  }
  for (const { id, reason, is_tagged } of judged.values()) {
    // A listed recipient is not counted by its tag as well.
    if (tags !== undefined && is_tagged && !listed.has(id)) add(counts, reason, -1)
    listed.add(id)
  }
}

/**
 * What a listed recipient refers to: a contact by its id, a contact that would be created (by a name given here), or
 * the reason why it would be skipped.
 */
type ResolvedRecipient = { contactId: string; isNew: boolean } | { reason: string }

async function resolveRecipients(
  { database }: CountContext,
  tenant: Tenant,
  batch: readonly ListedInput[],
  counting: Counting,
): Promise<ResolvedRecipient[]> {
  const readings = batch.map((one) => (typeof one === 'string' ? null : readListed(tenant, one.chatNumber, counting)))
  const numbers = await settleReadings(database, tenant, readings, (form) => counting.newNames.has(form))
  const lookups = numbers.map((number) => ({ organizationId: tenant.id, addresses: number?.forms ?? [] }))
  const found = await findContactsByAddresses(database, lookups)
  return batch.map((one, index) => {
    if (typeof one === 'string') return { contactId: one.toLowerCase(), isNew: false }
    const number = numbers[index]
    const reading = readings[index]
    if (!number || !reading) return { reason: SKIP_REASONS.notNumber }
    noteDoubt(counting, findDoubt(one.chatNumber, reading, number, tenant.default_country))
    const contact = found[index]
    return contact ? { contactId: contact.id, isNew: false } : resolveNewNumber(number, counting.newNames)
  })
}

function noteDoubt(counting: Counting, doubt: DoubtfulNumber | null): void {
  if (doubt === null) return
  counting.doubts++
  if (counting.doubtful.length < MAX_DOUBTFUL) counting.doubtful.push(doubt)
}

/** Numbers that share a form are one contact. */
function resolveNewNumber(number: ContactNumber, newNames: Counting['newNames']): ResolvedRecipient {
  const { digits, forms } = number
  const known = forms.map((form) => newNames.get(form)).find((name) => name !== undefined)
  if (known !== undefined) return { contactId: known, isNew: true }
  if (!isCreatable(number)) return { reason: SKIP_REASONS.noContact }
  for (const form of forms) newNames.set(form, digits)
  return { contactId: digits, isNew: true }
}

function skipReason(
  one: ResolvedRecipient,
  judged: ReadonlyMap<string, ContactSkipReason>,
  isDuplicate: (contactId: string) => boolean,
): string | null {
  if ('reason' in one) return one.reason
  const reason = one.isNew ? null : judged.get(one.contactId)?.reason
  if (reason === undefined) return SKIP_REASONS.noContact
  return isDuplicate(one.contactId) ? SKIP_REASONS.duplicate : reason
}

function add(counts: Counts, reason: string | null, count: number): void {
  counts.set(reason, (counts.get(reason) ?? 0) + count)
}

function present({ counts, doubts, doubtful }: Counting): AudienceCount {
  const skipped = Array.from(counts, ([reason, count]) => ({ reason, count }))
    .filter((one): one is { reason: string; count: number } => one.reason !== null && one.count > 0)
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
  const reachable = counts.get(null) ?? 0
  const total = skipped.reduce((sum, { count }) => sum + count, reachable)
  return { total, reachable, skipped, doubts, doubtful }
}
