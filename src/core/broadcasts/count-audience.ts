import type { Context } from '../../context.js'
import type { AudienceCount } from '../../model/broadcasts/audience.js'
import { SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import type { Tenant } from '../../model/organizations/organization.js'
import {
  countAudience as countContacts,
  type JudgedContact,
  judgeContacts,
} from '../../storage/broadcasts/audiences.js'
import { findContactsByAddresses } from '../../storage/contacts/contacts.js'
import type { ContactNumber } from '../contacts/contacts.js'
import { type GivenAudience, listInOrder } from './create.js'
import { isCreatable, LISTED_BATCH, tryToReadNumber } from './prepare.js'

type CountContext = Pick<Context, 'database'>

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
  reached: Set<string>
  /** The names of contacts that would be created, by the forms of their numbers. */
  made: Map<string, string>
}

/**
 * Counts how many contacts a broadcast with this audience would reach now, and why it would skip the others, by the
 * rules of core/broadcasts/prepare. Writes nothing.
 */
export async function countAudience(
  ctx: CountContext,
  tenant: Tenant,
  audience: GivenAudience,
): Promise<AudienceCount> {
  const tags = audience.all ? null : audience.tags
  const counting: Counting = { counts: new Map(), tags, listed: new Set(), reached: new Set(), made: new Map() }
  if (tags !== undefined) {
    for (const { reason, contacts } of await countContacts(ctx.database, tenant.id, tags)) {
      add(counting.counts, reason, contacts)
    }
  }
  const listed = listInOrder(audience)
  for (let after = 0; after < listed.length; after += LISTED_BATCH) {
    await countListed(ctx, tenant, listed.slice(after, after + LISTED_BATCH), counting)
  }
  return present(counting.counts)
}

/** Counts one batch by the rules of prepareRecipients. */
async function countListed(
  ctx: CountContext,
  tenant: Tenant,
  batch: readonly GivenRecipientOrId[],
  { counts, tags, listed, reached, made }: Counting,
): Promise<void> {
  const named = await nameContacts(ctx, tenant, batch, made)
  const ids = named.flatMap((one) => ('contactId' in one && !one.isMade ? [one.contactId] : []))
  const judged = await judgeContacts(ctx.database, tenant.id, ids, tags ?? null)
  const here = new Set<string>()
  for (const one of named) {
    const reason = judge(one, judged, (id) => here.has(id) || reached.has(id))
    add(counts, reason, 1)
    if (!('contactId' in one)) continue
    here.add(one.contactId)
    if (reason === null) reached.add(one.contactId)
  }
  for (const { id, reason, is_tagged } of judged.values()) {
    // A listed recipient is not counted by its tag as well.
    if (tags !== undefined && is_tagged && !listed.has(id)) add(counts, reason, -1)
    listed.add(id)
  }
}

type GivenRecipientOrId = ReturnType<typeof listInOrder>[number]

/**
 * What a listed recipient refers to: a contact by its id, a contact that would be created (by a name given here), or
 * the reason why it would be skipped.
 */
type Named = { contactId: string; isMade: boolean } | { reason: string }

async function nameContacts(
  { database }: CountContext,
  tenant: Tenant,
  batch: readonly GivenRecipientOrId[],
  made: Counting['made'],
): Promise<Named[]> {
  const numbers = batch.map((one) => (typeof one === 'string' ? null : tryToReadNumber(tenant, one.chatNumber)))
  const lookups = numbers.map((number) => ({ organizationId: tenant.id, addresses: number?.forms ?? [] }))
  const found = await findContactsByAddresses(database, lookups)
  return batch.map((one, index) => {
    if (typeof one === 'string') return { contactId: one.toLowerCase(), isMade: false }
    const number = numbers[index]
    if (!number) return { reason: SKIP_REASONS.notNumber }
    const contact = found[index]
    return contact ? { contactId: contact.id, isMade: false } : nameNew(number, made)
  })
}

/** Numbers that share a form are one contact. */
function nameNew({ digits, forms }: ContactNumber, made: Counting['made']): Named {
  const known = forms.map((form) => made.get(form)).find((name) => name !== undefined)
  if (known !== undefined) return { contactId: known, isMade: true }
  if (!isCreatable(digits)) return { reason: SKIP_REASONS.noContact }
  for (const form of forms) made.set(form, digits)
  return { contactId: digits, isMade: true }
}

function judge(
  one: Named,
  judged: ReadonlyMap<string, JudgedContact>,
  isDuplicate: (contactId: string) => boolean,
): string | null {
  if ('reason' in one) return one.reason
  const reason = one.isMade ? null : judged.get(one.contactId)?.reason
  if (reason === undefined) return SKIP_REASONS.noContact
  return isDuplicate(one.contactId) ? SKIP_REASONS.duplicate : reason
}

function add(counts: Counts, reason: string | null, count: number): void {
  counts.set(reason, (counts.get(reason) ?? 0) + count)
}

function present(counts: Counts): AudienceCount {
  const skipped = Array.from(counts, ([reason, count]) => ({ reason, count }))
    .filter((one): one is { reason: string; count: number } => one.reason !== null && one.count > 0)
    .sort((a, b) => b.count - a.count || (a.reason < b.reason ? -1 : 1))
  const reachable = counts.get(null) ?? 0
  return { total: skipped.reduce((sum, { count }) => sum + count, reachable), reachable, skipped }
}
