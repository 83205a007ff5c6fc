import type { Queryable } from '../../database/pool.js'
import { opaqueArray, statement } from '../../database/statement.js'
import { enqueueJobs } from '../jobs/enqueue.js'

/** A callback's body, cut to the changes of one organization. */
export interface StoredCallback {
  organizationId: string
  id: string
  /** The instance that it came through; null: the organization's own number. */
  instanceId: string | null
  body: Buffer
}

const insert = statement<never>(
  'callbacks.insert',
  `WITH given AS (
     SELECT * FROM unnest($1::uuid[], $2::uuid[], $3::bytea[], $4::uuid[]) AS given (organization_id, id, body, instance_id)
   ), stored AS (
     INSERT INTO callbacks (organization_id, id, body, instance_id) SELECT organization_id, id, body, instance_id FROM given
   ), enqueued AS (
     ${enqueueJobs({
       task: 'receive_callback',
       organizationId: 'given.organization_id',
       payload: "jsonb_build_object('callbackId', given.id)",
       from: 'given ORDER BY given.id',
     })}
   )
   SELECT`,
)

// An app that signs its own bodies could imitate the format of linked devices, so the instance's kind decides if the
// instance exists.
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

// Callbacks that failed repeatedly are left out, because they are not likely to succeed soon.
const listBacklogged = statement<{ organization_id: string }>(
  'callbacks.listBacklogged',
  `SELECT DISTINCT organization_id FROM jobs
   WHERE task = 'receive_callback' AND attempts <= $2 AND requested_at < $1`,
)

// Finds old callbacks by their ids, which are ordered by time. A callback with a job is unprocessed: it waits, or
// failed on every attempt.
const prune = statement<{ count: number }>(
  'callbacks.prune',
  `WITH old AS (
     SELECT c.organization_id, c.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT organization_id, id FROM callbacks
       WHERE organization_id = o.id AND id < $1 AND id::text NOT IN (
         SELECT j.payload ->> 'callbackId' FROM jobs j WHERE j.organization_id = o.id AND j.task = 'receive_callback'
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
  `SELECT count(*) AS failed FROM jobs WHERE task = 'receive_callback' AND failed_at IS NOT NULL`,
)

/** Stores callbacks and enqueues their jobs in one statement. */
export async function insertCallbacks(db: Queryable, callbacks: readonly StoredCallback[]): Promise<void> {
  await db.run(insert, [
    callbacks.map((callback) => callback.organizationId),
    callbacks.map((callback) => callback.id),
    callbacks.map((callback) => callback.body),
    callbacks.map((callback) => callback.instanceId),
  ])
}

/** The body of a stored callback and the instance that it came through. */
export type CallbackBody = Pick<StoredCallback, 'body' | 'instanceId'> & {
  receivedAt: Date
  /** Whether it came from a linked device and not from the upstream. */
  isDevice: boolean
}

/** The bodies of stored callbacks, in the given order; null for deleted ones. */
export async function findCallbackBodies(
  db: Queryable,
  lookups: readonly { organizationId: string; callbackId: string }[],
): Promise<(CallbackBody | null)[]> {
  const rows = await db.run(find, [lookups.map((one) => one.organizationId), lookups.map((one) => one.callbackId)])
  const bodies = new Map(rows.map(({ id, ...callback }) => [id, callback]))
  return lookups.map((one) => bodies.get(one.callbackId) ?? null)
}

/**
 * The organizations with unprocessed callbacks stored before `before`, without those tried more than `attempts` times.
 */
export async function listBackloggedOrganizations(db: Queryable, before: Date, attempts: number): Promise<string[]> {
  const rows = await db.run(listBacklogged, [before, attempts])
  return rows.map((row) => row.organization_id)
}

/** The number of callbacks that failed on every attempt. Of all tenants. */
export async function countFailedCallbacks(db: Queryable): Promise<number> {
  const [row] = await db.run(countFailed, [])
  return row?.failed ?? 0
}

/** Deletes at most `limit` processed callbacks with ids below `beforeId`; resolves to their number. Of all tenants. */
export async function pruneCallbacks(db: Queryable, beforeId: string, limit: number): Promise<number> {
  const [row] = await db.run(prune, [beforeId, limit])
  return row?.count ?? 0
}
