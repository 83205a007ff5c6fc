import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

// What readers of events have seen is told by ids of transactions (storage/events/events), which every PostgreSQL server counts by itself. A
// database that was dumped and restored into another server brings ids along that lie ahead there.

const tick = statement<never>(
  'transactionClock.tick',
  'UPDATE transaction_clock SET transaction_id = pg_current_xact_id()',
)

const lock = statement<never>('transactionClock.lock', 'SELECT FROM transaction_clock FOR UPDATE')

// The clock stands up to a minute behind the newest transaction, the readers do not.
const isAhead = statement<{ is_ahead: boolean }>(
  'transactionClock.isAhead',
  `SELECT greatest(
       (SELECT transaction_id FROM transaction_clock),
       (SELECT pg_snapshot_xmax(window_from) FROM webhook_feeds ORDER BY pg_snapshot_xmax(window_from) DESC LIMIT 1)
     ) > pg_snapshot_xmax(pg_current_snapshot()) AS is_ahead`,
)

// Ids below every one that is in use: 1 for what has become deliveries, 3 for what has not.
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

/** Notes how far the server's transactions have come. */
export async function tickTransactionClock(db: Queryable): Promise<void> {
  await db.run(tick, [])
}

/**
 * Makes the events of a database that was restored from another server readable in this one, and goes on with them where it ended
 * there; false where that is not needed. Of all tenants. Needs a transaction.
 */
export async function adoptRestoredEvents(transaction: Queryable): Promise<boolean> {
  // First the lock: what is compared has to be as it is once nobody else is at it.
  await transaction.run(lock, [])
  const [clock] = await transaction.run(isAhead, [])
  if (!clock?.is_ahead) return false
  await transaction.run(renumberEvents, [])
  await transaction.run(resetFeeds, [])
  await transaction.run(tick, [])
  return true
}
