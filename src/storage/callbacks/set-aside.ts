import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { FailedWork } from '../../model/jobs.js'
import { isDeadProcess } from '../processes/process-registry.js'
import { unpacked, WAITING_COLUMNS, type WaitingCallback } from './callbacks.js'

// A callback that failed alone is set aside with the keys (addresses, message ids) that it names. Later callbacks that
// name one of them are set aside behind it, so that the order per person holds: their `attempts` are 0, and their
// `run_at` is infinite until the one before them is done or has failed on its last attempt.

/** A failed attempt of a callback, and when the next one is due. */
export interface FailedAttempt {
  /** From 1. */
  attempts: number
  error: string
  /** Null after the last attempt. */
  runAt: Date | null
}

/** A callback that is set aside and due. */
export interface SetAsideCallback {
  callback: WaitingCallback
  /** The number of attempts until now. */
  attempts: number
  /** Why the last one failed. */
  error: string | null
  /** Whether the process has died that attempted it since. */
  died: boolean
}

/** SQL: sets when the callbacks behind `head` are due. `head` is a CTE of callback_id, created_at, keys and due_at. */
const setDue = (head: string) => `UPDATE set_aside_callbacks s SET run_at = h.due_at
     FROM ${head} h
     WHERE s.organization_id = $1 AND s.failed_at IS NULL AND s.attempts = 0 AND s.keys && h.keys
       AND (s.created_at, s.callback_id) > (h.created_at, h.callback_id)`

const setAside = statement<never>(
  'setAsideCallbacks.insert',
  `WITH added AS (
     INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, error, failed_at)
     SELECT $1, c.id, $3::text[], $4, coalesce($5, now()), $6, CASE WHEN $5::timestamptz IS NULL THEN now() END FROM callbacks c WHERE c.organization_id = $1 AND c.id = $2 AND c.waiting
     ON CONFLICT DO NOTHING
   )
   UPDATE callbacks SET waiting = false WHERE organization_id = $1 AND id = $2`,
)

const findKeys = statement<{ keys: string[] }>(
  'setAsideCallbacks.findKeys',
  `SELECT keys FROM set_aside_callbacks WHERE organization_id = $1 AND failed_at IS NULL AND keys && $2::text[]`,
)

// A process that seems dead counts at once, as for a turn.
const findDue = statement<WaitingCallback & Omit<SetAsideCallback, 'callback'>>(
  'setAsideCallbacks.findDue',
  `SELECT s.attempts, s.error,
     CASE WHEN s.process_id <> $3 THEN ${isDeadProcess('s.process_id')} ELSE false END AS died, ${WAITING_COLUMNS}
   FROM set_aside_callbacks s
   JOIN callbacks c ON c.organization_id = $1 AND c.id = s.callback_id
   LEFT JOIN instances i ON i.organization_id = $1 AND i.id = c.instance_id
   WHERE s.organization_id = $1 AND s.failed_at IS NULL AND s.run_at <= $2 AND NOT EXISTS (
     SELECT FROM set_aside_callbacks earlier
     WHERE earlier.organization_id = $1 AND earlier.failed_at IS NULL AND (earlier.created_at, earlier.callback_id) < (s.created_at, s.callback_id)
       AND earlier.keys && s.keys
   )
   ORDER BY s.created_at, s.callback_id
   LIMIT 1`,
)

const attempt = statement<never>(
  'setAsideCallbacks.attempt',
  'UPDATE set_aside_callbacks SET process_id = $3 WHERE organization_id = $1 AND callback_id = $2',
)

const fail = statement<never>(
  'setAsideCallbacks.fail',
  `WITH head AS (
     UPDATE set_aside_callbacks
     SET process_id = NULL, attempts = $3, error = $4, run_at = coalesce($5, $6), failed_at = CASE WHEN $5::timestamptz IS NULL THEN $6::timestamptz END
     WHERE organization_id = $1 AND callback_id = $2
     RETURNING callback_id, created_at, keys, CASE WHEN failed_at IS NULL THEN 'infinity' ELSE $6::timestamptz END AS due_at
   )
   ${setDue('head')}`,
)

