import type { Context } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import type { Contact } from '../../model/contacts/contact.js'
import { createMatcher, type SearchTerm, searchableText } from '../../model/conversations/search-terms.js'
import type { Again } from '../../model/jobs.js'
import {
  countMatches,
  INDEX_STEP,
  indexNextMessages,
  listMatches,
  type MatchRange,
  readSearchableMessages,
  requestIndexing,
  walkMatches,
} from '../../storage/conversations/search.js'

/** The numbers of the requested messages, in the requested order, and how many messages match. */
export interface Matches {
  seqs: number[]
  total: number
}

/** How many messages are read at a time without the index. Normalizing long messages blocks the event loop. */
const READ_STEP = 1_000
/** How many steps a job indexes before it gives its place back. */
const STEPS_AT_ONCE = 20
/** Finding one message by the index, fetching and sorting it costs as much as reading this many messages in order. */
const ROWS_PER_MATCH = 3
/** Reading this many messages in order is cheap in any case. */
const SHORT_WALK = 10_000

/**
 * Finds the messages of a conversation that contain one of the terms. Messages up to `searchable_seq` are found by the
 * word index; later ones, and short conversations, are read in full.
 */
export async function findMatches(
  ctx: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  { skip, limit, ascending }: MatchRange,
): Promise<Matches> {
  const recent = await matchRecent(ctx, contact, terms)
  const indexed = await countIndexed(ctx, contact, terms)
  const total = indexed + recent.length
  if (ascending) {
    const first = await listIndexed(ctx, contact, terms, indexed, { skip, limit, ascending })
    const from = Math.max(0, skip - indexed)
    return { seqs: [...first, ...recent.slice(from, Math.max(0, skip + limit - indexed))], total }
  }
  const first = recent.toReversed().slice(skip, skip + limit)
  const range = { skip: Math.max(0, skip - recent.length), limit: limit - first.length, ascending }
  return { seqs: [...first, ...(await listIndexed(ctx, contact, terms, indexed, range))], total }
}

/**
 * Adds the messages of a conversation to the word index, as a job that runs again until all are in it. Throws once
 * `signal` is aborted; finished steps stay.
 */
export async function indexConversation(
  ctx: Context,
  organizationId: string,
  contactId: string,
  signal?: AbortSignal,
): Promise<Again | null> {
  for (let step = 1; step <= STEPS_AT_ONCE; step++) {
    signal?.throwIfAborted()
    // Statuses lock the same messages in another order.
    const isMore = await retryOnDeadlock(() =>
      ctx.database.transaction((transaction) => indexNextMessages(transaction, organizationId, contactId)),
    )
    if (!isMore) return null
  }
  return { againInMs: 0 }
}

/** The numbers of matching messages that are not indexed yet, in ascending order. */
async function matchRecent(ctx: Context, contact: Contact, terms: readonly SearchTerm[]): Promise<number[]> {
  const { organization_id, id, searchable_seq, last_seq } = contact
  const matches = createMatcher(terms)
  const found: number[] = []
  for (let from = searchable_seq + 1; from <= last_seq; from += READ_STEP) {
    const to = Math.min(last_seq, from + READ_STEP - 1)
    for (const message of await readSearchableMessages(ctx.database, organization_id, id, from, to)) {
      if (matches(searchableText(message.text, message.transcription))) found.push(message.seq)
    }
  }
  // The indexing job, requested every INDEX_STEP messages, failed or did not exist when the messages came.
  if (last_seq - searchable_seq >= 2 * INDEX_STEP) {
    await requestIndexing(ctx.database, organization_id, id)
    ctx.wakeWorkers()
  }
  return found
}

async function countIndexed(ctx: Context, contact: Contact, terms: readonly SearchTerm[]): Promise<number> {
  return contact.searchable_seq === 0 ? 0 : countMatches(ctx.database, toSearched(contact), terms)
}

/** The requested ones among the `count` indexed matches. */
async function listIndexed(
  ctx: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  count: number,
  { skip, limit, ascending }: MatchRange,
): Promise<number[]> {
  const size = Math.min(limit, count - skip)
  if (size <= 0) return []
  // Counted from the nearer end.
  const left = count - skip - size
  const isNear = skip <= left
  const range = isNear ? { skip, limit: size, ascending } : { skip: left, limit: size, ascending: !ascending }
  const walk = ((range.skip + size) / count) * contact.searchable_seq
  const find = walk <= Math.max(SHORT_WALK, ROWS_PER_MATCH * count) ? walkMatches : listMatches
  const seqs = await find(ctx.database, toSearched(contact), terms, range)
  return isNear ? seqs : seqs.reverse()
}

function toSearched({ organization_id, id, searchable_seq }: Contact) {
  return { organizationId: organization_id, contactId: id, until: searchable_seq }
}
