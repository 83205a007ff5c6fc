import type { Queryable } from '../../database/pool.js'
import { FEW, sharedStatement } from '../../database/statement.js'
import { LAST_UUID, NIL_UUID } from '../../lib/bytes/id.js'
import type { EventRow } from '../../model/webhooks/event.js'
import type { AttemptRow } from '../../model/webhooks/webhook.js'
import { EVENT_COLUMNS, IS_SHOWN } from '../events/events.js'
import { isGoneProcess } from '../processes/process-registry.js'

// The deliveries as the dispatcher uses them. Whether a delivery waits for an earlier one of its contact is decided
// only by transactions that have the organization's feed locked: a waiting one has no next attempt until the earlier
// one has ended. A process claims a due delivery before it attempts it, and only it records the attempt.

/** How long after its claim a delivery of this process may be taken for lost. */
export const LOST_AFTER_MS = 30_000
/** How many webhooks a look passes at most. */
const MAX_WALK = 1_000

/** The columns that an insert sets. */
export const NEW_COLUMNS =
  'organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, next_attempt_at'

/** A webhook and its organization. */
export interface WebhookKey {
  organization_id: string
  webhook_id: string
}

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
  /** Others of its contact may wait for it. */
  in_order: boolean
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
const insert = sharedStatement<WebhookKey>(
  'webhookDeliveries.insert',
  `WITH given AS (
     SELECT * FROM (
       SELECT * FROM json_to_recordset($1) AS given (organization_id uuid, id uuid, webhook_id uuid, event_seq bigint,
         event_id uuid, event_type text, contact_id uuid, in_order boolean)
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
       ) THEN $2::timestamptz END AS next_attempt_at
     FROM given g
     JOIN webhooks w ON w.organization_id = g.organization_id AND w.id = g.webhook_id AND w.active
     JOIN events e ON e.organization_id = g.organization_id AND e.seq = g.event_seq AND ${IS_SHOWN}
   ), inserted AS (
     INSERT INTO webhook_deliveries (${NEW_COLUMNS}) SELECT ${NEW_COLUMNS} FROM fresh
     RETURNING organization_id, webhook_id, next_attempt_at
   )
   SELECT DISTINCT organization_id, webhook_id FROM inserted WHERE next_attempt_at IS NOT NULL`,
)

// If the contact was merged meanwhile, the delivery may have to wait now, and the next one is that of the contact that
// is left. The second update sees the table as it was before the first one. It finds its rows by ctid, since they were
// looked up just before.
const record = sharedStatement<WebhookKey>(
  'webhookDeliveries.record',
  `WITH recorded AS (
     UPDATE webhook_deliveries d
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
     WHERE d.organization_id = g.organization_id AND d.id = g.id AND d.status = 'pending' AND d.process_id = $3
     RETURNING d.organization_id, d.id, d.webhook_id, d.contact_id, d.in_order, d.status
   ), ended AS (
     SELECT DISTINCT organization_id, webhook_id, contact_id FROM recorded
     WHERE status <> 'pending' AND in_order
     ${FEW}
   ), next AS (
     UPDATE webhook_deliveries d SET next_attempt_at = $2
     FROM ended
     CROSS JOIN LATERAL (
       SELECT w.ctid, w.next_attempt_at
       FROM webhook_deliveries w
       WHERE w.organization_id = ended.organization_id AND w.webhook_id = ended.webhook_id
         AND w.contact_id = ended.contact_id AND w.status = 'pending' AND w.in_order
         AND w.id NOT IN (SELECT id FROM recorded WHERE status <> 'pending')
       ORDER BY w.event_seq
       LIMIT 1
     ) first
     WHERE d.organization_id = ended.organization_id AND d.ctid = first.ctid AND first.next_attempt_at IS NULL
     RETURNING d.organization_id, d.webhook_id
   )
   SELECT DISTINCT organization_id, webhook_id FROM next`,
)

