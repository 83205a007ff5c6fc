import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import { LAST_UUID, NIL_UUID } from '../../lib/bytes/id.js'
import { JOB_BACKOFF, JOB_TASKS, type JobClassName, type JobTask } from '../../model/jobs.js'
import { isSuspended } from '../organizations/suspension.js'
import { isGoneProcess } from '../processes/process-registry.js'

/** How many organizations a poll or a claim visits at most; the next claim continues there. */
export const MAX_WALK = 500
/** If a process does not know a job that it claimed this long ago, the answer to the claim was lost. */
const LOST_AFTER = "interval '10 seconds'"

const IS_FREE = 'process_id IS NULL AND failed_at IS NULL'

/** SQL: until a job whose process died is repeated, in ms; the exponent is bounded, since recurring jobs never fail. */
const AFTER_DEATH_MS = `least(${JOB_BACKOFF.maxMs}, CASE
       WHEN deaths = 0 OR organization_id = '${NIL_UUID}' THEN ${JOB_BACKOFF.baseMs} * exp(least(attempts, 20) - 1)
       ELSE 60000 * 5 ^ least(deaths - 1, 20)
     END)`

interface PollRow {
  due: JobClassName[]
  soonest_ms: number | null
  set_aside: SetAsideJob[]
}

/** A job that a process died with again. */
export interface SetAsideJob {
  organizationId: string
  task: JobTask
  jobId: number
}

// Walks the organizations of each class up to the first one with a due job. A job whose process died runs alone from
// then on; when a second process in a row dies with it, it is set aside: it has failed, and is repeated much later.
const poll = sharedStatement<PollRow>(
  'jobs.poll',
  `WITH RECURSIVE walk (class, organization_id, run_at, n) AS (
     (SELECT class, organization_id, run_at, 1 FROM jobs WHERE ${IS_FREE} ORDER BY class, organization_id, run_at LIMIT 1)
     UNION ALL
     SELECT next.class, next.organization_id, next.run_at, walk.n + 1
     FROM walk CROSS JOIN LATERAL (
       SELECT class, organization_id, run_at FROM jobs
       WHERE ${IS_FREE} AND (class, organization_id) >
         (walk.class, CASE WHEN walk.run_at <= now() THEN '${LAST_UUID}' ELSE walk.organization_id END)
       ORDER BY class, organization_id, run_at
       LIMIT 1
     ) next
     WHERE walk.n < ${MAX_WALK}
   ), holder (process_id) AS (
     (SELECT process_id FROM jobs WHERE process_id IS NOT NULL ORDER BY process_id LIMIT 1)
     UNION ALL
     SELECT (SELECT process_id FROM jobs WHERE process_id > holder.process_id ORDER BY process_id LIMIT 1)
     FROM holder WHERE holder.process_id IS NOT NULL
   ), gone AS (
     SELECT process_id FROM holder WHERE process_id <> $1 AND ${isGoneProcess('holder.process_id')}
   ), lost AS (
     UPDATE jobs SET process_id = NULL, claimed_at = NULL, repeat = false
     WHERE process_id = $1 AND claimed_at < now() - ${LOST_AFTER} AND NOT id = ANY ($2::bigint[])
     RETURNING class
   ), orphaned AS (
     UPDATE jobs
     SET process_id = NULL, claimed_at = NULL, repeat = false, deaths = deaths + 1,
       class = CASE organization_id WHEN '${NIL_UUID}' THEN class ELSE 'alone' END,
       run_at = now() + ${AFTER_DEATH_MS} * interval '1 ms',
       failed_at = CASE WHEN deaths > 0 AND organization_id <> '${NIL_UUID}' THEN now() END,
       error = 'its process died' || CASE deaths WHEN 0 THEN '' WHEN 1 THEN ' twice' ELSE ' ' || deaths + 1 || ' times' END
     WHERE process_id = ANY (ARRAY(SELECT process_id FROM gone))
     RETURNING organization_id, task, id, failed_at
   ), repeated AS (
     UPDATE jobs SET failed_at = NULL WHERE failed_at IS NOT NULL AND deaths > 0 AND run_at <= now()
     RETURNING class
   )
   SELECT ARRAY(
       SELECT class FROM walk WHERE run_at <= now()
       UNION SELECT class FROM lost
       UNION SELECT class FROM repeated
       UNION SELECT unnest($3::text[]) FROM walk WHERE n = ${MAX_WALK}
     ) AS due,
     (SELECT 1000 * extract(epoch FROM min(run_at) - now())::float8 FROM walk WHERE run_at > now()) AS soonest_ms,
     (
       SELECT coalesce(json_agg(json_build_object('organizationId', organization_id, 'task', task, 'jobId', id)), '[]')
       FROM orphaned WHERE failed_at IS NOT NULL
     ) AS set_aside`,
)

