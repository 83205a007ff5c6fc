import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'
import { type EventPosition, type FeedPosition, writePositions } from '../events/events.js'

// How far the events of an organization have become deliveries. `holder` is the process of an older version that owns
// the feed; it locks the row for each write too, and reads the position again if another process has moved it.

interface FeedRow {
  organization_id: string
  window_from: string
  window_to: string | null
  seq: number | null
}

const COLUMNS = 'organization_id, window_from::text, window_to::text, seq'

const list = statement<FeedRow>(
  'webhookFeeds.list',
  `SELECT ${COLUMNS} FROM webhook_feeds WHERE organization_id = ANY (${opaqueArray('$1', 'uuid')})`,
)

const lock = statement<FeedRow>(
  'webhookFeeds.lock',
  `SELECT ${COLUMNS} FROM webhook_feeds
   WHERE organization_id = ANY (${opaqueArray('$1', 'uuid')})
   FOR UPDATE SKIP LOCKED`,
)

const lockOne = statement<never>(
  'webhookFeeds.lockOne',
  'SELECT FROM webhook_feeds WHERE organization_id = $1 FOR UPDATE',
)

// A separate statement after the lock, so that it sees every webhook enabled under that lock.
const skip = statement<never>(
  'webhookFeeds.skip',
  `UPDATE webhook_feeds SET window_from = pg_current_snapshot(), window_to = NULL, seq = NULL
   WHERE organization_id = $1 AND NOT EXISTS (SELECT FROM webhooks WHERE organization_id = $1 AND active)`,
)

const move = statement<never>(
  'webhookFeeds.move',
  `UPDATE webhook_feeds f SET window_from = g.window_from, window_to = g.window_to, seq = g.seq
   FROM json_to_recordset($1) AS g (organization_id uuid, window_from pg_snapshot, window_to pg_snapshot, seq bigint)
   WHERE f.organization_id = g.organization_id`,
)

/** The positions of the feeds of these organizations; an organization without webhooks has none. */
export async function listFeeds(
  db: Queryable,
  organizationIds: readonly string[],
): Promise<Map<string, EventPosition>> {
  return toPositions(await db.run(list, [organizationIds]))
}

/**
 * Locks feeds until the transaction ends, and returns their positions; only one transaction at a time decides what is
 * due. Feeds that another transaction has locked are skipped and missing in the result.
 */
export async function lockFeeds(
  transaction: Queryable,
  organizationIds: readonly string[],
): Promise<Map<string, EventPosition>> {
  return toPositions(await transaction.run(lock, [organizationIds]))
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

/** Stores how far the events of locked feeds have become deliveries. */
export async function moveFeeds(transaction: Queryable, feeds: readonly FeedPosition[]): Promise<void> {
  await transaction.run(move, [writePositions(feeds)])
}

function toPositions(rows: readonly FeedRow[]): Map<string, EventPosition> {
  return new Map(
    rows.map(({ organization_id, window_from, window_to, seq }) => [
      organization_id,
      { windowFrom: window_from, windowTo: window_to, seq },
    ]),
  )
}
