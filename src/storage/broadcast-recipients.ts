import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'
import { type Recipient, type RecipientStatus, type ShownBroadcast, SKIP_REASONS } from '../model/broadcast.js'
import { OUTCOME_UNKNOWN } from '../model/message.js'
import type { Person } from '../model/placeholders.js'
import { LANES } from './broadcasts.js'
import { countChanges, countSkipped } from './campaign-counts.js'

/** The status of the recipient `r` with its message `m` in its broadcast `b` (see the migration's words on recipients). */
export const RECIPIENT_STATUS = `CASE
    WHEN r.skip_reason IS NOT NULL THEN 'skipped'
    WHEN m.id IS NOT NULL THEN CASE WHEN m.outcome IS NULL THEN m.status ELSE 'pending' END
    WHEN r.outcome IS NOT NULL THEN r.outcome ->> 'status'
    WHEN b.status = 'cancelled' THEN 'skipped'
    ELSE 'pending'
  END`

const RECIPIENT_COLUMNS = `r.n, r.contact_id, CASE WHEN c.id IS NULL THEN r.number ELSE c.chat_id END AS number,
  coalesce(c.full_name, r.name) AS name, ${RECIPIENT_STATUS} AS status,
  CASE WHEN r.skip_reason IS NULL AND b.status = 'cancelled' AND m.id IS NULL AND r.outcome IS NULL
    THEN '${SKIP_REASONS.cancelled}' ELSE r.skip_reason END AS reason,
  m.upstream_id, coalesce(m.error, nullif(r.outcome -> 'error', 'null')) AS error,
  coalesce(m.accepted_at, (r.outcome ->> 'accepted_at')::timestamptz) AS sent_at,
  coalesce(m.delivered_at, (r.outcome ->> 'delivered_at')::timestamptz) AS delivered_at,
  coalesce(m.read_at, (r.outcome ->> 'read_at')::timestamptz) AS read_at`

const RECIPIENT_JOINS = `LEFT JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
   LEFT JOIN contacts c ON c.organization_id = r.organization_id AND c.id = r.contact_id`

const listAll = statement<Recipient>(
  'broadcastRecipients.listAll',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcasts b JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id
   ${RECIPIENT_JOINS}
   WHERE b.organization_id = $1 AND b.id = $2 AND r.n > $3 AND r.n <= b.prepared_n
   ORDER BY r.n
   LIMIT $4`,
)

const listByStatus = statement<Recipient>(
  'broadcastRecipients.listByStatus',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcasts b JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id
   ${RECIPIENT_JOINS}
   WHERE b.organization_id = $1 AND b.id = $2 AND r.n > $3 AND r.n <= b.prepared_n AND ${RECIPIENT_STATUS} = $5
   ORDER BY r.n
   LIMIT $4 OFFSET $6`,
)

const listFailed = statement<Recipient>(
  'broadcastRecipients.listFailed',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcasts b JOIN broadcast_failures f ON f.organization_id = b.organization_id AND f.broadcast_id = b.id
   JOIN broadcast_recipients r ON r.organization_id = f.organization_id AND r.broadcast_id = f.broadcast_id AND r.n = f.n
   ${RECIPIENT_JOINS}
   WHERE b.organization_id = $1 AND b.id = $2 AND r.n > $3 AND ${RECIPIENT_STATUS} = 'failed'
   ORDER BY r.n
   LIMIT $4 OFFSET $5`,
)

// A single's own row tells what becomes of it; its time is that of its id where no message tells.
const SINGLE = `SELECT r.organization_id, r.broadcast_id AS id, b.name, b.template_name, b.template_language,
     CASE WHEN m.outcome IS NULL THEN 'completed' ELSE 'running' END AS status, NULL AS status_reason,
     NULL::timestamptz AS scheduled_at, t.at AS started_at,
     CASE WHEN m.id IS NULL THEN t.at WHEN m.outcome IS NULL THEN coalesce(m.failed_at, m.accepted_at) END AS completed_at,
     t.at AS created_at,
     jsonb_build_object('total', (r.skip_reason IS NULL)::int, 'skipped', (r.skip_reason IS NOT NULL)::int) AS counters
   FROM broadcast_recipients r
   JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.campaign_id
   LEFT JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
   CROSS JOIN LATERAL (SELECT coalesce(m.recorded_at, to_timestamp(
     ('x0000' || left(replace(r.broadcast_id::text, '-', ''), 12))::bit(64)::bigint / 1000.0)) AS at) t`

const findSingle = statement<ShownBroadcast>(
  'broadcastRecipients.findSingle',
  `${SINGLE} WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = 0`,
)

const listSingles = statement<ShownBroadcast>(
  'broadcastRecipients.listSingles',
  `${SINGLE} WHERE r.organization_id = $1 AND r.n = 0 ORDER BY r.broadcast_id DESC LIMIT $2 OFFSET $3`,
)

const countSingles = statement<{ count: number }>(
  'broadcastRecipients.countSingles',
  `SELECT coalesce(sum(c.value), 0)::bigint AS count
   FROM broadcasts b CROSS JOIN LATERAL (
     SELECT value FROM campaign_counts c
     WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('total', 'skipped')
     UNION ALL
     SELECT change FROM campaign_deltas c
     WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('total', 'skipped')
   ) c
   WHERE b.organization_id = $1 AND b.kind = 'singles'`,
)

const findSingleRecipient = statement<Recipient>(
  'broadcastRecipients.findSingleRecipient',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcast_recipients r JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.campaign_id
   ${RECIPIENT_JOINS}
   WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = 0`,
)

