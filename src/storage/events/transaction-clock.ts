import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { beginEventHistory } from './histories.js'

// Positions of readers consist of transaction ids (see storage/events/events), which each PostgreSQL server counts on
// its own. A database that was restored into another server contains ids that are still in the future there.

const tick = statement<never>(
  'transactionClock.tick',
  'UPDATE transaction_clock SET transaction_id = pg_current_xact_id(), snapshot = pg_current_snapshot()',
)

const lock = statement<never>('transactionClock.lock', 'SELECT FROM transaction_clock FOR UPDATE')

// The clock may lag up to a minute behind the newest transaction; the readers do not.
const isAhead = statement<{ is_ahead: boolean }>(
  'transactionClock.isAhead',
  `SELECT greatest(
       (SELECT transaction_id FROM transaction_clock),
       (SELECT pg_snapshot_xmax(window_from) FROM webhook_feeds ORDER BY pg_snapshot_xmax(window_from) DESC LIMIT 1)
     ) > pg_snapshot_xmax(pg_current_snapshot()) AS is_ahead`,
)

// Uses ids below all that are in use: 1 for events with deliveries, 3 for those without.
const renumberEvents = statement<never>(
  'transactionClock.renumberEvents',
  `UPDATE events e
   SET transaction_id = CASE WHEN f.organization_id IS NULL OR pg_visible_in_snapshot(e.transaction_id, f.window_from)
     OR e.seq <= f.seq AND pg_visible_in_snapshot(e.transaction_id, f.window_to) THEN '1' ELSE '3' END::xid8
   FROM organizations o
   LEFT JOIN webhook_feeds f ON f.organization_id = o.id
   WHERE e.organization_id = o.id`,
)

const resetFeeds = statement<never>(
  'transactionClock.resetFeeds',
  `UPDATE webhook_feeds SET window_from = '3:3:', window_to = NULL, seq = NULL`,
)

/** Whether the database was restored from another server and its events are not adopted yet. */
export async function isAheadOfServer(db: Queryable): Promise<boolean> {
  const [clock] = await db.run(isAhead, [])
  return clock?.is_ahead === true
}

/** Stores how far the server's transactions have come. */
export async function tickTransactionClock(db: Queryable): Promise<void> {
  await db.run(tick, [])
}

/**
 * Begins a new history of events if the database was restored or has moved to another server. Where that server's
 * transaction ids lag behind, makes the events readable and continues where the former server ended; true if so. Of all
 * organizations. Needs a transaction.
 */
export async function adoptRestoredEvents(transaction: Queryable): Promise<boolean> {
  // The lock comes first, so that the comparison sees the result of every other process.
  await transaction.run(lock, [])
  const isAhead = await isAheadOfServer(transaction)
  await beginEventHistory(transaction, !isAhead)
  if (!isAhead) return false
  await transaction.run(renumberEvents, [])
  await transaction.run(resetFeeds, [])
  await transaction.run(tick, [])
  return true
}
