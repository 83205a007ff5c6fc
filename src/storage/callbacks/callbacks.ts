import type { Queryable } from '../../database/pool.js'
import { organizationsOf, sharedStatement, statement } from '../../database/statement.js'
import { isPacked, packBody, unpackBody } from '../organizations/callback-bodies.js'
import { IS_OLD_CALLBACK } from '../organizations/retention.js'
import { isDeadProcess } from '../processes/process-registry.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'

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

const insert = sharedStatement<never>(
  'callbacks.insert',
  `INSERT INTO callbacks (organization_id, id, body, instance_id, traceparent, waiting)
   SELECT organization_id, id, CASE WHEN ${WRITES_AS_BEFORE} THEN body ELSE coalesce(packed, body) END, instance_id, traceparent, true
   FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[], $5::text[], $6::bytea[])
     AS given (organization_id, id, body, instance_id, traceparent, packed)`,
  { raises: 'callbacks' },
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
// shows whether another process has completed some of them meanwhile. The turn is written down, so that the next one
// knows whether its process died: the row then names a dead process and callbacks that are still waiting. It does not wait
// until that one was removed: processes that die at once would never count their deaths. A process that only lost its
// connection counts as one death; the end of the next turn forgets it, and so does a failover, as the table is unlogged.
const take = statement<
  { taken: boolean; hasSetAside: boolean; deaths: number; suspects: string[] } & Nullable<WaitingCallback>
>(
  'callbacks.take',
  `WITH lock AS (SELECT pg_try_advisory_lock(${lockOf('$1::uuid')}) AS taken), before AS (
     SELECT callback_ids, deaths + CASE WHEN process_id <> $4 AND ${isDeadProcess('process_id')} THEN 1 ELSE 0 END AS deaths
     FROM lock JOIN callback_turns ON lock.taken AND organization_id = $1 AND process_id IS NOT NULL
   ), waiting AS (
     SELECT ${WAITING_COLUMNS}
     FROM (
       SELECT w.*, sum(octet_length(body)) OVER (ORDER BY received_at, id ROWS UNBOUNDED PRECEDING) - octet_length(body) AS bytes_before
       FROM (SELECT * FROM callbacks WHERE organization_id = $1 AND waiting ORDER BY received_at, id LIMIT $2) w
     ) c
     LEFT JOIN instances i ON i.organization_id = $1 AND i.id = c.instance_id
     WHERE (SELECT taken FROM lock) AND c.bytes_before < $3 AND EXISTS (SELECT FROM organizations WHERE id = $1)
   ), begun AS (
     INSERT INTO callback_turns (organization_id, process_id, callback_ids, deaths)
     SELECT $1, $4, array_agg(id ORDER BY "receivedAt", id), coalesce((SELECT deaths FROM before), 0)
     FROM waiting HAVING count(*) > 0
     ON CONFLICT (organization_id) DO UPDATE
       SET process_id = $4, callback_ids = excluded.callback_ids, deaths = excluded.deaths
   )
   SELECT lock.taken, EXISTS (
       SELECT FROM set_aside_callbacks WHERE organization_id = $1 AND failed_at IS NULL
     ) AS "hasSetAside", coalesce(before.deaths, 0) AS deaths, coalesce(before.callback_ids, '{}') AS suspects, waiting.*
   FROM lock LEFT JOIN before ON true LEFT JOIN waiting ON true
   ORDER BY waiting."receivedAt", waiting.id`,
)

// The processes that see the lock free before the commit see that this process lives.
const release = statement<never>(
  'callbacks.release',
  `WITH ended AS (
     UPDATE callback_turns SET process_id = NULL, callback_ids = '{}', deaths = 0
     WHERE organization_id = $1 AND process_id IS NOT NULL
   )
   SELECT pg_advisory_unlock(${lockOf('$1')})`,
)

const correct = statement<never>(
  'callbacks.correctDeaths',
  'UPDATE callback_turns SET deaths = $2 WHERE organization_id = $1',
)

const complete = statement<{ completed: number }>(
  'callbacks.complete',
  `WITH completed AS (
     UPDATE callbacks SET waiting = false
     WHERE organization_id = $1 AND id = ANY ($2::uuid[]) AND waiting
     RETURNING id
   )
   SELECT count(*) AS completed FROM completed`,
)

// A text that is looked for at once is in one of the newest.
const listWith = statement<{ body: Buffer }>(
  'callbacks.listWith',
  `SELECT newest.body
   FROM (SELECT id, body FROM callbacks WHERE organization_id = $1 ORDER BY id DESC LIMIT 200) newest
   WHERE position(convert_to($2, 'UTF8') IN newest.body) > 0 OR ${isPacked('newest.body')}
   ORDER BY newest.id`,
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

const listWaiting = sharedStatement<{ organization_id: string }>(
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
const listBacklogged = sharedStatement<{ organization_id: string }>(
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
const prune = sharedStatement<{ count: number }>(
  'callbacks.prune',
  `WITH old AS (
     SELECT c.organization_id, c.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT c.organization_id, c.id FROM callbacks c
       WHERE c.organization_id = o.id AND ${IS_OLD_CALLBACK}
       ORDER BY c.id
       LIMIT $1
     ) c
     LIMIT $1
   ), pruned AS (
     DELETE FROM callbacks c USING old WHERE c.organization_id = old.organization_id AND c.id = old.id
     RETURNING c.id
   )
   SELECT count(*) FROM pruned`,
)

const MAX_COUNTED = 100_000

const figures = sharedStatement<CallbackFigures>(
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

/** Stores callbacks as waiting. */
export async function insertCallbacks(db: Queryable, callbacks: readonly StoredCallback[]): Promise<void> {
  const values = [
    callbacks.map((callback) => callback.organizationId),
    callbacks.map((callback) => callback.id),
    callbacks.map((callback) => callback.body),
    callbacks.map((callback) => callback.instanceId),
    callbacks.map((callback) => callback.traceparent),
    callbacks.map((callback) => packBody(callback.body)),
  ]
  await db.raise(insert, values, organizationsOf(callbacks))
}

/** The first waiting callbacks of an organization. */
export interface TakenCallbacks {
  /** In the order of their arrival. */
  callbacks: WaitingCallback[]
  /** Whether callbacks of the organization are set aside. */
  hasSetAside: boolean
  /** How many processes in a row have died while they processed some of the callbacks. */
  deaths: number
  /** The ids of the callbacks that the last of them had taken, in order. */
  suspects: string[]
}

/**
 * Locks the organization's callbacks for this connection, and reads the first waiting ones: at most `limit`, and none
 * after the one with which the bodies reach `bytes`. Null if another connection has the lock. The lock ends with the
 * connection, or with releaseCallbacks. Writes down that the process has taken them.
 */
export async function takeCallbacks(
  session: Queryable,
  organizationId: string,
  processId: number,
  { limit, bytes }: { limit: number; bytes: number },
): Promise<TakenCallbacks | null> {
  const rows = await session.run(take, [organizationId, limit, bytes, processId])
  const [first] = rows
  if (first?.taken !== true) return null
  const callbacks = rows.flatMap(({ taken, hasSetAside, deaths, suspects, ...row }) =>
    row.id === null ? [] : [unpacked(row as WaitingCallback)],
  )
  return { callbacks, hasSetAside: first.hasSetAside, deaths: first.deaths, suspects: first.suspects }
}

/** The callback with its body as it came. */
export function unpacked<Callback extends { body: Buffer }>(callback: Callback): Callback {
  return { ...callback, body: unpackBody(callback.body) }
}

/** Corrects the number of deaths of the turn that has taken the callbacks. */
export async function correctDeaths(session: Queryable, organizationId: string, deaths: number): Promise<void> {
  await session.run(correct, [organizationId, deaths])
}

/** Releases the lock of takeCallbacks. The turn has ended in order. */
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

/** The bodies of the organization's newest 200 callbacks that contain a text, in the order of their arrival. */
export async function listCallbacksWith(db: Queryable, organizationId: string, text: string): Promise<Buffer[]> {
  const rows = await db.run(listWith, [organizationId, text])
  return rows.map(({ body }) => unpackBody(body)).filter((body) => body.includes(text))
}

/** Counts the callbacks that are not done. */
export async function readCallbackFigures(db: Queryable): Promise<CallbackFigures> {
  const [row] = await db.run(figures, [])
  return row as CallbackFigures
}

/**
 * Deletes at most `limit` callbacks that are done, or have failed for good, and are older at `now` than their organization
 * keeps them; resolves to their number. Of all tenants.
 */
export async function pruneCallbacks(db: Queryable, now: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [limit, now])
  return row?.count ?? 0
}