const countOutstanding = statement<{ count: number }>(
  'broadcastRecipients.countOutstanding',
  `SELECT count(*) FROM messages m WHERE m.organization_id = $1 AND m.outcome IS NOT NULL AND m.broadcast_id = $2`,
)

// OFFSET 0 has PostgreSQL look for each message by its key, and never read all messages.
const findPending = statement<PendingRecipient>(
  'broadcastRecipients.findPending',
  `SELECT r.n, r.message_id, r.parameters, c.id AS contact_id, c.chat_id, c.phone_number, c.full_name, c.email
   FROM broadcasts b JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id
   LEFT JOIN contacts c ON c.organization_id = r.organization_id AND c.id = r.contact_id
   WHERE b.organization_id = $1 AND b.id = $2 AND b.status = 'running' AND b.generation = $3
     AND r.n > $4 AND r.n <= b.prepared_n AND r.n % ${LANES} = $5 AND r.skip_reason IS NULL AND r.outcome IS NULL
     AND NOT EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = r.message_id OFFSET 0)
   ORDER BY r.n
   LIMIT $6`,
)

const skip = statement<never>(
  'broadcastRecipients.skip',
  `WITH skipped AS (
     UPDATE broadcast_recipients r SET skip_reason = $4
     WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = $3 AND r.skip_reason IS NULL
       AND NOT EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = r.message_id)
     RETURNING r.campaign_id
   ), ${countSkipped('skipped')}
   SELECT`,
)

const insertUnsentSingle = statement<never>(
  'broadcastRecipients.insertUnsentSingle',
  `WITH inserted AS (
     INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, parameters, skip_reason, outcome)
     VALUES ($1, $2, 0, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING
     RETURNING organization_id, campaign_id, skip_reason, outcome
   ), tried AS (
     SELECT organization_id, campaign_id, NULL::uuid AS broadcast_id, NULL::int AS recipient_n, NULL::timestamptz AS accepted_at,
       NULL::timestamptz AS accepted_at_before, 'failed' AS status, 'sent' AS status_before, outcome -> 'error' AS error,
       NULL::jsonb AS error_before
     FROM inserted WHERE outcome IS NOT NULL
   ), ${countChanges('tried')}
   INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
   SELECT $1, campaign_id, counter, 1
   FROM inserted CROSS JOIN unnest(ARRAY['skipped', 'total', 'recorded']) AS counter
   WHERE (counter = 'skipped') = (skip_reason IS NOT NULL)`,
)

// What failed for good becomes pending once more, under the id of a new message; the failed one stays in its conversation. Of two
// recipients that turned out to be one person the first is tried again, and none where the other one had it or is to get it.
const resetFailed = statement<{ reset: number }>(
  'broadcastRecipients.resetFailed',
  `WITH failed AS (
     SELECT r.n, m.id, row_number() OVER (ORDER BY r.n) AS k
     FROM broadcast_failures f
     JOIN broadcast_recipients r ON r.organization_id = f.organization_id AND r.broadcast_id = f.broadcast_id AND r.n = f.n
     JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
     WHERE f.organization_id = $1 AND f.broadcast_id = $2 AND m.status = 'failed' AND r.skip_reason IS NULL
       AND NOT EXISTS (
         SELECT FROM broadcast_recipients twin
         LEFT JOIN messages of_twin ON of_twin.organization_id = $1 AND of_twin.id = twin.message_id
         WHERE twin.organization_id = $1 AND twin.contact_id = r.contact_id AND twin.broadcast_id = $2 AND twin.n <> r.n
           AND twin.skip_reason IS NULL AND (twin.n < r.n OR of_twin.status IS DISTINCT FROM 'failed')
         OFFSET 0
       )
     ORDER BY r.n
     LIMIT cardinality($3::uuid[])
   ), unlinked AS (
     UPDATE messages m SET campaign_id = NULL, broadcast_id = NULL, recipient_n = NULL
     FROM failed
     WHERE m.organization_id = $1 AND m.id = failed.id AND m.status = 'failed' AND m.broadcast_id = $2
     RETURNING failed.n, failed.k, m.accepted_at, m.error
   ), relinked AS (
     UPDATE broadcast_recipients r SET message_id = ($3::uuid[])[unlinked.k]
     FROM unlinked
     WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = unlinked.n
   ), forgotten AS (
     DELETE FROM broadcast_failures f USING unlinked WHERE f.organization_id = $1 AND f.broadcast_id = $2 AND f.n = unlinked.n
   ), counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT $1, $2, d.counter, d.detail, -count(*)
     FROM unlinked CROSS JOIN LATERAL (VALUES
       ('recorded', ''), ('failed', ''), ('error', coalesce(unlinked.error ->> 'code', '')),
       (CASE WHEN unlinked.accepted_at IS NOT NULL THEN 'sent' END, '')
     ) d (counter, detail)
     WHERE d.counter IS NOT NULL
     GROUP BY d.counter, d.detail
   )
   SELECT count(*) AS reset FROM unlinked`,
)

