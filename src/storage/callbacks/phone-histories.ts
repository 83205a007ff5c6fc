import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { ONLY_ONE } from '../../model/jobs.js'
import type { MessageError } from '../../model/messages/message.js'
import type { PhoneHistory } from '../../model/organizations/phone-history.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { MESSAGES_KEPT_SINCE } from '../organizations/retention.js'
import { unpacked } from './callbacks.js'

const COLUMNS =
  'id, instance_id, status, progress, phase, messages::float8 AS messages, error, started_at, updated_at, finished_at'

const store = statement<never>(
  'phoneHistories.store',
  `WITH stored AS (
     INSERT INTO phone_history_chunks (organization_id, callback_id) VALUES ($1, $2)
     ON CONFLICT (organization_id, callback_id) DO NOTHING
     RETURNING callback_id
   ), begun AS (
     -- From now on, erasures are remembered.
     INSERT INTO phone_histories (organization_id, id, instance_id) SELECT $1, $3::uuid, $4::uuid FROM stored
     ON CONFLICT (organization_id, instance_id) DO NOTHING
   )
   ${enqueueJobs({ task: 'import_phone_history', key: `'${ONLY_ONE}'`, from: 'stored' })}`,
  { enqueues: 'now' },
)

/** A callback with a part of a history. */
export interface HistoryChunk {
  callback_id: string
  instance_id: string | null
  /** Empty: it was erased. */
  body: Buffer
  received_at: Date
  traceparent: string | null
  /** How many of its messages are taken in. */
  reached: number
  /** How often it was begun since some of its messages were taken in, with this time. */
  attempts: number
  /** Since when the organization keeps messages; null: all are kept. */
  kept_since: Date | null
}

// An attempt counts before it is made: the process may die of it. Those that fail come after all others.
const next = statement<HistoryChunk>(
  'phoneHistories.next',
  `WITH first AS MATERIALIZED (
     SELECT callback_id FROM phone_history_chunks
     WHERE organization_id = $1
     ORDER BY attempts, callback_id
     LIMIT 1
   ), begun AS (
     UPDATE phone_history_chunks h SET attempts = h.attempts + 1 FROM first
     WHERE ${ofOrganization('h.organization_id', '$1::uuid')} AND h.callback_id = first.callback_id
     RETURNING h.callback_id, h.reached, h.attempts
   )
   SELECT b.callback_id, c.instance_id, c.body, c.received_at, c.traceparent, b.reached, b.attempts,
     (SELECT ${MESSAGES_KEPT_SINCE} FROM organizations o WHERE o.id = $1) AS kept_since
   FROM begun b JOIN callbacks c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = b.callback_id`,
)

const reach = statement<never>(
  'phoneHistories.reach',
  `UPDATE phone_history_chunks SET reached = $3, added = added + $4, attempts = 0
   WHERE ${ofOrganization('organization_id', '$1::uuid')} AND callback_id = $2`,
)

// As a callback that failed on every attempt. Retried, it is stored in the queue again.
const setAside = statement<never>(
  'phoneHistories.setAside',
  `WITH dropped AS (
     DELETE FROM phone_history_chunks WHERE ${ofOrganization('organization_id', '$1::uuid')} AND callback_id = $2
     RETURNING callback_id, attempts
   )
   INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, error, failed_at)
   SELECT $1, callback_id, '{}'::text[], attempts, now(), $3, now() FROM dropped
   ON CONFLICT DO NOTHING`,
)

const count = statement<never>(
  'phoneHistories.count',
  `INSERT INTO phone_histories AS h (organization_id, id, instance_id, messages) VALUES ($1, $2, $3, $4)
   ON CONFLICT (organization_id, instance_id) DO UPDATE SET messages = h.messages + excluded.messages, updated_at = now()`,
)

