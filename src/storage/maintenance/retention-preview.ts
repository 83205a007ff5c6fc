import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import {
  HAS_OLD_FILE,
  IS_OLD_CALLBACK,
  IS_OLD_DELIVERY,
  IS_OLD_EVENT,
  IS_OLD_MESSAGE,
  KEPT_SINCE_ID,
  OLD_FILES_BEFORE,
} from '../organizations/retention.js'

// Counts what a run at $2 would delete of the organization $1, if it had the days in the JSON $3.

/** More rows are not counted. */
export const COUNTED_ROWS = 100_000
/** How many rows are measured. */
const MEASURED = 1_000
/** How many contacts a statement looks at. */
const CONTACTS = 1_000

const SUBJECT = '(SELECT (jsonb_populate_record(o, $3)).* FROM organizations o WHERE o.id = $1) o'

/** What would be deleted of a table. */
export interface OldRows {
  /** At most `COUNTED_ROWS`. */
  rows: number
  /** The mean size of some of the rows, in bytes; null: there are none. */
  row_bytes: number | null
  /** The time of the oldest row. */
  oldest: Date | null
}

/** `old`: the rows with their time and, as `r`, as a whole. */
const counting = (name: string, old: string) =>
  statement<OldRows>(
    `retentionPreview.${name}`,
    `SELECT count(*) AS rows, avg(bytes)::float8 AS row_bytes, min(at) AS oldest
     FROM (
       SELECT at, CASE WHEN row_number() OVER () <= ${MEASURED} THEN pg_column_size(r) END AS bytes
       FROM (${old} LIMIT ${COUNTED_ROWS}) old
     ) counted`,
    { isHeavy: true },
  )

const callbacks = counting(
  'callbacks',
  `SELECT c.received_at AS at, c AS r FROM ${SUBJECT} JOIN callbacks c ON c.organization_id = $1 WHERE ${IS_OLD_CALLBACK}`,
)

// In the order of transactions, in which they are deleted; no index has their times.
const events = counting(
  'events',
  `SELECT e.created_at AS at, e AS r
   FROM ${SUBJECT} CROSS JOIN LATERAL (
     SELECT * FROM events WHERE organization_id = $1 ORDER BY transaction_id, seq LIMIT ${COUNTED_ROWS}
   ) e
   WHERE ${IS_OLD_EVENT}`,
)

// A run ends pending deliveries of disabled webhooks first.
const deliveries = counting(
  'deliveries',
  `SELECT d.created_at AS at, d AS r FROM ${SUBJECT} JOIN webhook_deliveries d ON d.organization_id = $1
   WHERE ${IS_OLD_DELIVERY} OR d.id < ${KEPT_SINCE_ID} AND EXISTS (
     SELECT FROM webhooks w WHERE w.organization_id = $1 AND w.id = d.webhook_id AND NOT w.active
   )`,
)

const files = statement<OldRows>(
  'retentionPreview.files',
  `SELECT count(*) AS rows, avg(size)::float8 AS row_bytes, min(at) AS oldest
   FROM (
     SELECT f.size, m.recorded_at AS at
     FROM ${SUBJECT} JOIN media f ON f.organization_id = $1 AND f.id < ${OLD_FILES_BEFORE} CROSS JOIN LATERAL (
       SELECT m.recorded_at FROM messages m
       WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = f.id
         AND (m.media_id = f.id OR m.media_state IS NOT NULL) AND ${HAS_OLD_FILE}
       OFFSET 0
     ) m
     LIMIT ${COUNTED_ROWS}
   ) counted`,
  { isHeavy: true },
)

// Messages go from the beginning of a conversation to the first one that is kept, and their numbers have no gap, so only
// that one must be found.
const messages = statement<OldRows & { reached: string | null }>(
  'retentionPreview.messages',
  `WITH page AS MATERIALIZED (
     SELECT id, pruned_seq, last_seq FROM contacts WHERE organization_id = $1 AND id > $4 ORDER BY id LIMIT ${CONTACTS}
   ), counted AS MATERIALIZED (
     SELECT least(coalesce(kept.seq, c.last_seq + 1), c.pruned_seq + 1 + ${COUNTED_ROWS}) - c.pruned_seq - 1 + reactions.count AS rows,
       first.bytes, coalesce(first.at, reactions.at) AS at
     FROM page c CROSS JOIN ${SUBJECT}
     LEFT JOIN LATERAL (
       SELECT m.seq FROM messages m
       WHERE m.organization_id = $1 AND m.contact_id = c.id AND m.seq > c.pruned_seq
         AND m.seq <= c.pruned_seq + ${COUNTED_ROWS} AND (${IS_OLD_MESSAGE}) IS NOT TRUE
       ORDER BY m.seq
       LIMIT 1
     ) kept ON true
     LEFT JOIN LATERAL (
       SELECT pg_column_size(m) AS bytes, m.recorded_at AS at FROM messages m
       WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.contact_id = c.id AND m.seq = c.pruned_seq + 1 AND ${IS_OLD_MESSAGE}
       OFFSET 0
     ) first ON true
     CROSS JOIN LATERAL (
       SELECT count(*) AS count, min(m.recorded_at) AS at FROM messages m
       WHERE m.organization_id = $1 AND m.contact_id = c.id AND m.seq IS NULL AND ${IS_OLD_MESSAGE}
     ) reactions
   )
   SELECT coalesce(sum(rows), 0)::float8 AS rows, avg(bytes)::float8 AS row_bytes, min(at) FILTER (WHERE rows > 0) AS oldest,
     CASE WHEN (SELECT count(*) FROM page) = ${CONTACTS} THEN (SELECT id FROM page ORDER BY id DESC LIMIT 1) END AS reached
   FROM counted`,
  { isHeavy: true },
)

const STATEMENTS = { callbacks, events, webhook_deliveries: deliveries, files }

/** What is counted by one statement. */
export type CountedKind = keyof typeof STATEMENTS

/** Days that replace those of an organization. */
export type OtherDays = Record<string, number | null>

/** What a run at `now` would delete of this kind. */
export async function countOldRows(
  db: Queryable,
  organizationId: string,
  kind: CountedKind,
  { now, days }: { now: Date; days: OtherDays },
): Promise<OldRows> {
  const [counted] = await db.run(STATEMENTS[kind], [organizationId, now, JSON.stringify(days)])
  return counted as OldRows
}

/** The same for messages of the next contacts after this one; `reached`: where to continue, null: at none. */
export async function countOldMessages(
  db: Queryable,
  organizationId: string,
  { now, days, after }: { now: Date; days: OtherDays; after: string },
): Promise<OldRows & { reached: string | null }> {
  const [counted] = await db.run(messages, [organizationId, now, JSON.stringify(days), after])
  return counted as OldRows & { reached: string | null }
}