interface ClaimRow {
  organization_id: string | null
  id: number
  task: JobTask
  payload: unknown
  attempts: number
  deaths: number
  claimed_at: string
  requested_at: Date
  may_take_more: boolean
  reached: string | null
  is_cut: boolean
}

// Walks round the organizations, beginning after the one that was served last, until enough of them have a due job.
// Each gets an equal number of the free places, within its share; the caller repeats the claim while places are left. A
// process that is not registered claims nothing: others would take its jobs for those of a dead one.
const claim = sharedStatement<ClaimRow>(
  'jobs.claim',
  `WITH RECURSIVE walk (organization_id, run_at, wrapped, found, n) AS (
     SELECT $2::uuid, 'infinity'::timestamptz, false, 0, 0 WHERE NOT (${isGoneProcess('$4::integer')})
     UNION ALL
     SELECT next.organization_id, next.run_at, next.wrapped,
       walk.found + (next.run_at <= now() AND ${roomOf('next.organization_id')} > 0)::int, walk.n + 1
     FROM walk CROSS JOIN LATERAL (
       (SELECT organization_id, run_at, walk.wrapped FROM jobs
        WHERE class = $1 AND ${IS_FREE} AND organization_id > walk.organization_id
        ORDER BY organization_id, run_at LIMIT 1)
       UNION ALL
       (SELECT organization_id, run_at, true FROM jobs
        WHERE class = $1 AND ${IS_FREE} AND NOT walk.wrapped AND organization_id <= $2
        ORDER BY organization_id, run_at LIMIT 1)
       LIMIT 1
     ) next
     WHERE walk.found < $3::int AND walk.n < ${MAX_WALK} AND NOT (next.wrapped AND next.organization_id > $2)
   ), due AS (
     SELECT organization_id, n, ${roomOf('organization_id')} AS room,
       greatest(1, $3::int / (SELECT max(found) FROM walk)) AS equal_share
     FROM walk WHERE run_at <= now() AND ${roomOf('organization_id')} > 0
   ), picked AS (
     SELECT due.n, due.equal_share < due.room AS may_take_more, job.*
     FROM due CROSS JOIN LATERAL (
       SELECT organization_id, id, run_at FROM jobs
       WHERE class = $1 AND ${IS_FREE} AND organization_id = due.organization_id AND run_at <= now()
       ORDER BY run_at, id
       LIMIT least(due.room, due.equal_share)
       FOR UPDATE SKIP LOCKED
     ) job
   ), claimed AS (
     UPDATE jobs j
     SET process_id = $4, claimed_at = clock_timestamp(), attempts = j.attempts + 1
     FROM picked
     WHERE j.organization_id = picked.organization_id AND j.id = picked.id
     RETURNING j.organization_id, j.id, j.task, j.payload, j.attempts, j.deaths, j.claimed_at::text, j.requested_at,
       picked.may_take_more, picked.n, picked.run_at
   )
   SELECT claimed.*, walked.*
   FROM (
     SELECT (array_agg(organization_id ORDER BY n DESC))[1] AS reached, max(n) = ${MAX_WALK} AS is_cut FROM walk
   ) walked LEFT JOIN claimed ON true
   ORDER BY claimed.n, claimed.run_at, claimed.id`,
)

/**
 * SQL: how many more places an organization may get: $5 (the service itself: $8; a suspended one: none), minus those that
 * it has ($6, $7).
 */
function roomOf(organizationId: string): string {
  return `(CASE WHEN ${organizationId} = '${NIL_UUID}' THEN $8::int WHEN ${isSuspended(organizationId)} THEN 0 ELSE $5::int END
       - coalesce(($7::int[])[array_position($6::uuid[], ${organizationId})], 0))`
}

// Only the claim that began the slice can end it: the time is unique for a job, also if one process claims it twice.
const ENDED = `unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[]) AS ended (organization_id, id, claimed_at, class)`

