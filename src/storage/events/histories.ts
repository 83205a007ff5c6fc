import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** A history of the transactions of this database. */
export interface EventHistory {
  id: string
  /** The snapshot up to which positions of earlier histories are valid. */
  known_to: string
}

/** What a position is compared with. */
export interface EventHistories {
  /** At least one; the last one is the current one. */
  all: EventHistory[]
  /** False: the database has moved to another server, or the server was restored, since the last one began. */
  goesOn: boolean
}

/** SQL: the server and its timeline. A restore to a point in time and a failover begin a new timeline. */
const SERVER = `((pg_control_system()).system_identifier || '/' || left(pg_walfile_name(pg_current_wal_lsn()), 8))`

/** SQL: whether the last history is current: the database was not restored since. Evaluated once a statement. */
export const HISTORY_GOES_ON = `(SELECT ${SERVER} = (SELECT server FROM event_histories ORDER BY n DESC LIMIT 1))`

interface HistoryRow extends EventHistory {
  is_here: boolean
}

const read = sharedStatement<HistoryRow>(
  'eventHistories.read',
  `SELECT id, known_to::text, server = ${SERVER} AS is_here FROM event_histories ORDER BY n`,
)

const begin = sharedStatement<{ id: string }>(
  'eventHistories.begin',
  `INSERT INTO event_histories (server, known_to)
   SELECT ${SERVER}, coalesce(clock.snapshot, '1:1:') FROM transaction_clock clock
   WHERE NOT ${HISTORY_GOES_ON}
   RETURNING id`,
)

/** The histories of this database, oldest first. */
export async function readEventHistories(db: Queryable): Promise<EventHistories> {
  const rows = await db.run(read, [])
  return { all: rows, goesOn: rows.at(-1)?.is_here === true }
}

/**
 * Begins a new history if the server or its timeline is not that of the last one; true if so. Positions of before stay
 * valid up to the last tick of the clock. Needs a transaction that has locked the clock.
 */
export async function beginEventHistory(transaction: Queryable): Promise<boolean> {
  const begun = await transaction.run(begin, [])
  return begun.length > 0
}
