import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'
import { IS_OLD_CALLBACK } from '../organizations/retention.js'

/** A callback's body, cut to the changes of one organization. */
export interface StoredCallback {
  organizationId: string
  id: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  body: Buffer
  /** The trace of the request that brought it, if it is recorded; as in the header. */
  traceparent: string | null
}

/** A stored callback that is to be processed. */
export interface WaitingCallback extends Omit<StoredCallback, 'organizationId'> {
  receivedAt: Date
  /** Whether it came from a linked device and not from the upstream. */
  isDevice: boolean
}

/** First half of the advisory lock of an organization's callbacks; the second half is a hash of the organization. */
const LOCK_CLASS = 0x63_61_6c_6c
const lockOf = (organizationId: string) => `${LOCK_CLASS}, hashtext(${organizationId}::text)`

const insert = statement<never>(
  'callbacks.insert',
  `INSERT INTO callbacks (organization_id, id, body, instance_id, traceparent, waiting)
   SELECT organization_id, id, body, instance_id, traceparent, true
   FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::text[])
     AS given (organization_id, id, body, instance_id, traceparent)`,
)

/** The columns of a WaitingCallback, of a row `c` of callbacks and a row `i` of instances. */
// An app that signs its own bodies could imitate the format of linked devices, so the instance's kind decides if the
// instance exists.
export const WAITING_COLUMNS = `c.id, c.body, c.instance_id AS "instanceId", c.received_at AS "receivedAt", c.traceparent,
     coalesce(i.kind = 'linked_device',
       c.instance_id IS NOT NULL AND substr(c.body, 1, 25) = '{"object":"linked_device"'::bytea) AS "isDevice"`

type Nullable<Row> = { [Column in keyof Row]: Row[Column] | null }

// The server's clock decides the order of arrival: those of the processes, which make the ids, may differ. The lock is
// taken and the callbacks are read with one snapshot, which may be older than the lock: completeCallbacks
// shows whether another process has completed some of them meanwhile.
const take = statement<{ taken: boolean; hasSetAside: boolean } & Nullable<WaitingCallback>>(
  'callbacks.take',
  `WITH lock AS MATERIALIZED (SELECT pg_try_advisory_lock(${lockOf('$1::uuid')}) AS taken)
   SELECT lock.taken, EXISTS (
       SELECT FROM set_aside_callbacks WHERE organization_id = $1 AND failed_at IS NULL
     ) AS "hasSetAside", waiting.*
   FROM lock LEFT JOIN LATERAL (
     SELECT ${WAITING_COLUMNS}
     FROM (
       SELECT w.*, sum(octet_length(body)) OVER (ORDER BY received_at, id ROWS UNBOUNDED PRECEDING) - octet_length(body) AS bytes_before
       FROM (SELECT * FROM callbacks WHERE organization_id = $1 AND waiting ORDER BY received_at, id LIMIT $2) w
     ) c
     LEFT JOIN instances i ON i.organization_id = $1 AND i.id = c.instance_id
     WHERE c.bytes_before < $3 AND EXISTS (SELECT FROM organizations WHERE id = $1)
   ) waiting ON lock.taken
   ORDER BY waiting."receivedAt", waiting.id`,
)

const release = statement<never>('callbacks.release', `SELECT pg_advisory_unlock(${lockOf('$1')})`)

const complete = statement<{ completed: number }>(
  'callbacks.complete',
  `WITH completed AS (
     UPDATE callbacks SET waiting = false
     WHERE organization_id = $1 AND id = ANY (${opaqueArray('$2', 'uuid')}) AND waiting
     RETURNING id
   )
   SELECT count(*) AS completed FROM completed`,
)

/** SQL: walks from one organization with such rows to the next, so its cost does not depend on the number of rows. */
const walkOrganizations = (name: string, table: string, condition: string) => `${name} AS (
     (
       SELECT organization_id FROM ${table} WHERE ${condition} AND organization_id > $1 ORDER BY organization_id LIMIT 1
     )
     UNION ALL
     SELECT following.organization_id FROM ${name} CROSS JOIN LATERAL (
       SELECT organization_id FROM ${table}
       WHERE ${condition} AND organization_id > ${name}.organization_id ORDER BY organization_id LIMIT 1
     ) following
   )`

const listWaiting = statement<{ organization_id: string }>(
  'callbacks.listWaiting',
  `WITH RECURSIVE ${walkOrganizations('first', 'callbacks', 'waiting')},
     ${walkOrganizations('due', 'set_aside_callbacks', 'failed_at IS NULL AND run_at <= $2')}
   SELECT organization_id
   FROM (
     (SELECT organization_id FROM first LIMIT $3)
     UNION
     (SELECT organization_id FROM due LIMIT $3)
   ) found JOIN organizations o ON o.id = found.organization_id
   ORDER BY organization_id
   LIMIT $3`,
)

// Leaves out callbacks that failed repeatedly, because they are not likely to succeed soon, and those behind them.
const listBacklogged = statement<{ organization_id: string }>(
  'callbacks.listBacklogged',
  `SELECT o.id AS organization_id FROM organizations o
   WHERE EXISTS (
       SELECT FROM (
         SELECT received_at FROM callbacks WHERE organization_id = o.id AND waiting ORDER BY received_at LIMIT 1
       ) oldest
       WHERE received_at < $1
     ) OR EXISTS (
       SELECT FROM set_aside_callbacks
       WHERE organization_id = o.id AND failed_at IS NULL AND attempts BETWEEN 1 AND $2 AND created_at < $1
     )`,
)