/**
 * SQL condition: no process is attempting the delivery, as far as this process ($1) can know. A claim is void if its
 * process is gone. So is one of this process, after a while, that is not among those it knows ($2): the answer to the
 * statement was lost.
 */
const isFree = (row: string) => `(
           ${row}.process_id IS NULL OR CASE ${row}.process_id
             WHEN $1 THEN coalesce(${row}.claimed_at, '-infinity') < now() - interval '${LOST_AFTER_MS} ms'
               AND ${row}.id <> ALL ($2::uuid[])
             ELSE ${isGoneProcess(`${row}.process_id`)}
           END
         )`

// The LIMIT of the events makes the planner look each one up, instead of a scan. A process that is not registered claims
// nothing, because others would claim the same.
const claim = sharedStatement<ClaimedDelivery>(
  'webhookDeliveries.claim',
  `WITH wanted AS (
     SELECT wanted.* FROM (
       SELECT * FROM json_to_recordset($4) AS wanted (organization_id uuid, webhook_id uuid, places integer)
       LIMIT (SELECT json_array_length($4))
     ) wanted
     JOIN webhooks w ON w.organization_id = wanted.organization_id AND w.id = wanted.webhook_id AND w.active
     JOIN organizations o ON o.id = wanted.organization_id
     WHERE NOT (${isGoneProcess('$1::integer')})
   ), claimed AS (
     UPDATE webhook_deliveries d SET process_id = $1, claimed_at = clock_timestamp()
     FROM (
       SELECT due.organization_id, due.ctid FROM wanted CROSS JOIN LATERAL (
         SELECT c.organization_id, c.ctid FROM webhook_deliveries c
         WHERE c.organization_id = wanted.organization_id AND c.webhook_id = wanted.webhook_id
           AND c.next_attempt_at <= $3 AND ${isFree('c')}
         ORDER BY c.next_attempt_at
         LIMIT wanted.places
         FOR UPDATE SKIP LOCKED
       ) due
     ) due
     WHERE d.organization_id = due.organization_id AND d.ctid = due.ctid
     RETURNING d.*
   )
   SELECT d.organization_id, d.id, d.webhook_id, d.in_order, jsonb_array_length(d.attempts) AS attempted,
     to_json(e) AS event
   FROM claimed d
   LEFT JOIN LATERAL (
     SELECT ${EVENT_COLUMNS} FROM events e
     WHERE e.organization_id = d.organization_id AND e.seq = d.event_seq AND ${IS_SHOWN}
     LIMIT 1
   ) e ON true
   ORDER BY d.next_attempt_at, d.event_seq`,
)

const release = sharedStatement<never>(
  'webhookDeliveries.release',
  `UPDATE webhook_deliveries d SET process_id = NULL
   FROM (
     SELECT * FROM (SELECT * FROM json_to_recordset($1) AS g (organization_id uuid, id uuid) ${FEW}) g ${FEW}
   ) g
   WHERE d.organization_id = g.organization_id AND d.id = g.id AND d.status = 'pending' AND d.process_id = $2`,
)

// Walks the webhooks that have scheduled deliveries, by the index of these.
const findDue = sharedStatement<{ organization_id: string; webhook_id: string; is_due: boolean; is_cut: boolean }>(
  'webhookDeliveries.findDue',
  `WITH RECURSIVE walk (organization_id, webhook_id, n) AS (
     (
       SELECT organization_id, webhook_id, 1 FROM webhook_deliveries
       WHERE next_attempt_at IS NOT NULL AND organization_id <= $6 AND (organization_id, webhook_id) > ($4, $5)
       ORDER BY organization_id, webhook_id
       LIMIT 1
     )
     UNION ALL
     SELECT next.organization_id, next.webhook_id, walk.n + 1
     FROM walk CROSS JOIN LATERAL (
       SELECT organization_id, webhook_id FROM webhook_deliveries
       WHERE next_attempt_at IS NOT NULL AND organization_id <= $6
         AND (organization_id, webhook_id) > (walk.organization_id, walk.webhook_id)
       ORDER BY organization_id, webhook_id
       LIMIT 1
     ) next
     WHERE walk.n < ${MAX_WALK}
   ), looked AS (
     SELECT walk.*, EXISTS (
       SELECT FROM webhooks w WHERE w.organization_id = walk.organization_id AND w.id = walk.webhook_id AND w.active
     ) AND EXISTS (SELECT FROM organizations o WHERE o.id = walk.organization_id) AND coalesce((
       SELECT true FROM webhook_deliveries c
       WHERE c.organization_id = walk.organization_id AND c.webhook_id = walk.webhook_id AND c.next_attempt_at <= $3
         AND ${isFree('c')}
       ORDER BY c.next_attempt_at
       LIMIT 1
     ), false) AS is_due
     FROM walk
   )
   SELECT organization_id, webhook_id, is_due, n = ${MAX_WALK} AS is_cut FROM looked WHERE is_due OR n = ${MAX_WALK}`,
)

