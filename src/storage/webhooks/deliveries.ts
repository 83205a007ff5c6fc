import type { Queryable } from '../../database/pool.js'
import { FEW, statement } from '../../database/statement.js'
import type { EventRow } from '../../model/webhooks/event.js'
import type { AttemptRow } from '../../model/webhooks/webhook.js'
import { EVENT_COLUMNS } from '../events/events.js'

// The deliveries as the dispatcher uses them. Only the transaction that has the organization's feed locked decides what
// is due: a delivery that must wait for an earlier one of its contact has no next attempt until that one has ended.

/** The columns that an insert sets. */
export const NEW_COLUMNS =
  'organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, next_attempt_at'

export interface NewDelivery {
  organization_id: string
  id: string
  webhook_id: string
  event_seq: number
  event_id: string
  event_type: string
  contact_id: string | null
  in_order: boolean
}

/** A delivery that may be attempted. */
export interface DueDelivery {
  organization_id: string
  id: string
  webhook_id: string
  /** Number of attempts so far. */
  attempted: number
  /** Null if it is no longer stored or its contact was erased. */
  event: EventRow | null
}

/** The result of an attempt. */
export interface AttemptResult {
  organization_id: string
  id: string
  /** pending: it is retried at `next_attempt_at`. */
  status: 'pending' | 'delivered' | 'failed'
  attempt: AttemptRow
  next_attempt_at: Date | null
}

// FEW stands twice: the planner then expects one row and looks each one up, even if the table was empty when it
// planned. A webhook that was deleted or disabled meanwhile gets no delivery, nor does an erased contact. The contact
// is read from the event, since it may have been merged.
const insert = statement<{ id: string }>(
  'webhookDeliveries.insert',
  `WITH given AS (
     SELECT * FROM (
       SELECT * FROM json_to_recordset($1) AS given (organization_id uuid, id uuid, webhook_id uuid, event_seq bigint,
         event_id uuid, event_type text, contact_id uuid, in_order boolean)
       ${FEW}
     ) given
     ${FEW}
   ), inserted AS (
     INSERT INTO webhook_deliveries (${NEW_COLUMNS})
     SELECT g.organization_id, g.id, g.webhook_id, g.event_seq, g.event_id, g.event_type, e.contact_id, g.in_order,
       CASE WHEN NOT g.in_order
         OR row_number() OVER (PARTITION BY g.webhook_id, e.contact_id ORDER BY g.event_seq) = 1 AND NOT EXISTS (
         SELECT FROM webhook_deliveries earlier
         WHERE earlier.organization_id = g.organization_id AND earlier.webhook_id = g.webhook_id
           AND earlier.contact_id = e.contact_id AND earlier.status = 'pending' AND earlier.in_order
       ) THEN $2::timestamptz END
     FROM given g
     JOIN webhooks w ON w.organization_id = g.organization_id AND w.id = g.webhook_id AND w.active
     JOIN events e ON e.organization_id = g.organization_id AND e.seq = g.event_seq AND e.data <> '{}'
     RETURNING id, next_attempt_at
   )
   SELECT id FROM inserted WHERE next_attempt_at IS NOT NULL`,
)

// The result of an earlier write may be unknown, so an attempt is added only once. If its contact was merged meanwhile,
// the delivery may have to wait now.
const record = statement<never>(
  'webhookDeliveries.record',
  `UPDATE webhook_deliveries d
   SET status = g.status, attempts = d.attempts || g.attempt,
     next_attempt_at = CASE WHEN d.next_attempt_at IS NOT NULL THEN g.next_attempt_at END,
     attempted_at = $2
   FROM (
     SELECT * FROM (
       SELECT * FROM json_to_recordset($1) AS g (organization_id uuid, id uuid, status text, attempt jsonb,
         next_attempt_at timestamptz)
       ${FEW}
     ) g
     ${FEW}
   ) g
   WHERE d.organization_id = g.organization_id AND d.id = g.id AND d.status = 'pending'
     AND NOT d.attempts @> jsonb_build_array(jsonb_build_object('at', g.attempt -> 'at'))`,
)

/**
 * Joins the event of a delivery `d`, if it is still stored; the LIMIT makes it a look-up per delivery instead of a
 * scan.
 */
const JOIN_EVENT = `LEFT JOIN LATERAL (
     SELECT ${EVENT_COLUMNS} FROM events e
     WHERE e.organization_id = d.organization_id AND e.seq = d.event_seq AND e.data <> '{}'
     LIMIT 1
   ) e ON true`

const DUE_COLUMNS = `d.organization_id, d.id, d.webhook_id, jsonb_array_length(d.attempts) AS attempted`

