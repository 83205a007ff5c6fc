import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { type Recipient, type RecipientStatus, SKIP_REASONS, WAIT_REASONS } from '../../model/broadcasts/broadcast.js'
import { isPaced } from '../messages/outgoing.js'
import { OUTSTANDING } from './runs.js'

/**
 * The status of the recipient `r` with its message `m` in its broadcast `b` (the comments of the migration explain
 * recipients).
 */
export const RECIPIENT_STATUS = `CASE
    WHEN r.skip_reason IS NOT NULL THEN 'skipped'
    WHEN m.id IS NOT NULL THEN CASE WHEN m.outcome IS NULL THEN m.status ELSE 'pending' END
    WHEN r.outcome IS NOT NULL THEN r.outcome ->> 'status'
    WHEN b.status = 'cancelled' THEN 'skipped'
    ELSE 'pending'
  END`

/** A recipient with its status, for a select list; without an erased contact, which a job takes out of the row. */
export const RECIPIENT_COLUMNS = `r.n, c.id AS contact_id, CASE WHEN r.contact_id IS NULL THEN r.number ELSE c.chat_id END AS number,
  CASE WHEN r.contact_id IS NULL THEN r.name WHEN c.id IS NOT NULL THEN coalesce(c.full_name, r.name) END AS name,
  ${RECIPIENT_STATUS} AS status,
  CASE
    WHEN r.skip_reason IS NOT NULL THEN r.skip_reason
    WHEN m.outcome IS NOT NULL THEN CASE (
      SELECT true FROM broadcast_deferrals d
      WHERE d.organization_id = r.organization_id AND d.broadcast_id = r.broadcast_id AND d.n = r.n
    ) WHEN true THEN '${WAIT_REASONS.again}' ELSE '${WAIT_REASONS.outcome}' END
    WHEN m.id IS NULL AND r.outcome IS NULL THEN CASE b.status
      WHEN 'cancelled' THEN '${SKIP_REASONS.cancelled}'
      WHEN 'scheduled' THEN '${WAIT_REASONS.scheduled}'
      WHEN 'paused' THEN '${WAIT_REASONS.paused}'
      ELSE CASE WHEN ${isPaced('c')} THEN '${WAIT_REASONS.recipientLimit}' ELSE '${WAIT_REASONS.turn}' END
    END
  END AS reason,
  CASE WHEN r.contact_id IS NULL OR c.id IS NOT NULL THEN m.upstream_id END AS upstream_id,
  coalesce(m.error, nullif(r.outcome -> 'error', 'null')) AS error,
  coalesce(m.accepted_at, (r.outcome ->> 'accepted_at')::timestamptz) AS sent_at,
  coalesce(m.delivered_at, (r.outcome ->> 'delivered_at')::timestamptz) AS delivered_at,
  coalesce(m.read_at, (r.outcome ->> 'read_at')::timestamptz) AS read_at`

/** The message and the contact of the recipient `r`. */
export const RECIPIENT_JOINS = `LEFT JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
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
   FROM broadcasts b CROSS JOIN LATERAL (
     SELECT * FROM broadcast_recipients
     WHERE organization_id = $1 AND broadcast_id = $2 AND n > $3
     ORDER BY n
     LIMIT $7
   ) r
   ${RECIPIENT_JOINS}
   WHERE b.organization_id = $1 AND b.id = $2 AND r.n <= b.prepared_n AND ${RECIPIENT_STATUS} = $5
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

const listSkipped = statement<Recipient>(
  'broadcastRecipients.listSkipped',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcasts b JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id
   ${RECIPIENT_JOINS}
   WHERE b.organization_id = $1 AND b.id = $2 AND r.n > $3 AND r.n <= b.prepared_n AND r.skip_reason IS NOT NULL
   ORDER BY r.n
   LIMIT $4 OFFSET $5`,
)

const countOutstanding = statement<{ count: number }>(
  'broadcastRecipients.countOutstanding',
  `SELECT count(*) FROM (${OUTSTANDING}) m WHERE m.broadcast_id = $2`,
)

/** Which recipients to read: the next ones after number `after`, of one status (from an offset) or all. */
export interface RecipientPage {
  status: RecipientStatus | null
  /** Whether the broadcast was cancelled; then recipients without a message count as skipped. */
  isCancelled: boolean
  after: number
  /** How many recipients are looked through, if no index finds the status; null: all. */
  lookThrough: number | null
  offset: number
  limit: number
}

/** A page of a broadcast's prepared recipients, in the order of their numbers. */
export function listBroadcastRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { status, isCancelled, after, lookThrough, offset, limit }: RecipientPage,
): Promise<Recipient[]> {
  if (status === null) return db.run(listAll, [organizationId, broadcastId, after + offset, limit])
  if (status === 'skipped' && !isCancelled)
    return db.run(listSkipped, [organizationId, broadcastId, after, limit, offset])
  if (status === 'failed') return db.run(listFailed, [organizationId, broadcastId, after, limit, offset])
  return db.run(listByStatus, [organizationId, broadcastId, after, limit, status, offset, lookThrough])
}

/** How many messages of a broadcast are outstanding. */
export async function countOutstandingRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
): Promise<number> {
  const [row] = await db.run(countOutstanding, [organizationId, broadcastId])
  return row?.count ?? 0
}