const skipTwins = statement<never>(
  'broadcastRecipients.skipTwins',
  `WITH twins AS (
     SELECT older.broadcast_id, older.n AS older_n, younger.n AS younger_n,
       EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = older.message_id) AS older_sent,
       EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = younger.message_id) AS younger_sent
     FROM broadcast_recipients younger
     JOIN broadcast_recipients older ON older.organization_id = $1 AND older.contact_id = $3 AND older.broadcast_id = younger.broadcast_id
     JOIN broadcasts b ON b.organization_id = $1 AND b.id = younger.broadcast_id
     WHERE younger.n <= b.prepared_n AND older.n <= b.prepared_n AND younger.organization_id = $1 AND younger.contact_id = $2
       AND younger.skip_reason IS NULL AND younger.outcome IS NULL AND older.skip_reason IS NULL AND older.outcome IS NULL
   ), skipped AS (
     UPDATE broadcast_recipients r SET skip_reason = '${SKIP_REASONS.duplicate}'
     FROM twins
     WHERE r.organization_id = $1 AND r.broadcast_id = twins.broadcast_id
       AND r.n = CASE WHEN NOT twins.younger_sent THEN twins.younger_n WHEN NOT twins.older_sent THEN twins.older_n END
     RETURNING r.campaign_id
   ), ${countSkipped('skipped')}
   SELECT`,
)

const move = statement<never>(
  'broadcastRecipients.move',
  'UPDATE broadcast_recipients SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

/**
 * The parts of the statement that erases the contact $2 of the organization $1: its recipients keep what became of them, and
 * nothing of the person. One that was still to be sent to is skipped; of one whose outcome was outstanding nothing more is heard.
 * One that is not prepared yet is not counted yet.
 */
export const ERASE_RECIPIENTS = `recipients_before AS (
     SELECT r.broadcast_id, r.n, r.n <= b.prepared_n AND r.skip_reason IS NULL AND r.outcome IS NULL AND m.id IS NULL AS was_pending,
       m.id IS NOT NULL AS has_message, m.outcome IS NOT NULL AS is_outstanding, m.accepted_at, m.delivered_at, m.read_at,
       m.status, m.error
     FROM broadcast_recipients r
     JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.campaign_id
     LEFT JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
     WHERE r.organization_id = $1 AND r.contact_id = $2
   ), recipients AS (
     UPDATE broadcast_recipients r
     SET contact_id = NULL, number = NULL, name = NULL, parameters = NULL, message_id = NULL,
       skip_reason = CASE WHEN b.was_pending THEN '${SKIP_REASONS.erased}' ELSE r.skip_reason END,
       outcome = CASE WHEN b.has_message THEN jsonb_build_object('accepted_at', b.accepted_at, 'delivered_at', b.delivered_at,
         'read_at', b.read_at, 'status', CASE WHEN b.is_outstanding THEN 'failed' ELSE b.status END,
         'error', CASE WHEN b.is_outstanding THEN jsonb_build_object('code', '${OUTCOME_UNKNOWN}', 'text', 'The contact was erased')
           ELSE b.error END) ELSE r.outcome END
     FROM recipients_before b
     WHERE r.organization_id = $1 AND r.broadcast_id = b.broadcast_id AND r.n = b.n
     RETURNING r.broadcast_id, r.n, r.campaign_id, b.was_pending, b.is_outstanding
   ), recipients_failed AS (
     INSERT INTO broadcast_failures (organization_id, broadcast_id, n)
     SELECT $1, broadcast_id, n FROM recipients WHERE is_outstanding AND n > 0
     ON CONFLICT DO NOTHING
   ), recipients_counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT $1, r.campaign_id, d.counter, d.detail, sum(d.change)
     FROM recipients r CROSS JOIN LATERAL (VALUES
       ('total', '', -r.was_pending::int), ('skipped', '', r.was_pending::int),
       ('failed', '', r.is_outstanding::int), ('error', '${OUTCOME_UNKNOWN}', r.is_outstanding::int)
     ) d (counter, detail, change)
     WHERE d.change <> 0
     GROUP BY r.campaign_id, d.counter, d.detail
   )`

/** A recipient to be sent to, with its contact; null where that has been erased. */
export interface PendingRecipient extends Person {
  n: number
  message_id: string
  parameters: { body?: Record<string, string>; buttons?: Record<string, string> } | null
  contact_id: string | null
}

/** Which recipients to read: the next ones after number `after`, those of a status (from an offset) or all. */
export interface RecipientPage {
  status: RecipientStatus | null
  after: number
  offset: number
  limit: number
}

/** A page of a broadcast's recipients that are ready, in the order of their numbers. */
export function listBroadcastRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { status, after, offset, limit }: RecipientPage,
): Promise<Recipient[]> {
  if (status === null) return db.run(listAll, [organizationId, broadcastId, after + offset, limit])
  if (status === 'failed') return db.run(listFailed, [organizationId, broadcastId, after, limit, offset])
  return db.run(listByStatus, [organizationId, broadcastId, after, limit, status, offset])
}