// Chunks come in any order, so the highest progress counts, and the history is done once the last chunk that has come is
// taken in. Further messages, as of a new connection of the number, begin it again.
const finish = statement<never>(
  'phoneHistories.finish',
  `WITH dropped AS (
     DELETE FROM phone_history_chunks WHERE ${ofOrganization('organization_id', '$1::uuid')} AND callback_id = $2
     RETURNING added
   ), before AS (
     SELECT status, progress, phase, error FROM phone_histories
     WHERE organization_id = $1 AND instance_id IS NOT DISTINCT FROM $4
   ), wanted AS (
     SELECT CASE WHEN $7::jsonb IS NOT NULL THEN 'refused'
         WHEN EXISTS (SELECT FROM before WHERE status = 'done') AND NOT EXISTS (SELECT FROM dropped WHERE added > 0) THEN 'done'
         WHEN greatest((SELECT progress FROM before), $5::integer) < 100 OR EXISTS (
           SELECT FROM phone_history_chunks h JOIN callbacks c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = h.callback_id
           WHERE h.organization_id = $1 AND h.callback_id <> $2 AND c.instance_id IS NOT DISTINCT FROM $4
         ) THEN 'running'
         WHEN greatest((SELECT progress FROM before), $5::integer) IS NULL THEN 'running'
         ELSE 'done'
       END AS status
   ), changed AS (
     INSERT INTO phone_histories AS h (organization_id, id, instance_id, status, progress, phase, error, finished_at)
     SELECT $1, $3, $4, status, coalesce($5, 0), $6, $7, CASE WHEN status <> 'running' THEN $8::timestamptz END FROM wanted
     ON CONFLICT (organization_id, instance_id) DO UPDATE SET status = excluded.status,
       progress = greatest(h.progress, excluded.progress), phase = greatest(h.phase, excluded.phase), error = excluded.error,
       finished_at = CASE WHEN excluded.status <> 'running' THEN coalesce(h.finished_at, excluded.finished_at) END,
       updated_at = $8
     RETURNING ${COLUMNS}
   ), raised AS (
     ${raiseEvents({
       from: `changed h WHERE EXISTS (SELECT FROM dropped WHERE added > 0) OR NOT EXISTS (
         SELECT FROM before b WHERE (b.status, b.progress, b.phase, b.error) IS NOT DISTINCT FROM (h.status, h.progress, h.phase, h.error)
       )`,
       id: '$9',
       type: "'history.imported'",
       data: "jsonb_build_object('history', to_jsonb(h))",
     })}
   )
   SELECT`,
  { raises: 'events' },
)

const list = statement<PhoneHistory>(
  'phoneHistories.list',
  `SELECT ${COLUMNS} FROM phone_histories WHERE organization_id = $1 ORDER BY instance_id NULLS FIRST LIMIT 100`,
)

/**
 * Puts a stored callback into the queue of those whose history is to be taken in. Repeated, it does nothing. `id`: of the
 * history, if this is its first callback.
 */
export async function storeHistoryChunk(
  db: Queryable,
  organizationId: string,
  { callbackId, instanceId, id }: Pick<FinishedChunk, 'callbackId' | 'instanceId' | 'id'>,
): Promise<void> {
  await db.run(store, [organizationId, callbackId, id, instanceId])
}

/**
 * Begins with the next callback, in the order of arrival, whose history is not taken in whole; null: there is none. One
 * that was begun in vain comes after the others.
 */
export async function beginNextChunk(db: Queryable, organizationId: string, at: Date): Promise<HistoryChunk | null> {
  const [chunk] = await db.run(next, [organizationId, at])
  return chunk === undefined ? null : unpacked(chunk)
}

/** Records how many messages of a callback are taken in, and that `added` further ones were not known before. */
export async function reachInChunk(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  { reached, added }: { reached: number; added: number },
): Promise<void> {
  await db.run(reach, [organizationId, callbackId, reached, added])
}

/** Takes a callback out of the queue that failed on every attempt; operators see it, and can have it retried. */
export async function setChunkAside(
  db: Queryable,
  organizationId: string,
  callbackId: string,
  error: string,
): Promise<void> {
  await db.run(setAside, [organizationId, callbackId, error])
}

/** Counts messages that a history has added. Needs the transaction that adds them. */
export async function countHistoricMessages(
  transaction: Queryable,
  organizationId: string,
  { id, instanceId, messages }: { id: string; instanceId: string | null; messages: number },
): Promise<void> {
  await transaction.run(count, [organizationId, id, instanceId, messages])
}

/** What a callback says about a history that is taken in as far as it has come. */
export interface FinishedChunk {
  callbackId: string
  instanceId: string | null
  progress: number | null
  phase: number | null
  error: MessageError | null
  at: Date
  /** Of the history, if this is its first callback. */
  id: string
  eventId: string
}

/** Takes a callback out of the queue, records how far the history is, and raises history.imported if that has changed. */
export async function finishChunk(db: Queryable, organizationId: string, chunk: FinishedChunk): Promise<void> {
  const { callbackId, id, instanceId, progress, phase, error, at, eventId } = chunk
  const state = [progress, phase, error && JSON.stringify(error), at]
  await db.raise(finish, [organizationId, callbackId, id, instanceId, ...state, eventId], [organizationId])
}

/** What has been taken in of the histories of an organization's numbers; its own number first. */
export function listPhoneHistories(db: Queryable, organizationId: string): Promise<PhoneHistory[]> {
  return db.run(list, [organizationId])
}
