import type { Queryable } from '../../database/pool.js'
import { FEW, sharedStatement, statement } from '../../database/statement.js'
import type { EventPosition } from '../events/events.js'
import { EVENT_SNAPSHOT } from '../events/transaction-clock.js'

// How far the events of an organization have become deliveries.

interface FeedRow {
  organization_id: string
  window_from: string
  window_to: string | null
  seq: number | null
  webhooks: number
}

const read = sharedStatement<FeedRow>(
  'webhookFeeds.read',
  `SELECT f.organization_id, f.window_from::text, f.window_to::text, f.seq, w.count AS webhooks
   FROM webhook_feeds f JOIN organizations o ON o.id = f.organization_id CROSS JOIN LATERAL (
     SELECT count(*) FROM webhooks WHERE organization_id = f.organization_id AND active
   ) w
   WHERE f.organization_id = ANY ($1::uuid[]) AND w.count > 0`,
)

// As readEventWindows finds the first event of a window. Events are looked for only where webhooks would read them.
const findUnread = sharedStatement<{ organization_id: string }>(
  'webhookFeeds.findUnread',
  `SELECT f.organization_id
   FROM (
     SELECT f.* FROM webhook_feeds f JOIN organizations o ON o.id = f.organization_id
     WHERE EXISTS (SELECT FROM webhooks WHERE organization_id = f.organization_id AND active)
     OFFSET 0
   ) f
   WHERE f.window_to IS NOT NULL
     OR (
       SELECT true FROM events e
       WHERE e.organization_id = f.organization_id AND e.transaction_id >= pg_snapshot_xmax(f.window_from)
       ORDER BY e.transaction_id
       LIMIT 1
     )
     OR EXISTS (
       SELECT FROM pg_snapshot_xip(f.window_from) AS running (id)
       WHERE (
         SELECT true FROM events e
         WHERE e.organization_id = f.organization_id
           AND e.transaction_id >= running.id AND e.transaction_id <= running.id
         ORDER BY e.transaction_id
         LIMIT 1
       )
     )`,
)

const lock = sharedStatement<{ organization_id: string }>(
  'webhookFeeds.lock',
  `SELECT organization_id FROM webhook_feeds
   WHERE organization_id = ANY ($1::uuid[])
   FOR UPDATE SKIP LOCKED`,
)

const find = sharedStatement<{ organization_id: string }>(
  'webhookFeeds.find',
  `SELECT organization_id FROM webhook_feeds WHERE organization_id = ANY ($1::uuid[])`,
)

const lockOne = statement<never>(
  'webhookFeeds.lockOne',
  'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE',
)

// A separate statement after the lock, so that it sees every webhook enabled under that lock.
const skip = statement<never>(
  'webhookFeeds.skip',
  `UPDATE webhook_feeds SET window_from = ${EVENT_SNAPSHOT}, window_to = NULL, seq = NULL
   WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM webhooks WHERE organization_id = $1 AND active)`,
)

// The row lock checks the position again, if another transaction has moved it meanwhile.
const move = sharedStatement<{ organization_id: string }>(
  'webhookFeeds.move',
  `UPDATE webhook_feeds f SET window_from = g.window_from, window_to = g.window_to, seq = g.seq
   FROM (
     SELECT g.* FROM (
       SELECT * FROM json_to_recordset($1) AS g (organization_id uuid, window_from pg_snapshot, window_to pg_snapshot,
         seq bigint, stored_from text, stored_to text, stored_seq bigint)
       ${FEW}
     ) g
     JOIN webhook_feeds stored ON stored.organization_id = g.organization_id
       AND stored.window_from::text = g.stored_from AND stored.window_to::text IS NOT DISTINCT FROM g.stored_to
       AND stored.seq IS NOT DISTINCT FROM g.stored_seq
     FOR UPDATE OF stored SKIP LOCKED
   ) g
   WHERE f.organization_id = g.organization_id
   RETURNING f.organization_id`,
)

/** How far the events of an organization have become deliveries. */
export interface Feed {
  position: EventPosition
  /** The number of its active webhooks. */
  webhooks: number
}

/** The feeds of those of these organizations that have active webhooks. */
export async function readFeeds(db: Queryable, organizationIds: readonly string[]): Promise<Map<string, Feed>> {
  const rows = await db.run(read, [organizationIds])
  return new Map(
    rows.map(({ organization_id, window_from, window_to, seq, webhooks }) => [
      organization_id,
      { position: { windowFrom: window_from, windowTo: window_to, seq }, webhooks },
    ]),
  )
}

/** The organizations with active webhooks that may have events after the position of their feed. */
export async function findUnreadFeeds(db: Queryable): Promise<string[]> {
  const rows = await db.run(findUnread, [])
  return rows.map(({ organization_id }) => organization_id)
}

/**
 * Locks feeds until the transaction ends; only one transaction at a time decides what is due. Returns the
 * organizations of those that another transaction has locked.
 */
export async function lockFeeds(transaction: Queryable, organizationIds: readonly string[]): Promise<Set<string>> {
  const locked = new Set((await transaction.run(lock, [organizationIds])).map((row) => row.organization_id))
  const missing = organizationIds.filter((id) => !locked.has(id))
  // An organization without a feed has no webhooks any more.
  const found = missing.length > 0 ? await transaction.run(find, [missing]) : []
  return new Set(found.map((row) => row.organization_id))
}

/** Locks a feed, waiting for it, until the transaction ends. */
export async function lockFeed(transaction: Queryable, organizationId: string): Promise<void> {
  await transaction.run(lockOne, [organizationId])
}

/**
 * Moves the position past all current events if no webhook is active. The feed must be locked; a webhook may be enabled
 * later in the same transaction.
 */
export async function skipEvents(transaction: Queryable, organizationId: string): Promise<void> {
  await transaction.run(skip, [organizationId])
}

/**
 * Locks feeds until the transaction ends and moves them from their stored position. Returns the organizations of these;
 * the others are locked by another transaction, or it has moved them.
 */
export async function moveFeeds(
  transaction: Queryable,
  feeds: readonly { organizationId: string; stored: EventPosition; next: EventPosition }[],
): Promise<Set<string>> {
  const rows = feeds.map(({ organizationId, stored, next }) => ({
    ...{ organization_id: organizationId, window_from: next.windowFrom, window_to: next.windowTo, seq: next.seq },
    ...{ stored_from: stored.windowFrom, stored_to: stored.windowTo, stored_seq: stored.seq },
  }))
  const moved = await transaction.run(move, [JSON.stringify(rows)])
  return new Set(moved.map(({ organization_id }) => organization_id))
}
