import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { isKnownToTrigrams } from '../../lib/text/like.js'
import { type SearchTerm, searchableText, toPattern } from '../../model/conversations/search-terms.js'
import { COUNT_LIMIT } from '../../model/page.js'
import { enqueueJobs } from '../jobs/enqueue.js'

/** A message's number in its conversation, and its searchable texts. */
export interface SearchableMessage {
  seq: number
  text: string
  transcription: string | null
}

/** A range of a conversation, by the numbers of its messages. */
export interface SearchedRange {
  organizationId: string
  contactId: string
  /** The number before the first message to search. */
  after: number
  /** The number of the last message to search. */
  until: number
}

/**
 * Which matching messages: `limit` of them after the first `skip`, in ascending or descending order of their numbers.
 */
export interface MatchRange {
  skip: number
  limit: number
  ascending: boolean
}

// Written so that the primary key cannot be used: the planner does not know the word and would prefer reading the whole
// conversation to the word index, although the index is cheaper.
const IN_RANGE = 'organization_id IS NOT DISTINCT FROM $1 AND contact_id = $2 AND seq > $3 AND seq <= $4'

/** Whether a message contains one of the terms; `$6` is null if LIKE is enough. */
const CONTAINS_TERM = `folded LIKE ANY ($5::text[]) AND ($6::text[] IS NULL OR EXISTS (
    SELECT FROM unnest($5::text[], $6::text[]) AS term (pattern, whole)
    WHERE folded LIKE term.pattern AND (term.whole IS NULL OR folded ~ term.whole)
  ))`

/** Reads the messages in order; IS TRUE keeps the word index from being used. */
const WALKED = `organization_id = $1 AND contact_id = $2 AND seq > $3 AND seq <= $4 AND (${CONTAINS_TERM}) IS TRUE`

const countIndexed = statement<{ total: number }>(
  'messageSearch.count',
  `SELECT count(*)::float8 AS total FROM message_search WHERE ${IN_RANGE} AND ${CONTAINS_TERM}`,
  { isHeavy: true },
)

const countWalked = statement<{ total: number }>(
  'messageSearch.countByWalk',
  `SELECT count(*)::float8 AS total FROM (
     SELECT FROM message_search WHERE ${WALKED} ORDER BY seq DESC LIMIT ${COUNT_LIMIT}
   ) newest`,
  { isHeavy: true },
)

const list = statement<{ seq: number }>(
  'messageSearch.list',
  `SELECT seq FROM message_search
   WHERE ${IN_RANGE} AND ${CONTAINS_TERM}
   ORDER BY CASE WHEN $9 THEN seq ELSE -seq END
   OFFSET $7 LIMIT $8`,
  { isHeavy: true },
)

const walk = (direction: 'ASC' | 'DESC') =>
  `SELECT seq FROM message_search WHERE ${WALKED} ORDER BY seq ${direction} OFFSET $7 LIMIT $8`

const walkUp = statement<{ seq: number }>('messageSearch.walkUp', walk('ASC'), { isHeavy: true })
const walkDown = statement<{ seq: number }>('messageSearch.walkDown', walk('DESC'), { isHeavy: true })

const read = statement<SearchableMessage>(
  'messageSearch.read',
  `SELECT seq, text, transcription FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3 AND $4
   ORDER BY seq`,
  { isHeavy: true },
)

// Locks against merging and erasing, not against sending.
const lockConversation = statement<{ last_seq: number; searchable_seq: number }>(
  'messageSearch.lockConversation',
  `SELECT last_seq, greatest(searchable_seq, pruned_seq) AS searchable_seq
   FROM contacts WHERE organization_id = $1 AND id = $2 FOR KEY SHARE`,
)

// Locks against edits and transcriptions: a concurrent one waits, and then finds the row that it must change.
const readLocked = statement<SearchableMessage>(
  'messageSearch.readLocked',
  `SELECT seq, text, transcription FROM messages
   WHERE organization_id = $1 AND contact_id = $2 AND seq BETWEEN $3 AND $4
   ORDER BY seq
   FOR SHARE`,
)

const insert = statement<never>(
  'messageSearch.insert',
  `INSERT INTO message_search (organization_id, contact_id, seq, folded)
   SELECT $1, $2, spoken.seq, spoken.folded FROM unnest($3::bigint[], $4::text[]) AS spoken (seq, folded)
   ON CONFLICT DO NOTHING`,
)

const advance = statement<never>(
  'messageSearch.advance',
  'UPDATE contacts SET searchable_seq = $3 WHERE organization_id = $1 AND id = $2 AND searchable_seq < $3',
)

const change = statement<never>(
  'messageSearch.change',
  'UPDATE message_search SET folded = $4 WHERE organization_id = $1 AND contact_id = $2 AND seq = $3',
)

/** A job indexes this many messages of a conversation, and is enqueued with the last one of them. */
export const INDEX_STEP = 1_000