/** Inserts deliveries in order. Returns the webhooks with deliveries among them that are due at `now`. */
export async function insertDeliveries(
  transaction: Queryable,
  deliveries: readonly NewDelivery[],
  now: Date,
): Promise<WebhookKey[]> {
  return deliveries.length === 0 ? [] : transaction.run(insert, [JSON.stringify(deliveries), now])
}

/**
 * Records attempts of this process at `now`, ends its claims, and makes the deliveries due that waited for those that
 * have ended; returns the webhooks of these. The feeds must be locked. A delivery whose claim is lost, or that was ended
 * meanwhile, for example because its contact was erased, stays as it is.
 */
export function recordAttempts(
  transaction: Queryable,
  processId: number,
  results: readonly AttemptResult[],
  now: Date,
): Promise<WebhookKey[]> {
  return transaction.run(record, [JSON.stringify(results), now, processId])
}

/** Ends the claims of this process on deliveries that it has not attempted. */
export async function releaseDeliveries(
  db: Queryable,
  processId: number,
  deliveries: readonly Pick<ClaimedDelivery, 'organization_id' | 'id'>[],
): Promise<void> {
  const rows = deliveries.map(({ organization_id, id }) => ({ organization_id, id }))
  await db.run(release, [JSON.stringify(rows), processId])
}

/** This process, and the deliveries that it holds and claimed so long ago that their claims could be taken for lost. */
export interface Claimant {
  processId: number
  heldIds: readonly string[]
}

/** How many due deliveries of a webhook to claim. */
export interface Wanted {
  organization_id: string
  webhook_id: string
  places: number
}

/** Claims due deliveries of active webhooks, those that are due longest first. */
export function claimDeliveries(
  db: Queryable,
  { processId, heldIds }: Claimant,
  wanted: readonly Wanted[],
  now: Date,
): Promise<ClaimedDelivery[]> {
  return db.run(claim, [processId, heldIds, now, JSON.stringify(wanted)])
}

/** All webhooks, and those of one organization. */
export const ALL_WEBHOOKS = { after: { organization_id: NIL_UUID, webhook_id: NIL_UUID }, until: LAST_UUID }
export const webhooksOf = (organization_id: string) => {
  return { after: { organization_id, webhook_id: NIL_UUID }, until: organization_id }
}

/**
 * The active webhooks with deliveries that are due and unclaimed, after one webhook until those of an organization. The
 * cost follows the number of webhooks with scheduled deliveries; after 1,000 of them, `reached` says where to continue.
 */
export async function findDueWebhooks(
  db: Queryable,
  { processId, heldIds }: Claimant,
  { after, until }: { after: WebhookKey; until: string },
  now: Date,
): Promise<{ due: WebhookKey[]; reached: WebhookKey | null }> {
  const rows = await db.run(findDue, [processId, heldIds, now, after.organization_id, after.webhook_id, until])
  return { due: rows.filter(({ is_due }) => is_due), reached: rows.find(({ is_cut }) => is_cut) ?? null }
}
