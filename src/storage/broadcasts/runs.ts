import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { NIL_UUID, newId } from '../../lib/bytes/id.js'
import type { BroadcastStatus } from '../../model/broadcasts/broadcast.js'
import { countersOf } from '../counts/campaigns.js'
import { raiseEvents } from '../events/raise.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { enqueueLanes, enqueuePreparation, enqueueSending, enqueueStart, HAS_JOB } from './jobs.js'

/**
 * Whether the recipient `r` of the organization $1 has no message yet and is not skipped. OFFSET 0 makes PostgreSQL
 * look for each message by its key instead of reading all messages.
 */
export const IS_UNSENT = `r.skip_reason IS NULL AND r.outcome IS NULL
  AND NOT EXISTS (SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = r.message_id OFFSET 0)`

/** The outstanding messages of the organization $1. They are few, and their order matches their index. */
export const OUTSTANDING = `
  SELECT broadcast_id FROM messages WHERE organization_id = $1 AND outcome IS NOT NULL ORDER BY recorded_at ${FEW_ROWS}`

/** The broadcast `b` with its counters as JSON, for an event. */
const SNAPSHOT = `(to_jsonb(b) || jsonb_build_object('counters', ${countersOf('b.organization_id', 'b.id')}))`

// If the recipients are not prepared, the broadcast only becomes running; sending starts when they are.
const launch = statement<{ launched: boolean }>(
  'broadcasts.launch',
  `WITH before AS (
     -- Locks the broadcast if it has one of the statuses.
     SELECT generation FROM broadcasts
     WHERE organization_id = $1 AND id = $2 AND kind = 'broadcast' AND status = ANY ($3)
     FOR UPDATE
   ), launched AS (
     -- Sets it running, with a new generation if its recipients are prepared.
     UPDATE broadcasts b
     SET status = 'running', status_reason = NULL, started_at = coalesce(b.started_at, $4), completed_at = NULL,
       generation = CASE WHEN b.prepared_at IS NULL THEN b.generation ELSE b.generation + 1 END
     FROM before
     WHERE b.organization_id = $1 AND b.id = $2
     RETURNING b.*, before.generation AS generation_before
   ), job AS (
     -- Enqueues the job that sends it.
     ${enqueueSending('launched WHERE prepared_at IS NOT NULL')}
   ), raised AS (
     -- Raises broadcast.started the first time.
     ${raiseEvents({
       from: 'launched b WHERE b.prepared_at IS NOT NULL AND b.generation_before = 0',
       id: '$5',
       type: "'broadcast.started'",
       data: `jsonb_build_object('broadcast', ${SNAPSHOT})`,
     })}
   )
   SELECT EXISTS (SELECT FROM launched) AS launched`,
  { raises: 'events', enqueues: 'now' },
)

// Recipients without a message count as skipped without a mark in their rows. Those that are not prepared do not count;
// the job deletes them.
const stop = statement<{ id: string }>(
  'broadcasts.stop',
  `WITH stopped AS (
     UPDATE broadcasts SET status = $4, status_reason = $5, completed_at = CASE WHEN $4 = 'cancelled' THEN $6::timestamptz END
     WHERE organization_id = $1 AND id = $2 AND kind = 'broadcast' AND status = ANY ($3)
       AND ($7::int IS NULL OR generation = $7)
     RETURNING id, status, prepared_at
   ), job AS (
     ${enqueuePreparation("stopped WHERE status = 'cancelled' AND prepared_at IS NULL")}
   )
   SELECT id FROM stopped`,
  { enqueues: 'now' },
)

const reschedule = statement<{ id: string }>(
  'broadcasts.reschedule',
  `WITH rescheduled AS (
     UPDATE broadcasts SET status = 'scheduled', status_reason = NULL
     WHERE organization_id = $1 AND id = $2 AND kind = 'broadcast' AND status = 'paused' AND started_at IS NULL
     RETURNING id, scheduled_at
   ), start AS (
     ${enqueueStart({ from: 'rescheduled', at: 'rescheduled.scheduled_at' })}
   )
   SELECT id FROM rescheduled`,
  { enqueues: 'later' },
)

// All recipients have a message or are skipped, and no message is outstanding.
const complete = statement<{ completed: boolean }>(
  'broadcasts.complete',
  `WITH completed AS (
     UPDATE broadcasts b SET status = 'completed', completed_at = $3
     WHERE b.organization_id = $1 AND b.id = $2 AND b.status = 'running' AND b.prepared_at IS NOT NULL
       AND NOT EXISTS (
         SELECT FROM (${OUTSTANDING}) m WHERE m.broadcast_id = $2
       ) AND NOT EXISTS (
         SELECT FROM broadcast_recipients r
         WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND ${IS_UNSENT}
       )
     RETURNING b.*
   ), raised AS (
     ${raiseEvents({
       from: 'completed b',
       id: '$4',
       type: "'broadcast.completed'",
       data: `jsonb_build_object('broadcast', ${SNAPSHOT})`,
     })}
   )
   SELECT EXISTS (SELECT FROM completed) AS completed`,
  { raises: 'events' },
)