/**
 * The INSERT that enqueues the indexing of conversations, for new messages `rows` with their organization_id,
 * contact_id and seq.
 */
export const enqueueIndexing = (rows: string) =>
  enqueueJobs({
    task: 'index_conversation',
    organizationId: 'organization_id',
    key: 'contact_id',
    payload: "jsonb_build_object('contactId', contact_id)",
    from: `(SELECT DISTINCT organization_id, contact_id FROM ${rows} WHERE seq % ${INDEX_STEP} = 0) full_steps`,
  })

const request = statement<never>(
  'messageSearch.request',
  enqueueJobs({
    task: 'index_conversation',
    key: '$2::uuid',
    payload: "jsonb_build_object('contactId', $2::uuid)",
  }),
  { enqueues: 'now' },
)

/** Counts the messages of a range that contain one of the terms, by the word index, which must know all terms. */
export async function countByIndex(db: Queryable, range: SearchedRange, terms: readonly SearchTerm[]): Promise<number> {
  const [row] = await db.run(countIndexed, toValues(range, terms))
  return row?.total ?? 0
}

/** The same for any terms and up to `COUNT_LIMIT`, by reading the messages of the range. */
export async function countByWalk(db: Queryable, range: SearchedRange, terms: readonly SearchTerm[]): Promise<number> {
  const [row] = await db.run(countWalked, toValues(range, terms))
  return row?.total ?? 0
}

/** The numbers of matching messages by the word index, which must know all terms; fast if few messages match. */
export function listMatches(
  db: Queryable,
  range: SearchedRange,
  terms: readonly SearchTerm[],
  { skip, limit, ascending }: MatchRange,
): Promise<number[]> {
  return numbersOf(db, list, [...toValues(range, terms), skip, limit, ascending])
}

/** The same, reading the numbers from one end; fast if many match and the range is near that end. */
export function walkMatches(
  db: Queryable,
  range: SearchedRange,
  terms: readonly SearchTerm[],
  { skip, limit, ascending }: MatchRange,
): Promise<number[]> {
  return numbersOf(db, ascending ? walkUp : walkDown, [...toValues(range, terms), skip, limit])
}

/** Whether the word index knows all terms. Those of one or two characters are not in it. */
export function isIndexed(terms: readonly SearchTerm[]): boolean {
  return terms.every((term) => isKnownToTrigrams(toPattern(term).like))
}

async function numbersOf(db: Queryable, search: typeof list, values: readonly unknown[]): Promise<number[]> {
  const rows = await db.run(search, values)
  return rows.map((row) => row.seq)
}

function toValues({ organizationId, contactId, after, until }: SearchedRange, terms: readonly SearchTerm[]): unknown[] {
  return [organizationId, contactId, after, until, ...toArrays(terms)]
}

function toArrays(terms: readonly SearchTerm[]): [string[], (string | null)[] | null] {
  const patterns = terms.map(toPattern)
  const wholes = patterns.map(({ whole }) => whole)
  return [patterns.map(({ like }) => like), wholes.some((whole) => whole !== null) ? wholes : null]
}

/**
 * The searchable texts of the messages of a conversation whose numbers are in the range (both ends included), in
 * ascending order.
 */
export function readSearchableMessages(
  db: Queryable,
  organizationId: string,
  contactId: string,
  { from, to }: { from: number; to: number },
): Promise<SearchableMessage[]> {
  return db.run(read, [organizationId, contactId, from, to])
}

/**
 * Adds the next messages of a conversation to the word index, `INDEX_STEP` at most. Resolves to whether there are more.
 * Needs a transaction; concurrent calls index each message once.
 */
export async function indexNextMessages(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
): Promise<boolean> {
  const [conversation] = await transaction.run(lockConversation, [organizationId, contactId])
  if (!conversation) return false
  const { last_seq: last, searchable_seq: done } = conversation
  const until = Math.min(last, done + INDEX_STEP)
  const messages = await transaction.run(readLocked, [organizationId, contactId, done + 1, until])
  const normalized = messages.map(({ text, transcription }) => searchableText(text, transcription))
  await transaction.run(insert, [organizationId, contactId, messages.map(({ seq }) => seq), normalized])
  await transaction.run(advance, [organizationId, contactId, until])
  return until < last
}

/**
 * Updates the search text of a changed message. Needs the transaction that changed it, after the change: then the
 * indexing job has either finished with this message or not started with it.
 */
export async function changeSearchableMessage(
  transaction: Queryable,
  organizationId: string,
  contactId: string,
  { seq, text, transcription }: SearchableMessage,
): Promise<void> {
  await transaction.run(change, [organizationId, contactId, seq, searchableText(text, transcription)])
}

/** Enqueues the indexing of a conversation unless such a job waits; wake the workers. */
export async function requestIndexing(db: Queryable, organizationId: string, contactId: string): Promise<void> {
  await db.run(request, [organizationId, contactId])
}
