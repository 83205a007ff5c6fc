import type { Context } from '../../context.js'
import type { Contact } from '../../model/contacts/contact.js'
import { createMatcher, type SearchTerm, searchableText } from '../../model/conversations/search-terms.js'
import {
  countMatches,
  INDEX_STEP,
  indexNextMessages,
  listMatches,
  type MatchRange,
  readSpokenMessages,
  requestIndexing,
  walkMatches,
} from '../../storage/conversations/search.js'

/** The numbers of the wanted messages, in the wanted order, and how many match in all. */
export interface Matches {
  seqs: number[]
  total: number
}

/** So many messages are read at a time where there is no index: folding the longest of them holds all others up. */
const READ_STEP = 1_000
/** To find a message by its words, fetch it and sort it costs about what a walk over so many costs. */
const WALKED_PER_MATCH = 3
/** A walk over so many messages is short in any case. */
const SHORT_WALK = 10_000

/**
 * Finds the messages of a conversation that hold one of the terms (contract 4, Search). All up to `searchable_seq` are found by
 * the index of words; those after it, and short conversations as a whole, by reading them.
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
 * Makes all messages of a conversation searchable by the index of words. Throws once `signal` is aborted; what is done by then
 * stays done.
 */
export async function indexConversation(
  ctx: Context,
  organizationId: string,
  contactId: string,
  signal?: AbortSignal,
): Promise<void> {
  let isMore = true
  while (isMore) {
    signal?.throwIfAborted()
    isMore = await ctx.database.transaction((transaction) => indexNextMessages(transaction, organizationId, contactId))
  }
}

/** The numbers of the matching messages that the index does not know yet, in ascending order. */
async function matchRecent(ctx: Context, contact: Contact, terms: readonly SearchTerm[]): Promise<number[]> {
  const { organization_id, id, searchable_seq, last_seq } = contact
  const matches = createMatcher(terms)
  const found: number[] = []
  for (let from = searchable_seq + 1; from <= last_seq; from += READ_STEP) {
    const to = Math.min(last_seq, from + READ_STEP - 1)
    for (const message of await readSpokenMessages(ctx.database, organization_id, id, from, to)) {
      if (matches(searchableText(message.text, message.transcription))) found.push(message.seq)
    }
  }
  // The job that comes with every so many messages has failed, or was not there yet when they came.
  if (last_seq - searchable_seq >= 2 * INDEX_STEP) {
    await requestIndexing(ctx.database, organization_id, id)
    ctx.wakeWorkers()
  }
  return found
}

async function countIndexed(ctx: Context, contact: Contact, terms: readonly SearchTerm[]): Promise<number> {
  return contact.searchable_seq === 0 ? 0 : countMatches(ctx.database, toSearched(contact), terms)
}

/** The wanted ones among the `count` that the index knows. */
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
  const find = walk <= Math.max(SHORT_WALK, WALKED_PER_MATCH * count) ? walkMatches : listMatches
  const seqs = await find(ctx.database, toSearched(contact), terms, range)
  return isNear ? seqs : seqs.reverse()
}

function toSearched({ organization_id, id, searchable_seq }: Contact) {
  return { organizationId: organization_id, contactId: id, until: searchable_seq }
}