const listDue = sharedStatement<DueBroadcast>(
  'broadcasts.listDue',
  `SELECT b.organization_id, b.id, b.scheduled_at
   FROM organizations o JOIN broadcasts b ON b.organization_id = o.id
   WHERE b.status = 'scheduled' AND b.scheduled_at <= $1`,
)

const listRunning = sharedStatement<{ organization_id: string; id: string; is_prepared: boolean; has_job: boolean }>(
  'broadcasts.listRunning',
  `SELECT b.organization_id, b.id, b.prepared_at IS NOT NULL AS is_prepared, ${HAS_JOB} AS has_job
   FROM organizations o JOIN broadcasts b ON b.organization_id = o.id
   WHERE b.kind = 'broadcast' AND (b.status = 'running' OR (b.status = 'scheduled' AND b.prepared_at IS NULL))`,
)

const requestReconciling = sharedStatement<never>(
  'broadcasts.requestReconciling',
  enqueueJobs({ task: 'reconcile_broadcasts', organizationId: `'${NIL_UUID}'`, key: "'recurring'" }),
  { enqueues: 'now' },
)

const requestLanes = statement<never>('broadcasts.requestLanes', enqueueLanes(), { enqueues: 'now' })

const requestPreparation = statement<never>('broadcasts.requestPreparation', enqueuePreparation(), { enqueues: 'now' })

/**
 * Makes a broadcast of one of these statuses run and, if its recipients are prepared, enqueues the job that sends it;
 * raises broadcast.started the first time. False if it has another status.
 */
export async function launchBroadcast(
  db: Queryable,
  organizationId: string,
  id: string,
  { from, at, eventId }: { from: readonly BroadcastStatus[]; at: Date; eventId: string },
): Promise<boolean> {
  const [row] = await db.raise(launch, [organizationId, id, from, at, eventId], [organizationId])
  return row?.launched === true
}

/**
 * How a broadcast is stopped; its job passes its `generation`, so that it cannot stop a broadcast that was restarted.
 */
export interface Stop {
  from: readonly BroadcastStatus[]
  to: 'paused' | 'cancelled'
  reason: string | null
  generation?: number
  at: Date
}

/**
 * Changes a broadcast's status from one of `from` to `to`; its job ends. Wake the workers if it is cancelled. False if
 * it has another status.
 */
export async function stopBroadcast(
  db: Queryable,
  organizationId: string,
  id: string,
  { from, to, reason, generation, at }: Stop,
): Promise<boolean> {
  const rows = await db.run(stop, [organizationId, id, from, to, reason, at, generation ?? null])
  return rows.length > 0
}

/** Makes a paused broadcast that never started scheduled again; false if it started, or is not paused. */
export async function rescheduleBroadcast(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const rows = await db.run(reschedule, [organizationId, id])
  return rows.length > 0
}

/** Completes a running broadcast if no send and no outcome is missing, and raises broadcast.completed; else false. */
export async function completeBroadcast(db: Queryable, organizationId: string, id: string, at: Date): Promise<boolean> {
  const [row] = await db.raise(complete, [organizationId, id, at, newId()], [organizationId])
  return row?.completed === true
}

/** A scheduled broadcast and its time. */
export interface DueBroadcast {
  organization_id: string
  id: string
  scheduled_at: Date
}

/** Scheduled broadcasts that are due. Of all tenants. */
export function listDueBroadcasts(db: Queryable, now: Date): Promise<DueBroadcast[]> {
  return db.run(listDue, [now])
}

/** Broadcasts that are being prepared or sent, and whether they have a job now or soon. Of all tenants. */
export function listRunningBroadcasts(
  db: Queryable,
): Promise<{ organization_id: string; id: string; is_prepared: boolean; has_job: boolean }[]> {
  return db.run(listRunning, [])
}

/** Makes the reconciliation of all broadcasts due now. */
export async function requestBroadcastReconciling(db: Queryable): Promise<void> {
  await db.run(requestReconciling, [])
}

/** Enqueues the jobs of lanes that have none: those of the numbers of these instances. */
export async function enqueueBroadcastLanes(
  db: Queryable,
  organizationId: string,
  { id, generation }: { id: string; generation: number },
  instanceIds: readonly string[],
): Promise<void> {
  if (instanceIds.length > 0) await db.run(requestLanes, [organizationId, id, generation, instanceIds])
}

/** Enqueues the preparation of the recipients. */
export async function enqueueBroadcastPreparation(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.run(requestPreparation, [organizationId, id])
}
