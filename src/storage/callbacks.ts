import type { Queryable } from '../database/pool.js'
import { opaqueArray, statement } from '../database/statement.js'

/** A callback's body as one organization may see it. */
export interface StoredCallback {
  organizationId: string
  id: string
  body: Buffer
}

// The job rows go in without a notification, which would serialize the commits; the caller wakes the workers (see jobs/wake).
const insert = statement<{ jobs: number }>(
  'callbacks.insert',
  `WITH given AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[]) AS given (organization_id, id, body)
   ), stored AS (
     INSERT INTO callbacks (organization_id, id, body) SELECT organization_id, id, body FROM given
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

const find = statement<{ organization_id: string; id: string; body: Buffer }>(
  'callbacks.find',
  `SELECT c.organization_id, c.id, c.body
   FROM unnest(${opaqueArray('$1', 'uuid')}, ${opaqueArray('$2', 'uuid')}) AS wanted (organization_id, id)
   JOIN callbacks c ON c.organization_id = wanted.organization_id AND c.id = wanted.id`,
)

const hasBacklog = statement<{ waiting: boolean }>(
  'callbacks.hasBacklog',
  `SELECT EXISTS (
     SELECT FROM graphile_worker._private_jobs j
     JOIN graphile_worker._private_tasks t ON t.id = j.task_id
     WHERE t.identifier = 'receive_callback' AND j.attempts < j.max_attempts AND j.created_at < $1
   ) AS waiting`,
)

const prune = statement<never>(
  'callbacks.prune',
  `DELETE FROM callbacks c USING organizations o WHERE c.organization_id = o.id AND c.received_at < $1`,
)

/** Stores callbacks with the jobs that work them off, all in one statement. */
export async function insertCallbacks(db: Queryable, callbacks: readonly StoredCallback[]): Promise<void> {
  const [row] = await db.run(insert, [
    callbacks.map((callback) => callback.organizationId),
    callbacks.map((callback) => callback.id),
    callbacks.map((callback) => callback.body),
  ])
  if (row?.jobs !== callbacks.length) throw new Error('the task receive_callback is not registered: run parley migrate')
}

/** The bodies of stored callbacks, in the order asked; null for one that is gone. */
export async function findCallbackBodies(
  db: Queryable,
  wanted: readonly { organizationId: string; callbackId: string }[],
): Promise<(Buffer | null)[]> {
  const rows = await db.run(find, [wanted.map((one) => one.organizationId), wanted.map((one) => one.callbackId)])
  const bodies = new Map(rows.map((row) => [row.id, row.body]))
  return wanted.map((one) => bodies.get(one.callbackId) ?? null)
}

/** Whether callbacks stored before `before` still wait to be worked off. Of all tenants. */
export async function hasCallbackBacklog(db: Queryable, before: Date): Promise<boolean> {
  const rows = await db.run(hasBacklog, [before])
  return rows[0]?.waiting === true
}

/** Deletes callbacks received before `before`. Of all tenants. */
export async function pruneCallbacks(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
