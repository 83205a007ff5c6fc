import { JOB_TASKS, type JobTask } from '../../model/jobs.js'

/** Jobs to enqueue, as SQL expressions over the rows that they are about. */
export interface EnqueuedJobs {
  task: JobTask
  /** The rows: what follows FROM, conditions included. Default: one job. No two rows may have the same key. */
  from?: string
  /** Default: `$1`. */
  organizationId?: string
  /** A jsonb object with what the task needs besides the organization. Default: empty. */
  payload?: string
  /** At most one job of the organization and task has this key. Default: no key. */
  key?: string
  /** Default: now. */
  runAt?: string
  /**
   * What happens to the payload if a job has the key already. `keep`: the job keeps its payload; `replace`: it gets the
   * new one. Either way, a waiting job runs at the earlier time, a running one once more, and a failed one again. One
   * whose process died keeps its time.
   */
  ifThere?: 'keep' | 'replace'
}

/**
 * SQL: the INSERT that enqueues jobs, at the end of a statement or as one part of its WITH. The statement declares that
 * it `enqueues`, so that the workers are woken.
 */
export function enqueueJobs({
  task,
  from,
  organizationId = '$1',
  payload = "'{}'",
  key,
  runAt = 'now()',
  ifThere = 'keep',
}: EnqueuedJobs): string {
  const values = `${organizationId}::uuid, '${JOB_TASKS[task]}', '${task}', ${key ?? 'NULL'}::text, ${payload}::jsonb, ${runAt}`
  const insert = `INSERT INTO jobs AS job (organization_id, class, task, key, payload, run_at)
     SELECT ${values}${from === undefined ? '' : ` FROM ${from}`}`
  return key === undefined ? insert : `${insert}\n     ${requestAgain(ifThere)}`
}

/** A waiting job runs at the earlier time; one that is running or has failed, at the new one; see ifThere. */
function requestAgain(ifThere: 'keep' | 'replace'): string {
  return `ON CONFLICT (organization_id, task, key) WHERE key IS NOT NULL DO UPDATE SET
       run_at = CASE
         WHEN job.deaths > 0 AND job.process_id IS NULL THEN job.run_at
         WHEN job.failed_at IS NOT NULL OR (job.process_id IS NOT NULL AND NOT job.repeat) THEN excluded.run_at
         ELSE least(job.run_at, excluded.run_at)
       END,
       repeat = job.process_id IS NOT NULL,
       attempts = CASE WHEN job.failed_at IS NULL OR job.deaths > 0 THEN job.attempts ELSE 0 END,
       failed_at = CASE WHEN job.deaths > 0 THEN job.failed_at END,
       error = CASE WHEN job.failed_at IS NULL OR job.deaths > 0 THEN job.error END,
       requested_at = excluded.requested_at${ifThere === 'replace' ? ', payload = excluded.payload' : ''}`
}

/** The DELETE that withdraws the job with a key of the organization $1, unless it runs; for one part of a WITH. */
export function withdrawJob(task: JobTask, key: string): string {
  return `DELETE FROM jobs WHERE organization_id = $1 AND task = '${task}' AND key = ${key} AND process_id IS NULL`
}

/** SQL condition: the organization has a job of one of the tasks, with the condition on `job`, that will run. */
export function hasJob(organizationId: string, tasks: readonly JobTask[], condition: string): string {
  const names = tasks.map((task) => `'${task}'`).join(', ')
  return `EXISTS (
     SELECT FROM jobs job
     WHERE job.organization_id = ${organizationId} AND job.task IN (${names}) AND (job.failed_at IS NULL OR job.deaths > 0) AND ${condition}
   )`
}
