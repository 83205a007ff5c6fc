import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import { beginEventHistory, HISTORY_GOES_ON } from './histories.js'

// Positions of readers consist of transaction ids (see storage/events/events), which each PostgreSQL server counts on
// its own. The ids of events are the server's plus an offset (`ahead`), so that they continue above all ids in use
// when the database has moved to a server that has not come as far.

/** SQL: the snapshot of this statement in the ids of events. */
export const EVENT_SNAPSHOT = '(SELECT event_snapshot())'
/** SQL: the id of this transaction as its events have it. */
export const EVENT_TRANSACTION_ID = '(SELECT event_transaction_id())'

// After a restore it shows how far the last history has come, until the next one begins.
const tick = sharedStatement<never>(
  'transactionClock.tick',
  `UPDATE transaction_clock SET transaction_id = ${EVENT_TRANSACTION_ID}, snapshot = ${EVENT_SNAPSHOT}
   WHERE ${HISTORY_GOES_ON}`,
)

const lock = sharedStatement<never>('transactionClock.lock', 'SELECT FROM transaction_clock FOR UPDATE')

// The clock may lag up to a minute behind the newest transaction; the readers and the events do not.
const findLead = sharedStatement<{ lead: number }>(
  'transactionClock.findLead',
  `SELECT max(used.next) - pg_snapshot_xmax(${EVENT_SNAPSHOT})::text::bigint AS lead
   FROM (
     SELECT transaction_id::text::bigint + 1 AS next FROM transaction_clock
     UNION ALL
     SELECT pg_snapshot_xmax(coalesce(window_to, window_from))::text::bigint FROM webhook_feeds
     UNION ALL
     SELECT last.transaction_id::text::bigint + 1
     FROM organizations o CROSS JOIN LATERAL (
       SELECT transaction_id FROM events WHERE organization_id = o.id ORDER BY transaction_id DESC, seq DESC LIMIT 1
     ) last
   ) used`,
)

const moveAhead = sharedStatement<never>(
  'transactionClock.moveAhead',
  'UPDATE transaction_clock SET ahead = ahead + $1::bigint',
)

/** Whether the database has moved to a server that has not come as far, and no service has started there yet. */
export async function isAheadOfServer(db: Queryable): Promise<boolean> {
  return (await leadOf(db)) > 0
}

/** Stores how far the transactions have come. */
export async function tickTransactionClock(db: Queryable): Promise<void> {
  await db.run(tick, [])
}

/**
 * Begins a new history of events if the database was restored or has moved to another server; true if so. Events
 * continue where the former server ended. Needs a transaction.
 */
export async function adoptRestoredEvents(transaction: Queryable): Promise<boolean> {
  // The lock comes first, so that the comparison sees the result of every other process.
  await transaction.run(lock, [])
  const lead = await leadOf(transaction)
  if (lead > 0) await transaction.run(moveAhead, [lead])
  return beginEventHistory(transaction)
}

/** By how much the ids in use are ahead of the next one; at most 0: they are not. */
async function leadOf(db: Queryable): Promise<number> {
  const [found] = await db.run(findLead, [])
  return found?.lead ?? 0
}