/** One send-template as the broadcast of one that it is, or null. */
export async function findSingleBroadcast(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ShownBroadcast | null> {
  const rows = await db.run(findSingle, [organizationId, id])
  return rows[0] ?? null
}

/** A page of send-templates, newest first, and how many there are in all. */
export async function listSingleBroadcasts(
  db: Queryable,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ broadcasts: ShownBroadcast[]; total: number }> {
  const broadcasts = await db.run(listSingles, [organizationId, limit, offset])
  const [row] = await db.run(countSingles, [organizationId])
  return { broadcasts, total: row?.count ?? 0 }
}

/** The one recipient of a send-template, or null. */
export async function findRecipientOfSingle(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
): Promise<Recipient | null> {
  const rows = await db.run(findSingleRecipient, [organizationId, broadcastId])
  return rows[0] ?? null
}

/** How many messages of a broadcast have an outcome that is outstanding. */
export async function countOutstandingRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
): Promise<number> {
  const [row] = await db.run(countOutstanding, [organizationId, broadcastId])
  return row?.count ?? 0
}

/** The next recipients of a lane without a message; none when the broadcast does not run in this generation. */
export function findPendingRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { generation, lane, after }: { generation: number; lane: number; after: number },
  limit: number,
): Promise<PendingRecipient[]> {
  return db.run(findPending, [organizationId, broadcastId, generation, after, lane, limit])
}

/** Skips a recipient that has no message yet. */
export async function skipRecipient(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  n: number,
  reason: string,
): Promise<void> {
  await db.run(skip, [organizationId, broadcastId, n, reason])
}

/** A single for which no message could be recorded: skipped with a reason, or failed. */
export interface UnsentSingle {
  broadcastId: string
  campaignId: string
  contactId: string
  parameters: unknown
  skipReason: string | null
  error: { code: number | string; text: string } | null
}

/** Records a single that has no message; once. */
export async function insertUnsentSingleRecipient(
  db: Queryable,
  organizationId: string,
  { broadcastId, campaignId, contactId, parameters, skipReason, error }: UnsentSingle,
): Promise<void> {
  await db.run(insertUnsentSingle, [
    organizationId,
    broadcastId,
    campaignId,
    contactId,
    JSON.stringify(parameters),
    skipReason,
    error === null ? null : JSON.stringify({ status: 'failed', error }),
  ])
}

/** Makes failed recipients pending again, one for each of the new ids for their messages; resolves to how many. */
export async function resetFailedRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  messageIds: readonly string[],
): Promise<number> {
  const [row] = await db.run(resetFailed, [organizationId, broadcastId, messageIds])
  return row?.reset ?? 0
}

/**
 * Gives the recipients of one contact to another. Where both are of one broadcast, one that was not sent to yet is skipped.
 * Both contacts must be locked.
 */
export async function moveRecipients(
  transaction: Queryable,
  organizationId: string,
  from: string,
  to: string,
): Promise<void> {
  await transaction.run(skipTwins, [organizationId, from, to])
  await transaction.run(move, [organizationId, from, to])
}
