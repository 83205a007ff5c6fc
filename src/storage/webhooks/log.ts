import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { COUNT_LIMIT } from '../../model/page.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { type AttemptRow, type Delivery, type DeliveryStatus, TEST_KIND } from '../../model/webhooks/webhook.js'
import { EVENT_COLUMNS, IS_SHOWN } from '../events/events.js'
import { raiseEvents } from '../events/raise.js'
import { IS_OLD_DELIVERY } from '../organizations/retention.js'
import { NEW_COLUMNS } from './deliveries.js'
import { eventWebhook } from './webhooks.js'

const DELIVERY_COLUMNS = `organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, status, attempts,
  next_attempt_at, attempted_at, created_at`

/** How many of the newest deliveries a filter by status looks through, unless it names a webhook. */
export const LOOKED_THROUGH = 100_000

// The number in a SELECT hides it from the planner, which then reads row by row along the key until the page is full,
// instead of sorting all rows.
const NEWEST = `SELECT * FROM webhook_deliveries WHERE organization_id = $1 ORDER BY id DESC LIMIT (SELECT ${LOOKED_THROUGH})`

const listAll = statement<Delivery>(
  'webhookLog.listAll',
  `SELECT ${DELIVERY_COLUMNS}
   FROM (${NEWEST}) d
   WHERE $2::text IS NULL OR status = $2
   ORDER BY id DESC
   LIMIT $3 OFFSET $4`,
  { isHeavy: true },
)

const listOfWebhook = statement<Delivery>(
  'webhookLog.listOfWebhook',
  `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries
   WHERE organization_id = $1 AND webhook_id = $5 AND ($2::text IS NULL OR status = $2)
   ORDER BY id DESC
   LIMIT $3 OFFSET $4`,
)

const countAll = statement<{ count: number }>(
  'webhookLog.countAll',
  `SELECT count(*) FROM (SELECT FROM webhook_deliveries WHERE organization_id = $1 LIMIT ${COUNT_LIMIT}) found`,
)

const countOfStatus = statement<{ count: number }>(
  'webhookLog.countOfStatus',
  `SELECT count(*) FROM (SELECT FROM (${NEWEST}) d WHERE status = $2 LIMIT ${COUNT_LIMIT}) found`,
  { isHeavy: true },
)

const countOfWebhook = statement<{ count: number }>(
  'webhookLog.countOfWebhook',
  `SELECT count(*) FROM (
     SELECT FROM webhook_deliveries
     WHERE organization_id = $1 AND webhook_id = $3 AND ($2::text IS NULL OR status = $2)
     LIMIT ${COUNT_LIMIT}
   ) found`,
)

const older = statement<never>(
  'webhookLog.older',
  `SELECT FROM webhook_deliveries WHERE organization_id = $1 ORDER BY id DESC OFFSET ${LOOKED_THROUGH} LIMIT 1`,
)

const find = statement<Delivery>(
  'webhookLog.find',
  `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries WHERE organization_id = $1 AND id = $2`,
)

const findEvent = statement<EventRow>(
  'webhookLog.findEvent',
  `SELECT ${EVENT_COLUMNS} FROM events e WHERE e.organization_id = $1 AND e.seq = $2 AND ${IS_SHOWN}`,
)

const replay = statement<Delivery>(
  'webhookLog.replay',
  `INSERT INTO webhook_deliveries (${NEW_COLUMNS})
   SELECT $1, $3, d.webhook_id, e.seq, e.id, e.type, e.contact_id, false, $4
   FROM webhook_deliveries d
   JOIN webhooks w ON w.organization_id = $1 AND w.id = d.webhook_id
   JOIN events e ON e.organization_id = $1 AND e.seq = d.event_seq AND ${IS_SHOWN}
   WHERE d.organization_id = $1 AND d.id = $2
   RETURNING ${DELIVERY_COLUMNS}`,
)

const findRange = statement<{ seq: number }>(
  'webhookLog.findRange',
  `SELECT e.seq FROM events e
   WHERE e.organization_id = $1 AND e.created_at >= $2 AND e.created_at < $3 AND e.type = ANY ($4) AND ${IS_SHOWN}
   ORDER BY e.seq
   LIMIT $5`,
)

const readRange = statement<EventRow>(
  'webhookLog.readRange',
  `SELECT ${EVENT_COLUMNS} FROM events e
   WHERE e.organization_id = $1 AND e.seq > $4 AND e.created_at >= $2 AND e.created_at < $3 AND ${IS_SHOWN}
   ORDER BY e.seq
   LIMIT $5`,
)

