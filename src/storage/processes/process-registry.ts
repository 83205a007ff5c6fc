import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/**
 * How long a process must have been found dead before another one removes it, so that its claims are void. One whose
 * connection was closed is registered again sooner.
 */
export const DEAD_MS = 900

/** First half of the advisory locks that show which processes are alive; the second half is the process's id. */
const LOCK_CLASS = 0x70_61_72_6c

/** SQL condition on a row of pg_locks: it is the lock that the process with this id (SQL) holds. */
const isLockOf = (id: string) =>
  `locktype = 'advisory' AND classid = ${LOCK_CLASS} AND objid = ${id} AND objsubid = 2 AND granted
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`

// The row is visible only after the commit, when its lock is already held.
const register = sharedStatement<{ id: number }>(
  'processes.register',
  `WITH registered AS (INSERT INTO processes (version) VALUES ($1) RETURNING id)
   SELECT id, pg_advisory_lock(${LOCK_CLASS}, id)::text FROM registered`,
)

const registerAgain = sharedStatement<never>(
  'processes.registerAgain',
  `WITH registered AS (
     INSERT INTO processes (id, version) OVERRIDING SYSTEM VALUE VALUES ($1, $2) ON CONFLICT DO NOTHING
   )
   SELECT pg_advisory_lock(${LOCK_CLASS}, $1)::text`,
)

const isAlive = sharedStatement<{ alive: boolean }>(
  'processes.isAlive',
  `SELECT EXISTS (
     SELECT FROM pg_locks
     WHERE ${isLockOf('$1')}
   ) AS alive`,
)

/** What a process finds when it looks for dead ones. */
interface Look {
  /** The database's time, which each process follows. */
  now: Date
  /** Whether the process itself has its row and its lock. */
  isRegistered: boolean
  /** All dead processes; none while the process itself is not registered. */
  dead: number[]
}

/** A process that is running. */
export interface LiveProcess {
  id: number
  /** Its version of Parley, such as 1.0.0. */
  version: string
  started_at: Date
  /** From where PostgreSQL sees it connected; null: through a socket of its own machine. */
  address: string | null
}

/** SQL condition: the lock of the process with this id (SQL) is free. */
export function isDeadProcess(id: string): string {
  return `NOT EXISTS (
     SELECT FROM pg_locks
     WHERE ${isLockOf(id)}
   )`
}

/** SQL condition: the process with this id (SQL) is not registered any more. Dead ones are removed after DEAD_MS. */
export function isGoneProcess(id: string): string {
  return `${id} <> ALL (ARRAY(SELECT id FROM processes))`
}

const listAlive = sharedStatement<LiveProcess>(
  'processes.listAlive',
  `SELECT p.id, p.version, p.started_at, host(a.client_addr) AS address
   FROM processes p
     JOIN pg_locks l ON ${isLockOf('p.id')}
     LEFT JOIN pg_stat_activity a ON a.pid = l.pid
   ORDER BY p.id`,
)

const removeDead = sharedStatement<Look>(
  'processes.removeDead',
  `WITH own AS (
     SELECT FROM processes WHERE id = $1 AND NOT (${isDeadProcess('processes.id')})
   ), dead AS (
     SELECT id FROM processes WHERE EXISTS (SELECT FROM own) AND id <> $1 AND ${isDeadProcess('processes.id')}
   ), removed AS (
     DELETE FROM processes WHERE id = ANY ($2::int[]) AND id IN (SELECT id FROM dead)
   )
   SELECT clock_timestamp() AS now, EXISTS (SELECT FROM own) AS "isRegistered", ARRAY(SELECT id FROM dead) AS dead`,
)

const readTime = sharedStatement<{ now: Date }>('processes.readTime', 'SELECT clock_timestamp() AS now')

const remove = sharedStatement<never>('processes.remove', 'DELETE FROM processes WHERE id = $1')

const lastSeen = sharedStatement<{ seen_at: Date }>('processes.lastSeen', 'SELECT seen_at FROM service_uptime')

const seen = sharedStatement<{ up_since: Date }>(
  'processes.seen',
  `INSERT INTO service_uptime AS u (up_since, seen_at) VALUES ($1, $1)
   ON CONFLICT (singleton) DO UPDATE
     SET up_since = CASE WHEN $1 - u.seen_at > interval '3 minutes' THEN $1 ELSE u.up_since END,
       seen_at = greatest(u.seen_at, $1)
   RETURNING up_since`,
)

/**
 * Registers this process and takes its lock on a connection of its own; PostgreSQL releases the lock when the
 * connection ends, however the process ends. `version`: of Parley. Returns the process's id.
 */
export async function registerProcess(connection: Pick<Queryable, 'run'>, version: string): Promise<number> {
  const [row] = await connection.run(register, [version])
  return (row as { id: number }).id
}

/** Takes the lock again on a new connection. */
export async function registerProcessAgain(
  connection: Pick<Queryable, 'run'>,
  processId: number,
  version: string,
): Promise<void> {
  await connection.run(registerAgain, [processId, version])
}

/** True if the process still holds its lock. */
export async function isProcessAlive(db: Queryable, processId: number): Promise<boolean> {
  const rows = await db.run(isAlive, [processId])
  return rows[0]?.alive === true
}

/** The processes that are running. */
export function listProcesses(db: Queryable): Promise<LiveProcess[]> {
  return db.run(listAlive, [])
}

/**
 * Removes those of `suspects` that are dead. A process that is not registered itself removes none: after a failover,
 * others may be about to be registered again, as it is.
 */
export async function removeDeadProcesses(
  db: Queryable,
  processId: number,
  suspects: readonly number[],
): Promise<Look> {
  const [row] = await db.run(removeDead, [processId, suspects])
  return row as Look
}

/** The database's time. */
export async function readDatabaseTime(db: Queryable): Promise<Date> {
  const [row] = await db.run(readTime, [])
  return (row as { now: Date }).now
}

/** Removes this process at an orderly shutdown. */
export async function removeProcess(db: Queryable, processId: number): Promise<void> {
  await db.run(remove, [processId])
}

/** Stores that the service is up at `now`; returns since when it has been up without a break of more than 3 minutes. */
export async function noteUptime(db: Queryable, now: Date): Promise<Date> {
  const [row] = await db.run(seen, [now])
  return (row as { up_since: Date }).up_since
}

/** When a service last noted that it is up; null: never. */
export async function findLastUse(db: Queryable): Promise<Date | null> {
  const [row] = await db.run(lastSeen, [])
  return row?.seen_at ?? null
}