// A job that was requested again since it was claimed becomes free instead of being deleted. So does that of a suspended
// organization, which it may have taken for a deleted one.
const finish = sharedStatement<{ id: number; repeat: boolean }>(
  'jobs.finish',
  `WITH mine AS (
     SELECT j.organization_id, j.id, j.repeat OR ${isSuspended('j.organization_id')} AS repeat, ended.class
     FROM ${ENDED} JOIN jobs j USING (organization_id, id)
     WHERE j.process_id = $1 AND j.claimed_at = ended.claimed_at
     FOR UPDATE OF j
   ), deleted AS (
     DELETE FROM jobs j USING mine WHERE j.organization_id = mine.organization_id AND j.id = mine.id AND NOT mine.repeat
   ), repeated AS (
     UPDATE jobs j
     SET process_id = NULL, claimed_at = NULL, repeat = false, attempts = 0, deaths = 0, error = NULL,
       class = coalesce(mine.class, j.class)
     FROM mine
     WHERE j.organization_id = mine.organization_id AND j.id = mine.id AND mine.repeat
   )
   SELECT id, repeat FROM mine`,
)

// A job that was requested again since it was claimed has the payload and, if it did not fail, the time of the request.
const putBack = sharedStatement<{ id: number }>(
  'jobs.putBack',
  `UPDATE jobs j
   SET process_id = NULL, claimed_at = NULL, repeat = false,
     run_at = CASE
       WHEN j.repeat AND (ended.error IS NULL OR ended.has_failed) THEN least(j.run_at, now() + ended.in_ms * interval '1 ms')
       ELSE now() + ended.in_ms * interval '1 ms'
     END,
     attempts = CASE WHEN j.repeat AND ended.has_failed THEN 0 ELSE ended.next_attempts END,
     deaths = ended.deaths, class = CASE ended.deaths WHEN 0 THEN coalesce(ended.class, j.class) ELSE j.class END,
     payload = CASE WHEN j.repeat THEN j.payload ELSE coalesce(ended.payload, j.payload) END,
     failed_at = CASE WHEN ended.has_failed AND NOT j.repeat THEN now() END,
     error = ended.error
   FROM unnest($2::uuid[], $3::bigint[], $4::timestamptz[], $5::text[], $6::float8[], $7::int[], $8::int[], $9::jsonb[],
       $10::text[], $11::boolean[])
     AS ended (organization_id, id, claimed_at, class, in_ms, next_attempts, deaths, payload, error, has_failed)
   WHERE j.organization_id = ended.organization_id AND j.id = ended.id AND j.process_id = $1
     AND j.claimed_at = ended.claimed_at
   RETURNING j.id`,
)

/** The due jobs of a class. */
export interface DueJobs {
  class: JobClassName
  due: number
  /** How long the oldest one has been due, in seconds. */
  oldest_seconds: number
}

const countDue = sharedStatement<DueJobs>(
  'jobs.countDue',
  `SELECT class, count(*) AS due, extract(epoch FROM now() - min(run_at))::float8 AS oldest_seconds
   FROM jobs WHERE ${IS_FREE} AND run_at <= now() AND NOT ${isSuspended('organization_id')} GROUP BY class`,
)

const startRecurring = sharedStatement<never>(
  'jobs.startRecurring',
  `INSERT INTO jobs (organization_id, class, task, key, payload)
   SELECT '${NIL_UUID}', given.class, given.task, 'recurring', '{}'
   FROM unnest($1::text[], $2::text[]) AS given (task, class)
   ON CONFLICT (organization_id, task, key) WHERE key IS NOT NULL DO NOTHING`,
  { enqueues: 'later' },
)

/** A job that this process has claimed. */
export interface ClaimedJob {
  organizationId: string
  id: number
  task: JobTask
  payload: unknown
  /** The number of attempts, including this one. */
  attempts: number
  /** How many processes in a row have died while they ran it. */
  deaths: number
  /** When it was claimed, as the server writes it: to the microsecond. */
  claimedAt: string
  requestedAt: Date
}

/** The result of a poll of all classes. */
export interface Polled {
  /** Classes that may have due jobs. */
  due: JobClassName[]
  /** Milliseconds until the next job may become due; null: none is known. */
  soonestMs: number | null
  /** The jobs that are set aside now. */
  setAside: SetAsideJob[]
}

/**
 * Finds the classes with due jobs. Frees the jobs of processes that are not registered any more, until their back-off has
 * ended, and those that this process has claimed without knowing it. `knownIds`: the jobs that it runs.
 */
export async function pollJobs(db: Queryable, processId: number, knownIds: readonly number[]): Promise<Polled> {
  const classes = [...new Set(Object.values(JOB_TASKS))]
  const [row] = await db.run(poll, [processId, knownIds, classes])
  const { due, soonest_ms: soonestMs, set_aside: setAside } = row as PollRow
  return { due, soonestMs, setAside }
}