const replayRange = statement<{ id: string }>(
  'webhookLog.replayRange',
  `INSERT INTO webhook_deliveries (${NEW_COLUMNS})
   SELECT $1, given.id, w.id, e.seq, e.id, e.type, e.contact_id, false, $5
   FROM unnest($3::uuid[], $4::bigint[]) AS given (id, seq)
   CROSS JOIN LATERAL (
     SELECT * FROM events WHERE ${ofOrganization('organization_id', '$1::uuid')} AND seq = given.seq OFFSET 0
   ) e
   JOIN webhooks w ON w.organization_id = $1 AND w.id = $2
   WHERE ${IS_SHOWN}
   RETURNING id`,
)

// Deliveries of one statement have the same time, to the microsecond.
const countReplayed = statement<{ count: number }>(
  'webhookLog.countReplayed',
  `SELECT count(*) FROM webhook_deliveries d
   JOIN webhook_deliveries first ON first.organization_id = $1 AND first.id = $2
   WHERE d.organization_id = $1 AND d.id >= first.id AND d.webhook_id = first.webhook_id AND d.created_at = first.created_at
     AND NOT d.in_order`,
)

const insertTest = statement<Delivery>(
  'webhookLog.insertTest',
  `WITH event AS (
     ${raiseEvents({
       from: 'webhooks w WHERE w.organization_id = $1 AND w.id = $2',
       id: '$3',
       type: `'${TEST_KIND}'`,
       data: `jsonb_build_object('webhook', ${eventWebhook('w')})`,
     })}
     RETURNING seq, id, type
   )
   INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, next_attempt_at)
   SELECT $1, $4, $2, seq, id, type, false, $5 FROM event
   RETURNING ${DELIVERY_COLUMNS}`,
  { raises: 'events' },
)

const tail = statement<Delivery>(
  'webhookLog.tail',
  `SELECT ${DELIVERY_COLUMNS} FROM webhook_deliveries
   WHERE organization_id = $1 AND attempted_at >= $2 AND (attempted_at, id) > ($2, $3)
   ORDER BY attempted_at, id
   LIMIT $4`,
)

// Of the newest attempts of all webhooks, which an index has in their order.
const lastAttempts = statement<LastAttempt>(
  'webhookLog.lastAttempts',
  `SELECT DISTINCT ON (newest.webhook_id) newest.webhook_id, newest.attempt
   FROM (
     SELECT webhook_id, attempts -> -1 AS attempt, attempted_at FROM webhook_deliveries
     WHERE organization_id = $1 AND attempted_at IS NOT NULL
     ORDER BY attempted_at DESC, id DESC LIMIT 1000
   ) newest
   ORDER BY newest.webhook_id, newest.attempted_at DESC`,
)

const sweep = statement<{ count: number }>(
  'webhookLog.sweep',
  `WITH swept AS (
     DELETE FROM webhook_deliveries
     WHERE organization_id = $1 AND id IN (
       SELECT id FROM webhook_deliveries WHERE organization_id = $1 AND webhook_id = $2 LIMIT $3
     )
     RETURNING id
   )
   SELECT count(*) FROM swept`,
)

// Ids are in the order of time and indexed. A pending delivery that others of its contact wait for stays.
const prune = sharedStatement<{ count: number }>(
  'webhookLog.prune',
  `WITH old AS (
     SELECT d.organization_id, d.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT d.organization_id, d.id FROM webhook_deliveries d
       WHERE d.organization_id = o.id AND ${IS_OLD_DELIVERY}
       ORDER BY d.id
       LIMIT $1
     ) d
     LIMIT $1
   ), pruned AS (
     DELETE FROM webhook_deliveries d USING old
     WHERE d.organization_id = old.organization_id AND d.id = old.id
     RETURNING d.id
   )
   SELECT count(*) FROM pruned`,
)

/** Filters deliveries; null: no filter. */
export interface DeliveryFilter {
  webhookId: string | null
  status: DeliveryStatus | null
}

/**
 * A page of deliveries, newest first, and their number, counted up to `COUNT_LIMIT`. Without a webhook, only the newest
 * `LOOKED_THROUGH` are looked through.
 */
export async function listDeliveryPage(
  db: Queryable,
  organizationId: string,
  { webhookId, status }: DeliveryFilter,
  { skip, limit }: { skip: number; limit: number },
): Promise<{ deliveries: Delivery[]; total: number }> {
  const values = [organizationId, status, limit, skip]
  const [deliveries, [counted]] = await Promise.all([
    webhookId === null ? db.run(listAll, values) : db.run(listOfWebhook, [...values, webhookId]),
    countDeliveries(db, organizationId, { webhookId, status }),
  ])
  return { deliveries, total: counted?.count ?? 0 }
}

