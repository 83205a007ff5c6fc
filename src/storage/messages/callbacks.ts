import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'

/** A callback's body as one organization may see it. */
export interface StoredCallback {
  organizationId: string
  id: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  body: Buffer
}

// The job rows go in without a notification, which would serialize the commits; the caller wakes the workers (see jobs/wake).
const insert = statement<{ jobs: number }>(
  'callbacks.insert',
  `WITH given AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[]) AS given (organization_id, id, body, instance_id)
   ), stored AS (
     INSERT INTO callbacks (organization_id, id, body, instance_id) SELECT organization_id, id, body, instance_id FROM given
   ), enqueued AS (
     INSERT INTO graphile_worker._private_jobs (task_id, payload)
     SELECT t.id, json_build_object('organizationId', given.organization_id, 'callbackId', given.id)
     FROM given, graphile_worker._private_tasks t
     WHERE t.identifier = 'receive_callback'
     ORDER BY given.id
     RETURNING id
   )
   SELECT count(*) AS jobs FROM enqueued`,
)

// Whoever signs bodies for a number of their own may begin them as a device's; so the kind of the instance counts, where it is there.
const find = statement<{ organization_id: string; id: string } & CallbackBody>(
  'callbacks.find',
  `SELECT c.organization_id, c.id, c.body, c.instance_id AS "instanceId", c.received_at AS "receivedAt",
     coalesce(i.kind = 'linked_device',
       c.instance_id IS NOT NULL AND substr(c.body, 1, 25) = '{"object":"linked_device"'::bytea) AS "isDevice"
   FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'uuid')}) AS wanted (organization_id, id)
   JOIN callbacks c ON c.organization_id = wanted.organization_id AND c.id = wanted.id
   JOIN organizations o ON o.id = c.organization_id
   LEFT JOIN instances i ON i.organization_id = c.organization_id AND i.id = c.instance_id`,
)

// One that has failed again and again settles nothing soon: nobody else's messages wait for it.
const listBacklogged = statement<{ organization_id: string }>(
  'callbacks.listBacklogged',
  `SELECT DISTINCT (j.payload ->> 'organizationId')::uuid AS organization_id
   FROM graphile_worker._private_jobs j
   JOIN graphile_worker._private_tasks t ON t.id = j.task_id
   WHERE t.identifier = 'receive_callback' AND j.attempts <= $2 AND j.created_at < $1`,
)

// By the ids, which stand in the order of time, and in the index. One whose job is still there has not been worked off: it waits, or
// failed for good.
const prune = statement<{ count: number }>(
  'callbacks.prune',
  `WITH old AS (
     SELECT c.organization_id, c.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT organization_id, id FROM callbacks
       WHERE organization_id = o.id AND id < $1 AND id::text NOT IN (
         SELECT j.payload ->> 'callbackId'
         FROM graphile_worker._private_jobs j
         JOIN graphile_worker._private_tasks t ON t.id = j.task_id
         WHERE t.identifier = 'receive_callback' AND j.payload ->> 'callbackId' IS NOT NULL
       )
       ORDER BY id
       LIMIT $2
     ) c
     LIMIT $2
   ), pruned AS (
     DELETE FROM callbacks c USING old WHERE c.organization_id = old.organization_id AND c.id = old.id
     RETURNING c.id
   )
   SELECT count(*) FROM pruned`,
)

const countFailed = statement<{ failed: number }>(
  'callbacks.countFailed',
  `SELECT count(*) AS failed
   FROM graphile_worker._private_jobs j
   JOIN graphile_worker._private_tasks t ON t.id = j.task_id
   WHERE t.identifier = 'receive_callback' AND j.attempts >= j.max_attempts`,
)

/** Stores callbacks with the jobs that work them off, all in one statement. */
export async function insertCallbacks(db: Queryable, callbacks: readonly StoredCallback[]): Promise<void> {
  const [row] = await db.run(insert, [
    callbacks.map((callback) => callback.organizationId),
    callbacks.map((callback) => callback.id),
    callbacks.map((callback) => callback.body),
    callbacks.map((callback) => callback.instanceId),
  ])
  if (row?.jobs !== callbacks.length) throw new Error('the task receive_callback is not registered: run parley migrate')
}

/** What a stored callback tells, and the instance that it came through. */
export type CallbackBody = Pick<StoredCallback, 'body' | 'instanceId'> & {
  receivedAt: Date
  /** A linked device told of it; everything else the upstream posted. */
  isDevice: boolean
}

/** The bodies of stored callbacks, in the order asked; null for one that is gone. */
export async function findCallbackBodies(
  db: Queryable,
  wanted: readonly { organizationId: string; callbackId: string }[],
): Promise<(CallbackBody | null)[]> {
  const rows = await db.run(find, [wanted.map((one) => one.organizationId), wanted.map((one) => one.callbackId)])
  const bodies = new Map(rows.map(({ id, ...callback }) => [id, callback]))
  return wanted.map((one) => bodies.get(one.callbackId) ?? null)
}

/** The organizations whose callbacks stored before `before` still wait to be worked off, those tried more than `attempts` times aside. */
export async function listBackloggedOrganizations(db: Queryable, before: Date, attempts: number): Promise<string[]> {
  const rows = await db.run(listBacklogged, [before, attempts])
  return rows.map((row) => row.organization_id)
}

/** How many callbacks were tried so often that they are not tried any more. Of all tenants. */
export async function countFailedCallbacks(db: Queryable): Promise<number> {
  const [row] = await db.run(countFailed, [])
  return row?.failed ?? 0
}

/**
 * Deletes at most `limit` callbacks with ids smaller than this one, but for those that have not been worked off; resolves to how many.
 * Of all tenants.
 */
export async function pruneCallbacks(db: Queryable, beforeId: string, limit: number): Promise<number> {
  const [row] = await db.run(prune, [beforeId, limit])
  return row?.count ?? 0
}
