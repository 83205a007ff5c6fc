import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import { KEPT_SINCE_ID } from '../organizations/retention.js'

/** SQL: at most `limit` pending deliveries of a webhook. Those in order and the others are in an index each. */
const pendingOf = (organizationId: string, webhookId: string, limit: string, further = 'true') => `(
     (
       SELECT FROM webhook_deliveries d
       WHERE d.organization_id = ${organizationId} AND d.webhook_id = ${webhookId}
         AND d.status = 'pending' AND d.in_order AND ${further}
       LIMIT ${limit}
     )
     UNION ALL
     (
       SELECT FROM webhook_deliveries d
       WHERE d.organization_id = ${organizationId} AND d.webhook_id = ${webhookId}
         AND d.next_attempt_at IS NOT NULL AND NOT d.in_order AND ${further}
       LIMIT ${limit}
     )
   )`

const count = statement<{ count: number }>(
  'webhookBacklog.count',
  `SELECT count(*) FROM ${pendingOf('$1', '$2', '$3')} pending`,
)

// Deliveries from before it was enabled do not count, so that enabling it again helps. Of an organization with too many,
// those with the fewest stay, as far as they are not too many together.
const findOverfull = sharedStatement<OverfullWebhook>(
  'webhookBacklog.findOverfull',
  `SELECT organization_id, id, pending > $1 AS "isFull"
   FROM (
     SELECT w.organization_id, w.id, counted.pending,
       sum(counted.pending) OVER (PARTITION BY w.organization_id ORDER BY counted.pending, w.id) AS together
     FROM webhooks w CROSS JOIN LATERAL (
       SELECT count(*) AS pending
       FROM ${pendingOf('w.organization_id', 'w.id', '$1::bigint + 1', 'd.event_seq > w.since_seq')} pending
     ) counted
     WHERE w.active
   ) found
   WHERE pending > $1 OR together > $2`,
)

const listDisabled = sharedStatement<{ organization_id: string; id: string }>(
  'webhookBacklog.listDisabled',
  'SELECT organization_id, id FROM webhooks WHERE NOT active',
)

// The next delivery of a contact then waits for no other one. The second update sees the table as it was before the
// first one.
const expire = statement<{ count: number }>(
  'webhookBacklog.expire',
  `WITH expired AS (
     UPDATE webhook_deliveries d
     SET status = 'failed', next_attempt_at = NULL, process_id = NULL,
       attempts = d.attempts || jsonb_build_object('at', $2::timestamptz, 'response_status', NULL, 'error', $5::text,
         'duration_ms', 0, 'response_body', NULL)
     FROM (
       SELECT p.id FROM organizations o CROSS JOIN LATERAL (
         SELECT id FROM webhook_deliveries
         WHERE organization_id = o.id AND webhook_id = $3 AND id < ${KEPT_SINCE_ID} AND status = 'pending'
         ORDER BY id
         LIMIT $4
       ) p
       WHERE o.id = $1
     ) old
     WHERE d.organization_id = $1 AND d.id = old.id
       AND EXISTS (SELECT FROM webhooks WHERE organization_id = $1 AND id = $3 AND NOT active)
     RETURNING d.id, d.contact_id, d.in_order
   ), next AS (
     UPDATE webhook_deliveries d SET next_attempt_at = $2
     FROM (SELECT DISTINCT contact_id FROM expired WHERE in_order) ended
     CROSS JOIN LATERAL (
       SELECT id, next_attempt_at FROM webhook_deliveries
       WHERE organization_id = $1 AND webhook_id = $3 AND contact_id = ended.contact_id AND status = 'pending' AND in_order
         AND id NOT IN (SELECT id FROM expired)
       ORDER BY event_seq
       LIMIT 1
     ) first
     WHERE d.organization_id = $1 AND d.id = first.id AND first.next_attempt_at IS NULL
   )
   SELECT count(*) FROM expired`,
)

/** A webhook and its organization. */
export interface WebhookId {
  organization_id: string
  id: string
}

/** A webhook with too many pending deliveries, by itself (`isFull`) or together with its organization's others. */
export interface OverfullWebhook extends WebhookId {
  isFull: boolean
}

/** The number of pending deliveries of a webhook; counted to at most twice `limit`. */
export async function countPending(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  limit: number,
): Promise<number> {
  const [row] = await db.run(count, [organizationId, webhookId, limit])
  return row?.count ?? 0
}

/**
 * The active webhooks with more than `max` pending deliveries of events since they were set or enabled, and the fullest
 * ones of an organization that has more than `maxTogether`. Of all organizations.
 */
export function findOverfullWebhooks(db: Queryable, max: number, maxTogether: number): Promise<OverfullWebhook[]> {
  return db.run(findOverfull, [max, maxTogether])
}

/** The disabled webhooks of all organizations. */
export function listDisabledWebhooks(db: Queryable): Promise<WebhookId[]> {
  return db.run(listDisabled, [])
}

/**
 * Ends at most `limit` pending deliveries of a webhook that are not kept at `now` as failed with the reason, if it is
 * disabled; returns their number. The organization's feed must be locked.
 */
export async function expirePending(
  transaction: Queryable,
  { organization_id, id }: WebhookId,
  { now, limit, reason }: { now: Date; limit: number; reason: string },
): Promise<number> {
  const [row] = await transaction.run(expire, [organization_id, now, id, limit, reason])
  return row?.count ?? 0
}