const complete = statement<never>(
  'setAsideCallbacks.complete',
  `WITH head AS (
     DELETE FROM set_aside_callbacks WHERE organization_id = $1 AND callback_id = $2
     RETURNING callback_id, created_at, keys, $3::timestamptz AS due_at
   )
   ${setDue('head')}`,
)

const listFailed = sharedStatement<FailedWork>(
  'setAsideCallbacks.listFailed',
  `SELECT s.callback_id AS id, s.organization_id, o.slug AS organization, 'callback' AS task, s.attempts, s.failed_at, s.error
   FROM set_aside_callbacks s JOIN organizations o ON o.id = s.organization_id
   WHERE s.failed_at IS NOT NULL AND ($1::uuid IS NULL OR s.organization_id = $1)
   ORDER BY s.organization_id, s.callback_id
   LIMIT $2`,
)

const retry = sharedStatement<{ organization_id: string; id: string }>(
  'setAsideCallbacks.retry',
  `UPDATE set_aside_callbacks SET failed_at = NULL, process_id = NULL, attempts = 0, run_at = $3
   WHERE ($1::uuid IS NULL OR organization_id = $1) AND failed_at IS NOT NULL
     AND ($2::uuid[] IS NULL OR callback_id = ANY ($2))
   RETURNING organization_id, callback_id AS id`,
)

/**
 * Sets a waiting callback aside with the keys that it names. `failed`: its first failed attempt; null: it has not been
 * attempted, because one before it is set aside.
 */
export async function setCallbackAside(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  { keys, failed }: { keys: readonly string[]; failed: FailedAttempt | null },
): Promise<void> {
  const { attempts, error, runAt } = failed ?? { attempts: 0, error: null, runAt: 'infinity' }
  await db.run(setAside, [organizationId, callbackId, keys, attempts, runAt, error])
}

/** All keys of the set-aside callbacks that name one of these keys, without those that failed on every attempt. */
export async function findSetAsideKeys(
  db: Queryable,
  organizationId: string,
  keys: readonly string[],
): Promise<Set<string>> {
  const rows = await db.run(findKeys, [organizationId, keys])
  return new Set(rows.flatMap((row) => row.keys))
}

/** The first set-aside callback that is due at `now` and has none before it that names one of its keys; or null. */
export async function findDueCallback(
  db: Queryable,
  organizationId: string,
  now: Date,
  processId: number,
): Promise<SetAsideCallback | null> {
  const [row] = await db.run(findDue, [organizationId, now, processId])
  if (row === undefined) return null
  const { attempts, error, died, ...callback } = row
  return { callback: unpacked(callback), attempts, error, died }
}

/** Notes that this process attempts a set-aside callback, in case it dies with it. */
export async function noteAttempt(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  processId: number,
): Promise<void> {
  await db.run(attempt, [organizationId, callbackId, processId])
}

/** Records a failed attempt of a set-aside callback. After the last one, those behind it are due at `now`. */
export async function failSetAsideCallback(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  { attempts, error, runAt, now }: FailedAttempt & { now: Date },
): Promise<void> {
  await db.run(fail, [organizationId, callbackId, attempts, error, runAt, now])
}

/** Records that a set-aside callback is done; those behind it are due at `now`. */
export async function completeSetAsideCallback(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  now: Date,
): Promise<void> {
  await db.run(complete, [organizationId, callbackId, now])
}

/** The callbacks that failed on every attempt, of an organization (null: of all tenants), at most `limit`. */
export function listFailedCallbacks(
  db: Queryable,
  organizationId: string | null,
  limit: number,
): Promise<FailedWork[]> {
  return db.run(listFailed, [organizationId, limit])
}

/**
 * Gives failed callbacks of an organization (null: of all tenants) new attempts from `now` on: those with these ids
 * (null: all). Resolves to their ids.
 */
export function retryFailedCallbacks(
  db: Queryable,
  organizationId: string | null,
  ids: readonly string[] | null,
  now: Date,
): Promise<{ organization_id: string; id: string }[]> {
  return db.run(retry, [organizationId, ids, now])
}