// Finds old callbacks by their ids, which are ordered by time.
const prune = statement<{ count: number }>(
  'callbacks.prune',
  `WITH old AS (
     SELECT c.organization_id, c.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT c.organization_id, c.id FROM callbacks c
       WHERE c.organization_id = o.id AND ${IS_OLD_CALLBACK}
       ORDER BY c.id
       LIMIT $2
     ) c
     LIMIT $2
   ), pruned AS (
     DELETE FROM callbacks c USING old WHERE c.organization_id = old.organization_id AND c.id = old.id
     RETURNING c.id
   )
   SELECT count(*) FROM pruned`,
)

const MAX_COUNTED = 100_000

const figures = statement<CallbackFigures>(
  'callbacks.figures',
  `SELECT
     (SELECT count(*) FROM (SELECT FROM callbacks WHERE waiting LIMIT ${MAX_COUNTED}) counted) AS waiting,
     (
       SELECT extract(epoch FROM now() - min(oldest.received_at))::float8
       FROM organizations o CROSS JOIN LATERAL (
         SELECT received_at FROM callbacks WHERE organization_id = o.id AND waiting ORDER BY received_at LIMIT 1
       ) oldest
     ) AS "oldestSeconds",
     (SELECT count(*) FROM set_aside_callbacks WHERE failed_at IS NULL) AS "setAside",
     (SELECT count(*) FROM set_aside_callbacks WHERE failed_at IS NOT NULL) AS failed`,
)

/** Stores callbacks as waiting; the caller wakes the queue (`wakeCallbacks`). */
export async function insertCallbacks(db: Queryable, callbacks: readonly StoredCallback[]): Promise<void> {
  await db.run(insert, [
    callbacks.map((callback) => callback.organizationId),
    callbacks.map((callback) => callback.id),
    callbacks.map((callback) => callback.body),
    callbacks.map((callback) => callback.instanceId),
    callbacks.map((callback) => callback.traceparent),
  ])
}

/** The first waiting callbacks of an organization. */
export interface TakenCallbacks {
  /** In the order of their arrival. */
  callbacks: WaitingCallback[]
  /** Whether callbacks of the organization are set aside. */
  hasSetAside: boolean
}

/**
 * Locks the organization's callbacks for this connection, and reads the first waiting ones: at most `limit`, and none
 * after the one with which the bodies reach `bytes`. Null if another connection has the lock. The lock ends with the
 * connection, or with releaseCallbacks.
 */
export async function takeCallbacks(
  session: Queryable,
  organizationId: string,
  limit: number,
  bytes: number,
): Promise<TakenCallbacks | null> {
  const rows = await session.run(take, [organizationId, limit, bytes])
  const [first] = rows
  if (first?.taken !== true) return null
  const callbacks = rows.flatMap(({ taken, hasSetAside, ...row }) => (row.id === null ? [] : [row as WaitingCallback]))
  return { callbacks, hasSetAside: first.hasSetAside }
}

/** Releases the lock of takeCallbacks. */
export async function releaseCallbacks(session: Queryable, organizationId: string): Promise<void> {
  await session.run(release, [organizationId])
}

/** Marks waiting callbacks as done; resolves to the number of those that were waiting. */
export async function completeCallbacks(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<number> {
  const [row] = await db.run(complete, [organizationId, ids])
  return row?.completed ?? 0
}

/**
 * At most `limit` organizations with waiting callbacks, or with set-aside ones that are due at `now`, in the order of
 * their ids, after the id `after`.
 */
export async function listWaitingOrganizations(
  db: Queryable,
  after: string,
  now: Date,
  limit: number,
): Promise<string[]> {
  const rows = await db.run(listWaiting, [after, now, limit])
  return rows.map((row) => row.organization_id)
}

/**
 * The organizations with callbacks that have been waiting since before `before`, or that were set aside before then and
 * failed at most `attempts` times.
 */
export async function listBackloggedOrganizations(db: Queryable, before: Date, attempts: number): Promise<string[]> {
  const rows = await db.run(listBacklogged, [before, attempts])
  return rows.map((row) => row.organization_id)
}

/** The state of the queue of callbacks, of all tenants. */
export interface CallbackFigures {
  /** The number of waiting callbacks, counted up to 100,000. */
  waiting: number
  /** The age of the oldest waiting one in seconds; null if none waits. */
  oldestSeconds: number | null
  /** The number of those that failed and are retried, and of those behind them. */
  setAside: number
  /** The number of those that failed on every attempt. */
  failed: number
}

/** Counts the callbacks that are not done. */
export async function readCallbackFigures(db: Queryable): Promise<CallbackFigures> {
  const [row] = await db.run(figures, [])
  return row as CallbackFigures
}

/**
 * Deletes at most `limit` callbacks that are done and older at `now` than their organization keeps them; resolves to
 * their number. Of all tenants.
 */
export async function pruneCallbacks(db: Queryable, now: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [now, limit])
  return row?.count ?? 0
}