function countDeliveries(
  db: Queryable,
  organizationId: string,
  { webhookId, status }: DeliveryFilter,
): Promise<{ count: number }[]> {
  if (webhookId !== null) return db.run(countOfWebhook, [organizationId, status, webhookId])
  return status === null ? db.run(countAll, [organizationId]) : db.run(countOfStatus, [organizationId, status])
}

/** Whether there are deliveries that a filter by status does not look through. */
export async function hasOlderDeliveries(db: Queryable, organizationId: string): Promise<boolean> {
  return (await db.run(older, [organizationId])).length > 0
}

export async function findDelivery(db: Queryable, organizationId: string, id: string): Promise<Delivery | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/** The event of a delivery; null if it is gone or its contact was erased. */
export async function findDeliveredEvent(
  db: Queryable,
  organizationId: string,
  { event_seq }: Delivery,
): Promise<EventRow | null> {
  const rows = await db.run(findEvent, [organizationId, event_seq])
  return rows[0] ?? null
}

/** Delivers an event again as a new delivery; null if the delivery, its webhook or its event is gone. */
export async function insertReplay(
  db: Queryable,
  organizationId: string,
  deliveryId: string,
  { id, at }: { id: string; at: Date },
): Promise<Delivery | null> {
  const rows = await db.run(replay, [organizationId, deliveryId, id, at])
  return rows[0] ?? null
}

/** The seqs of at most `limit` events of these kinds from `from` until before `before`, in order. */
export async function findEventRange(
  db: Queryable,
  organizationId: string,
  { from, before, kinds }: { from: Date; before: Date; kinds: readonly string[] },
  limit: number,
): Promise<number[]> {
  const rows = await db.run(findRange, [organizationId, from, before, kinds, limit])
  return rows.map((row) => row.seq)
}

/** At most `limit` events from `from` until before `before` with a seq above `after`, in order. */
export function readEventRange(
  db: Queryable,
  organizationId: string,
  { from, before, after }: { from: Date; before: Date; after: number },
  limit: number,
): Promise<EventRow[]> {
  return db.run(readRange, [organizationId, from, before, after, limit])
}

/** Delivers events to a webhook as new deliveries with the given ids; returns their number. */
export async function insertReplays(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  { events, at }: { events: readonly { id: string; seq: number }[]; at: Date },
): Promise<number> {
  const ids = events.map((event) => event.id)
  const seqs = events.map((event) => event.seq)
  const rows = await db.run(replayRange, [organizationId, webhookId, ids, seqs, at])
  return rows.length
}

/** The number of deliveries of the insertReplays call whose first id this is; 0 if there is none. */
export async function countReplays(db: Queryable, organizationId: string, firstId: string): Promise<number> {
  const [row] = await db.run(countReplayed, [organizationId, firstId])
  return row?.count ?? 0
}

/** Raises an event for this webhook only, with its delivery; null if there is no such webhook. */
export async function insertTestDelivery(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  { id, eventId, at }: { id: string; eventId: string; at: Date },
): Promise<Delivery | null> {
  const rows = await db.raise(insertTest, [organizationId, webhookId, eventId, id, at], [organizationId])
  return rows[0] ?? null
}

/** A position in the order in which attempts were recorded; several may have the same time. */
export interface AttemptedPosition {
  at: Date
  id: string
}

/** At most `limit` deliveries whose last attempt was recorded after this position, in that order. */
export function listAttemptedDeliveries(
  db: Queryable,
  organizationId: string,
  after: AttemptedPosition,
  limit: number,
): Promise<Delivery[]> {
  return db.run(tail, [organizationId, after.at, after.id, limit])
}

/** The last attempt of a webhook. */
export interface LastAttempt {
  webhook_id: string
  attempt: AttemptRow
}

/** The last attempts of the organization's webhooks, one each, as far as they are among its newest 1,000. */
export function listLastAttempts(db: Queryable, organizationId: string): Promise<LastAttempt[]> {
  return db.run(lastAttempts, [organizationId])
}

/** Deletes at most `limit` deliveries of a webhook; returns their number. */
export async function sweepDeliveries(
  db: Queryable,
  organizationId: string,
  webhookId: string,
  limit: number,
): Promise<number> {
  const [row] = await db.run(sweep, [organizationId, webhookId, limit])
  return row?.count ?? 0
}

/**
 * Deletes at most `limit` finished deliveries that are not kept at `now`, of all organizations; returns their number.
 */
export async function pruneDeliveries(db: Queryable, now: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [limit, now])
  return row?.count ?? 0
}
