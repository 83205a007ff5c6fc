import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'
import { type EventPosition, type FeedPosition, writePositions } from '../events/events.js'

interface FeedRow {
  organization_id: string
  window_from: string
  window_to: string | null
  seq: number | null
}

const COLUMNS = 'organization_id, window_from::text, window_to::text, seq'

// Skips rows that another process is claiming.
const claim = statement<FeedRow>(
  'webhookFeeds.claim',
  `UPDATE webhook_feeds SET holder = $1
   WHERE organization_id IN (
     SELECT f.organization_id FROM webhook_feeds f JOIN organizations o ON o.id = f.organization_id
     WHERE f.holder IS NULL OR NOT EXISTS (SELECT FROM processes p WHERE p.id = f.holder)
     ORDER BY f.organization_id
     LIMIT $2
     FOR UPDATE OF f SKIP LOCKED
   )
   RETURNING ${COLUMNS}`,
)

const share = statement<{ feeds: number; processes: number }>(
  'webhookFeeds.share',
  `SELECT (SELECT count(*) FROM webhook_feeds) AS feeds,
     (SELECT count(*) FROM processes WHERE worker_ids <> '{}') AS processes`,
)

const listHeld = statement<FeedRow>('webhookFeeds.listHeld', `SELECT ${COLUMNS} FROM webhook_feeds WHERE holder = $1`)

const lock = statement<FeedRow & { is_held: boolean }>(
  'webhookFeeds.lock',
  `SELECT ${COLUMNS}, holder IS NOT DISTINCT FROM $1 AS is_held FROM webhook_feeds
   WHERE organization_id = ANY (${opaqueArray('$2', 'uuid')})
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

const release = statement<never>(
  'webhookFeeds.release',
  'UPDATE webhook_feeds SET holder = NULL WHERE holder = $1 AND ($2::uuid[] IS NULL OR organization_id = ANY ($2))',
)

/** Claims up to `limit` feeds that no living process owns. */
export async function claimFeeds(db: Queryable, processId: number, limit: number): Promise<FeedPosition[]> {
  const rows = await db.run(claim, [processId, limit])
  return rows.map(toFeed)
}

/** The number of feeds, and of processes with workers. */
export async function countFeeds(db: Queryable): Promise<{ feeds: number; processes: number }> {
  const [row] = await db.run(share, [])
  return row as { feeds: number; processes: number }
}

/** The feeds that a process owns. */
export async function listOwnedFeeds(db: Queryable, processId: number): Promise<FeedPosition[]> {
  const rows = await db.run(listHeld, [processId])
  return rows.map(toFeed)
}

/** A locked feed: whether the process owns it, and how far its events have become deliveries. */
export interface LockedFeed {
  isOwned: boolean
  position: EventPosition
}

/**
 * Locks feeds until the transaction ends; only one transaction at a time decides what is due. Feeds that another
 * transaction has locked are skipped and missing in the result.
 */
export async function lockFeeds(
  transaction: Queryable,
  processId: number,
  organizationIds: readonly string[],
): Promise<Map<string, LockedFeed>> {
  const rows = await transaction.run(lock, [processId, organizationIds])
  return new Map(
    rows.map((row) => {
      const { organizationId, ...position } = toFeed(row)
      return [organizationId, { isOwned: row.is_held, position }]
    }),
  )
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

/** Releases feeds; null: all that the process owns. */
export async function releaseFeeds(
  db: Queryable,
  processId: number,
  organizationIds: readonly string[] | null,
): Promise<void> {
  await db.run(release, [processId, organizationIds])
}

function toFeed({ organization_id, window_from, window_to, seq }: FeedRow): FeedPosition {
  return { organizationId: organization_id, windowFrom: window_from, windowTo: window_to, seq }
}
