import type { Queryable } from '../../database/pool.js'
import { FEW, statement } from '../../database/statement.js'
import type { EventRow } from '../../model/webhooks/event.js'
import type { AttemptRow } from '../../model/webhooks/webhook.js'
import { EVENT_COLUMNS } from '../events/events.js'

// The deliveries as the dispatcher uses them. Whether a delivery waits for an earlier one of its contact is decided only
// by transactions that have the organization's feed locked: a waiting one has no next attempt until the earlier one has
// ended. A process claims a due delivery before it attempts it, and only it records the attempt.

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

/** A delivery that this process has claimed. */
export interface ClaimedDelivery {
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
const insert = statement<{ id: string; is_claimed: boolean }>(
  'webhookDeliveries.insert',
  `WITH given AS (
     SELECT * FROM (
       SELECT * FROM json_to_recordset($1) AS given (organization_id uuid, id uuid, webhook_id uuid, event_seq bigint,
         event_id uuid, event_type text, contact_id uuid, in_order boolean, claim boolean)
       ${FEW}
     ) given
     ${FEW}
   ), fresh AS (
     SELECT g.organization_id, g.id, g.webhook_id, g.event_seq, g.event_id, g.event_type, e.contact_id, g.in_order,
       CASE WHEN NOT g.in_order
         OR row_number() OVER (PARTITION BY g.webhook_id, e.contact_id ORDER BY g.event_seq) = 1 AND NOT EXISTS (
         SELECT FROM webhook_deliveries earlier
         WHERE earlier.organization_id = g.organization_id AND earlier.webhook_id = g.webhook_id
           AND earlier.contact_id = e.contact_id AND earlier.status = 'pending' AND earlier.in_order
       ) THEN $2::timestamptz END AS next_attempt_at, g.claim
     FROM given g
     JOIN webhooks w ON w.organization_id = g.organization_id AND w.id = g.webhook_id AND w.active
     JOIN events e ON e.organization_id = g.organization_id AND e.seq = g.event_seq AND e.data <> '{}'
   ), inserted AS (
     INSERT INTO webhook_deliveries (${NEW_COLUMNS}, process_id)
     SELECT ${NEW_COLUMNS}, CASE WHEN claim AND next_attempt_at IS NOT NULL THEN $3::integer END FROM fresh
     RETURNING id, next_attempt_at, process_id
   )
   SELECT id, process_id IS NOT NULL AS is_claimed FROM inserted WHERE next_attempt_at IS NOT NULL`,
)

// If the contact was merged meanwhile, the delivery may have to wait now.
const record = statement<never>(
  'webhookDeliveries.record',
  `UPDATE webhook_deliveries d
   SET status = g.status, attempts = d.attempts || g.attempt, process_id = NULL,
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
   WHERE d.organization_id = g.organization_id AND d.id = g.id AND d.status = 'pending' AND d.process_id = $3`,
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

const CLAIMED = `d.organization_id, d.id, d.webhook_id, jsonb_array_length(d.attempts) AS attempted, to_json(e) AS event`

// Reads the contact from the rows, since it may have been merged since the attempt.
const promote = statement<ClaimedDelivery & { is_claimed: boolean }>(
  'webhookDeliveries.promote',
  `WITH ended AS (
     SELECT d.organization_id, d.webhook_id, d.contact_id, bool_or(g.claim) AS claim
     FROM (
       SELECT * FROM (
         SELECT * FROM json_to_recordset($1) AS g (organization_id uuid, id uuid, claim boolean) ${FEW}
       ) g ${FEW}
     ) g
     JOIN webhook_deliveries d ON d.organization_id = g.organization_id AND d.id = g.id
     WHERE d.in_order
     GROUP BY d.organization_id, d.webhook_id, d.contact_id
   ), promoted AS (
     UPDATE webhook_deliveries d
     SET next_attempt_at = $2, process_id = CASE WHEN ended.claim AND head.process_id IS NULL THEN $3 ELSE head.process_id END
     FROM ended
     CROSS JOIN LATERAL (
       SELECT w.id, w.next_attempt_at, w.process_id FROM webhook_deliveries w
       WHERE w.organization_id = ended.organization_id AND w.webhook_id = ended.webhook_id
         AND w.contact_id = ended.contact_id AND w.status = 'pending' AND w.in_order
       ORDER BY w.event_seq
       LIMIT 1
     ) head
     WHERE d.organization_id = ended.organization_id AND d.id = head.id AND head.next_attempt_at IS NULL
     RETURNING d.*, ended.claim AND head.process_id IS NULL AS is_claimed
   )
   SELECT ${CLAIMED}, d.is_claimed
   FROM promoted d
   ${JOIN_EVENT}`,
)

// A claim is void if its process is gone, or if it is of this process and not among those that it knows.
const claim = statement<ClaimedDelivery>(
  'webhookDeliveries.claim',
  `WITH lane AS (
     SELECT lane.* FROM (
       SELECT * FROM json_to_recordset($1) AS lane (organization_id uuid, webhook_id uuid, room integer, known uuid[])
       ${FEW}
     ) lane
     JOIN webhooks w ON w.organization_id = lane.organization_id AND w.id = lane.webhook_id AND w.active
   ), claimed AS (
     UPDATE webhook_deliveries d SET process_id = $3
     FROM (
       SELECT due.organization_id, due.id FROM lane CROSS JOIN LATERAL (
         SELECT c.organization_id, c.id FROM webhook_deliveries c
         WHERE c.organization_id = lane.organization_id AND c.webhook_id = lane.webhook_id AND c.next_attempt_at <= $2
           AND c.id <> ALL (lane.known) AND (
             c.process_id IS NULL OR c.process_id = $3 OR NOT EXISTS (SELECT FROM processes p WHERE p.id = c.process_id)
           )
         ORDER BY c.next_attempt_at
         LIMIT lane.room
         FOR UPDATE SKIP LOCKED
       ) due
     ) due
     WHERE d.organization_id = due.organization_id AND d.id = due.id
     RETURNING d.*
   )
   SELECT ${CLAIMED}
   FROM claimed d
   ${JOIN_EVENT}
   ORDER BY d.next_attempt_at, d.event_seq`,
)

/**
 * Inserts deliveries in order. Returns the ids of those that may be attempted at `now`; true: this process has claimed
 * it, because `claim` was set.
 */
export async function insertDeliveries(
  transaction: Queryable,
  processId: number,
  deliveries: readonly (NewDelivery & { claim: boolean })[],
  now: Date,
): Promise<Map<string, boolean>> {
  const rows = await transaction.run(insert, [JSON.stringify(deliveries), now, processId])
  return new Map(rows.map(({ id, is_claimed }) => [id, is_claimed]))
}

/**
 * Records attempts of this process at `now`, and ends its claims. A delivery whose claim is lost, or that was ended
 * meanwhile, for example because its contact was erased, stays as it is.
 */
export async function recordAttempts(
  transaction: Queryable,
  processId: number,
  results: readonly AttemptResult[],
  now: Date,
): Promise<void> {
  await transaction.run(record, [JSON.stringify(results), now, processId])
}

/** A delivery that was attempted, and whether this process can attempt the next one at once. */
export interface EndedDelivery {
  organization_id: string
  id: string
  claim: boolean
}

/** Makes deliveries due that waited for those of `deliveries` that have ended. */
export function promoteWaiting(
  transaction: Queryable,
  processId: number,
  deliveries: readonly EndedDelivery[],
  now: Date,
): Promise<(ClaimedDelivery & { is_claimed: boolean })[]> {
  return transaction.run(promote, [JSON.stringify(deliveries), now, processId])
}

/** Selects due deliveries of a webhook: at most `room`, without the `known` ones, which this process holds. */
export interface Lane {
  organization_id: string
  webhook_id: string
  room: number
  known: readonly string[]
}

/** Claims due deliveries of active webhooks, those that are due longest first. */
export function claimDeliveries(
  db: Queryable,
  processId: number,
  lanes: readonly Lane[],
  now: Date,
): Promise<ClaimedDelivery[]> {
  return db.run(claim, [JSON.stringify(lanes), now, processId])
}
