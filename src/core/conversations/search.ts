import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { createSteps } from '../../lib/async/steps.js'
import type { Contact } from '../../model/contacts/contact.js'
import { createMatcher, type SearchTerm, searchableText } from '../../model/conversations/search-terms.js'
import type { Again } from '../../model/jobs.js'
import { COUNT_LIMIT } from '../../model/page.js'
import { Problem } from '../../model/problem.js'
import {
  countByIndex,
  countByWalk,
  INDEX_STEP,
  indexNextMessages,
  isIndexed,
  listMatches,
  type MatchRange,
  readSearchableMessages,
  requestIndexing,
  type SearchedRange,
  walkMatches,
} from '../../storage/conversations/search.js'

/** The numbers of the requested messages, in the requested order, and how many messages match, up to `COUNT_LIMIT`. */
export interface Matches {
  seqs: number[]
  total: number
}

/** How many messages are read at a time without the index. */
const READ_STEP = 1_000
/** How many steps a job indexes before it gives its place back. */
const STEPS_AT_ONCE = 20
/** Finding one message by the index, fetching and sorting it costs as much as reading this many messages in order. */
const ROWS_PER_MATCH = 3
/** Reading this many messages in order is cheap in any case. */
const SHORT_WALK = 10_000
/** How many messages are read in order if that finds the page of matches that are too many to count. */
const LONG_WALK = 100_000
/** How many of the newest messages are read to count terms that are common, or that the word index does not know. */
const MAX_WALK = 200_000
/** How many of the newest messages show whether a term is common. */
const SAMPLE = 2_000

/**
 * Finds the messages of a conversation that contain one of the terms, from the first match to match `COUNT_LIMIT`.
 * Messages up to `searchable_seq` are found by the word index; later ones, and short conversations, are read in full.
 * Throws invalid_parameter if a term is too short for a conversation of this length.
 */
export async function findMatches(
  ctx: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  { skip, limit, ascending }: MatchRange,
): Promise<Matches> {
  const recent = await matchRecent(ctx, contact, terms)
  const indexed = await countIndexed(ctx, contact, terms)
  const total = Math.min(indexed + recent.length, COUNT_LIMIT)
  if (ascending) {
    const first = await listIndexed(ctx, contact, terms, { count: indexed, skip, limit, ascending })
    const from = Math.max(0, skip - indexed)
    return { seqs: [...first, ...recent.slice(from, Math.max(0, skip + limit - indexed))], total }
  }
  const first = recent.toReversed().slice(skip, skip + limit)
  const range = { skip: Math.max(0, skip - recent.length), limit: limit - first.length, ascending }
  return { seqs: [...first, ...(await listIndexed(ctx, contact, terms, { count: indexed, ...range }))], total }
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
  const { organization_id, id, searchable_seq, pruned_seq, last_seq } = contact
  const matches = createMatcher(terms)
  const found: number[] = []
  for (let from = Math.max(searchable_seq, pruned_seq) + 1; from <= last_seq; from += READ_STEP) {
    const to = Math.min(last_seq, from + READ_STEP - 1)
    const messages = await readSearchableMessages(ctx.database, organization_id, id, { from, to })
    const step = createSteps()
    for (const message of messages) {
      if (matches(searchableText(message.text, message.transcription))) found.push(message.seq)
      await step()
    }
  }
  // The indexing job, requested every INDEX_STEP messages, failed or did not exist when the messages came.
  if (last_seq - searchable_seq >= 2 * INDEX_STEP) await requestIndexing(ctx.database, organization_id, id)
  return found
}

async function countIndexed({ database }: Context, contact: Contact, terms: readonly SearchTerm[]): Promise<number> {
  const range = toSearched(contact)
  if (range.until <= range.after) return 0
  const isKnown = isIndexed(terms)
  if (!isKnown || (await isCommon(database, range, terms))) {
    const newest = { ...range, after: Math.max(range.after, range.until - MAX_WALK) }
    const count = await countByWalk(database, newest, terms)
    if (count === COUNT_LIMIT || newest.after === range.after) return count
    if (!isKnown) throw tooShort(terms)
  }
  return Math.min(await countByIndex(database, range, terms), COUNT_LIMIT)
}

/**
 * Whether many of the newest messages match. Then reading messages until enough are counted costs less than the word
 * index, which returns all that match.
 */
async function isCommon(database: Queryable, range: SearchedRange, terms: readonly SearchTerm[]): Promise<boolean> {
  const sample = { ...range, after: Math.max(range.after, range.until - SAMPLE) }
  return (await countByWalk(database, sample, terms)) > SAMPLE * (COUNT_LIMIT / MAX_WALK)
}

/** The requested ones among the `count` indexed matches. */
async function listIndexed(
  ctx: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  { count, skip, limit, ascending }: MatchRange & { count: number },
): Promise<number[]> {
  const size = Math.min(limit, count - skip)
  if (size <= 0) return []
  if (count === COUNT_LIMIT) return listMany(ctx, contact, terms, { skip, limit: size, ascending })
  // Counted from the nearer end.
  const left = count - skip - size
  const isNear = skip <= left
  const range = isNear ? { skip, limit: size, ascending } : { skip: left, limit: size, ascending: !ascending }
  const searched = toSearched(contact)
  const walk = ((range.skip + size) / count) * (searched.until - searched.after)
  const find = walk <= Math.max(SHORT_WALK, ROWS_PER_MATCH * count) ? walkMatches : listMatches
  const seqs = await find(ctx.database, searched, terms, range)
  return isNear ? seqs : seqs.reverse()
}

/** The requested ones among more matches than are counted: most often they are near the end that is read from. */
async function listMany(
  { database }: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  range: MatchRange,
): Promise<number[]> {
  const whole = toSearched(contact)
  const near = range.ascending
    ? { ...whole, until: Math.min(whole.until, whole.after + LONG_WALK) }
    : { ...whole, after: Math.max(whole.after, whole.until - LONG_WALK) }
  const seqs = await walkMatches(database, near, terms, range)
  if (seqs.length === range.limit) return seqs
  if (!isIndexed(terms)) throw tooShort(terms)
  return listMatches(database, whole, terms, range)
}

function tooShort(terms: readonly SearchTerm[]): Problem {
  const term = terms.find((one) => !isIndexed([one])) as SearchTerm
  return new Problem(
    'invalid_parameter',
    `the term "${term.text}" is too short for a conversation of this length: search for three characters or more`,
  )
}

function toSearched({ organization_id, id, pruned_seq, searchable_seq }: Contact): SearchedRange {
  return { organizationId: organization_id, contactId: id, after: pruned_seq, until: searchable_seq }
}