// Reads the contact from the rows, since it may have been merged since the attempt.
const promote = statement<DueDelivery>(
  'webhookDeliveries.promote',
  `WITH ended AS (
     SELECT DISTINCT d.organization_id, d.webhook_id, d.contact_id
     FROM (
       SELECT * FROM (SELECT * FROM json_to_recordset($1) AS g (organization_id uuid, id uuid) ${FEW}) g ${FEW}
     ) g
     JOIN webhook_deliveries d ON d.organization_id = g.organization_id AND d.id = g.id
     WHERE d.in_order
   ), promoted AS (
     UPDATE webhook_deliveries d SET next_attempt_at = $2
     FROM ended
     CROSS JOIN LATERAL (
       SELECT w.id, w.next_attempt_at FROM webhook_deliveries w
       WHERE w.organization_id = ended.organization_id AND w.webhook_id = ended.webhook_id
         AND w.contact_id = ended.contact_id AND w.status = 'pending' AND w.in_order
       ORDER BY w.event_seq
       LIMIT 1
     ) head
     WHERE d.organization_id = ended.organization_id AND d.id = head.id AND head.next_attempt_at IS NULL
     RETURNING d.*
   )
   SELECT ${DUE_COLUMNS}, to_json(e) AS event
   FROM promoted d
   ${JOIN_EVENT}`,
)

const promoteAll = statement<never>(
  'webhookDeliveries.promoteAll',
  `UPDATE webhook_deliveries d SET next_attempt_at = $2
   FROM (
     SELECT DISTINCT ON (w.organization_id, w.webhook_id, w.contact_id) w.organization_id, w.id, w.next_attempt_at
     FROM webhook_deliveries w
     WHERE w.organization_id = ANY ($1) AND w.status = 'pending' AND w.in_order
     ORDER BY w.organization_id, w.webhook_id, w.contact_id, w.event_seq
   ) head
   WHERE d.organization_id = head.organization_id AND d.id = head.id AND head.next_attempt_at IS NULL
     AND d.status = 'pending' AND d.next_attempt_at IS NULL`,
)

const readDue = statement<{ lane: string; next_due_at: Date | null } & (DueDelivery | { id: null })>(
  'webhookDeliveries.readDue',
  `SELECT lane.webhook_id AS lane, next.due_at AS next_due_at, d.*, to_json(e) AS event
   FROM (
     SELECT * FROM json_to_recordset($1) AS lane (organization_id uuid, webhook_id uuid, room integer, known uuid[])
     ${FEW}
   ) lane
   CROSS JOIN LATERAL (
     SELECT min(d.next_attempt_at) AS due_at FROM webhook_deliveries d
     WHERE d.organization_id = lane.organization_id AND d.webhook_id = lane.webhook_id AND d.next_attempt_at > $2
   ) next
   LEFT JOIN LATERAL (
     SELECT ${DUE_COLUMNS}, d.event_seq FROM webhook_deliveries d
     WHERE d.organization_id = lane.organization_id AND d.webhook_id = lane.webhook_id AND d.next_attempt_at <= $2
       AND d.id <> ALL (lane.known)
     ORDER BY d.next_attempt_at
     LIMIT lane.room
   ) d ON true
   ${JOIN_EVENT}`,
)

/** Inserts deliveries in order and returns the ids of those that may be attempted at `now`. */
export async function insertDeliveries(
  transaction: Queryable,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<Set<string>> {
  const rows = await transaction.run(insert, [JSON.stringify(deliveries), now])
  return new Set(rows.map((row) => row.id))
}

/**
 * Records attempts at `now`. A delivery that was ended meanwhile, for example because its contact was erased, stays as
 * it is.
 */
export async function recordAttempts(
  transaction: Queryable,
  results: readonly AttemptResult[],
  now: Date,
): Promise<void> {
  await transaction.run(record, [JSON.stringify(results), now])
}

/** Makes deliveries due that waited for the given ones, which have ended. */
export function promoteWaiting(
  transaction: Queryable,
  ended: readonly { organization_id: string; id: string }[],
  now: Date,
): Promise<DueDelivery[]> {
  return transaction.run(promote, [
    JSON.stringify(ended.map(({ organization_id, id }) => ({ organization_id, id }))),
    now,
  ])
}

/** Makes all deliveries due that wait for nothing any more, in case their process died before it could. */
export async function promoteAllWaiting(db: Queryable, organizationIds: readonly string[], now: Date): Promise<void> {
  await db.run(promoteAll, [organizationIds, now])
}

/** Selects due deliveries of a webhook: at most `room`, without the `known` ones. */
export interface DueQuery {
  organization_id: string
  webhook_id: string
  room: number
  known: readonly string[]
}

/** The due deliveries of a webhook, oldest first, and when the next one is due. */
export interface DueResult {
  due: DueDelivery[]
  nextDueAt: Date | null
}

/** The due deliveries at `now`, by webhook id. */
export async function readDueDeliveries(
  db: Queryable,
  queries: readonly DueQuery[],
  now: Date,
): Promise<Map<string, DueResult>> {
  const rows = await db.run(readDue, [JSON.stringify(queries), now])
  const results = new Map<string, DueResult>()
  for (const { lane, next_due_at, ...delivery } of rows) {
    const answer = results.get(lane) ?? { due: [], nextDueAt: next_due_at }
    results.set(lane, answer)
    if (delivery.id !== null) answer.due.push(delivery)
  }
  return results
}
