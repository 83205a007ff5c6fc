import { enqueueJobs, hasJob } from '../jobs/enqueue.js'

// SQL for the jobs of the broadcast $2 of the organization $1.

const PAYLOAD = "jsonb_build_object('broadcastId', $2::uuid)"

/** The INSERT that enqueues the preparation of its recipients, for the row of `from` if it is given. */
export function enqueuePreparation(from?: string): string {
  return enqueueJobs({ task: 'prepare_broadcast', key: '$2::uuid', payload: PAYLOAD, ...(from && { from }) })
}

/**
 * The INSERT that enqueues its start for the time `at`, for the row of `from`. The job runs a little later than its
 * time, because the database's clock may be ahead of the service's.
 */
export function enqueueStart({ from, at }: { from: string; at: string }): string {
  const runAt = `${at} + interval '200 milliseconds'`
  return enqueueJobs({ task: 'start_broadcast', key: '$2::uuid', payload: PAYLOAD, from, runAt })
}

/**
 * The INSERT that enqueues its sending from the beginning, for the one row of `from` with its generation. A job of an
 * earlier generation takes part in the new one when its slice has ended.
 */
export function enqueueSending(from: string): string {
  return enqueueJobs({
    task: 'send_broadcast',
    key: '$2::uuid',
    payload: `${PAYLOAD} || jsonb_build_object('generation', generation)`,
    from,
    ifThere: 'replace',
  })
}

/** The INSERT that enqueues the sending through the numbers of the instances $4, with the generation $3, if it is not. */
export function enqueueLanes(): string {
  const key = "$2::uuid || ' ' || lane"
  return enqueueJobs({
    task: 'send_broadcast',
    key,
    payload: `${PAYLOAD} || jsonb_build_object('generation', $3::int, 'lane', lane)`,
    from: `unnest($4::uuid[]) AS lane WHERE NOT ${hasJob('$1', ['send_broadcast'], `job.key = ${key}`)}`,
  })
}

/** Whether the row `b` of broadcasts has a job that prepares or sends it, now or soon. */
export const HAS_JOB = hasJob(
  'b.organization_id',
  ['prepare_broadcast', 'send_broadcast'],
  `job.key = b.id::text
       AND (job.process_id IS NOT NULL OR job.deaths > 0 OR job.run_at < now() + interval '1 minute')`,
)
