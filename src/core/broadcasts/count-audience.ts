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

/** By reason; null = would be sent to. */
type Counts = Map<string | null, number>

/** What is known so far. */
interface Counting {
  counts: Counts
  /** Which contacts are counted beside those that are listed: with one of the tags (null = all); undefined: none. */
  tags: readonly string[] | null | undefined
  /** The contacts that were listed, whatever becomes of them. */
  listed: Set<string>
  /** Whoever of them would be sent to. */
  reached: Set<string>
  /** The names that are given here to contacts that are still to be made, by the forms of their numbers. */
  made: Map<string, string>
}

/**
 * How many a broadcast with this audience would reach now, and why it would skip the others, by the rules by which it is prepared
 * (core/broadcasts/prepare). Writes nothing.
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

/** One batch, as prepareRecipients judges it. */
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
    // Who is listed is no recipient by a tag as well.
    if (tags !== undefined && is_tagged && !listed.has(id)) add(counts, reason, -1)
    listed.add(id)
  }
}

type GivenRecipientOrId = ReturnType<typeof listInOrder>[number]

/** Whom a listed recipient names: a contact by its id, or by a name given here where it is still to be made; or why nobody. */
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