/** Which jobs a claim may take, and how many. */
export interface Wanted {
  class: JobClassName
  processId: number
  /** The organization that was visited last. */
  after: string
  /** The organization at which the walk began that has found nothing since. */
  since: string
  /** The number of places; the service itself may have all of them. */
  places: number
  /** The number of free places. */
  free: number
  /** The number of places that one organization may have. */
  share: number
  /** The number of places that each organization has, by its id. */
  taken: ReadonlyMap<string, number>
}

/** The result of a claim. */
export interface Claimed {
  /** In the order in which they are to start. */
  jobs: ClaimedJob[]
  /** The organization after which the next claim begins. */
  reached: string
  /** Whether another claim may find more. */
  hasMore: boolean
}

/**
 * Claims due jobs of a class, round robin over the organizations. A claim visits a limited number of them; when the walk
 * has come round to `since` without a job, there are no more.
 */
export async function claimJobs(db: Queryable, wanted: Wanted): Promise<Claimed> {
  const { class: name, processId, after, since, places, free, share, taken } = wanted
  const takers = [...taken.keys()]
  const values = [name, after, free, processId, share, takers, [...taken.values()], places]
  const rows = await db.run(claim, values)
  const jobs = rows.flatMap(({ organization_id: organizationId, requested_at, claimed_at, ...row }) => {
    const { id, task, payload, attempts, deaths } = row
    const times = { claimedAt: claimed_at, requestedAt: requested_at }
    return organizationId === null ? [] : [{ organizationId, id, task, payload, attempts, deaths, ...times }]
  })
  const reached = rows[0]?.reached ?? after
  const isCut = rows[0]?.is_cut === true && (jobs.length > 0 || !isPassed(since, after, reached))
  const mayTakeMore = rows.some(({ may_take_more }) => may_take_more)
  return { jobs, reached, hasMore: jobs.length < free && (isCut || mayTakeMore) }
}

/** Whether the walk from after `after` up to `reached`, round the end of the ids if need be, has come past an id. */
function isPassed(id: string, after: string, reached: string): boolean {
  return after < reached ? after < id && id <= reached : id > after || id <= reached
}

/**
 * Deletes finished jobs, or frees them again if they were requested while they ran. Jobs that another process has
 * claimed meanwhile stay as they are. Resolves to the ids of the others, and whether they are due again.
 */
export async function finishJobs(
  db: Queryable,
  processId: number,
  jobs: readonly ClaimedJob[],
): Promise<Map<number, boolean>> {
  const rows = await db.run(finish, [processId, ...identitiesOf(jobs)])
  return new Map(rows.map(({ id, repeat }) => [id, repeat]))
}

/** A claimed job that is not finished. */
export interface PutBack {
  job: ClaimedJob
  /** Milliseconds until it is due again. */
  inMs: number
  /** How many attempts count from now on. */
  attempts: number
  /** How many deaths of its processes count from now on. */
  deaths: number
  /** Its new payload; null: as it was. */
  payload: object | null
  /** Why the attempt failed; null: it did not. */
  error: string | null
  /** Whether it counts as failed and is not retried. */
  hasFailed: boolean
}

/** Frees claimed jobs until they are due again, or marks them failed. Otherwise like finishJobs. */
export async function putJobsBack(
  db: Queryable,
  processId: number,
  ended: readonly PutBack[],
): Promise<Map<number, boolean>> {
  const rows = await db.run(putBack, [
    processId,
    ...identitiesOf(ended.map(({ job }) => job)),
    ended.map(({ inMs }) => inMs),
    ended.map(({ attempts }) => attempts),
    ended.map(({ deaths }) => deaths),
    ended.map(({ payload }) => payload && JSON.stringify(payload)),
    ended.map(({ error }) => error),
    ended.map(({ hasFailed }) => hasFailed),
  ])
  return new Map(rows.map(({ id }) => [id, true]))
}

/** What distinguishes claimed jobs, and the classes of their tasks (null: of a task of a newer version). */
function identitiesOf(jobs: readonly ClaimedJob[]): [string[], number[], string[], (JobClassName | null)[]] {
  return [
    jobs.map((job) => job.organizationId),
    jobs.map((job) => job.id),
    jobs.map((job) => job.claimedAt),
    jobs.map((job) => JOB_TASKS[job.task] ?? null),
  ]
}

/** The due jobs of each class that has any. Of all tenants. */
export function countDueJobs(db: Queryable): Promise<DueJobs[]> {
  return db.run(countDue, [])
}

/** Enqueues the recurring tasks that have no job. */
export async function startRecurringJobs(db: Queryable, tasks: readonly JobTask[]): Promise<void> {
  await db.run(startRecurring, [tasks, tasks.map((task) => JOB_TASKS[task])])
}
