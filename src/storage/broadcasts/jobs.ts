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

/** The maximum number of jobs that share the sending of a broadcast. */
export const MAX_LANES = 4
/** How many messages per second one lane sends: the usual pace of a number. */
const LANE_RATE = 80

/** The number of lanes: no more than the pace of the broadcast's number can use. */
const LANES = `coalesce((
       SELECT CASE messages_per_second
         WHEN 0 THEN ${MAX_LANES}
         ELSE least(${MAX_LANES}, ceil(messages_per_second / ${LANE_RATE}.0)::int)
       END
       FROM upstream_settings WHERE organization_id = $1
     ), 1)`

/**
 * The INSERT that enqueues its shards from the beginning, for the one row of `from` with its generation. A shard of an
 * earlier generation takes part in the new one when its slice has ended.
 */
export function enqueueShards(from: string): string {
  return enqueueJobs({
    task: 'send_broadcast',
    key: "$2::uuid || ' ' || lane",
    payload: `jsonb_build_object('broadcastId', $2::uuid, 'generation', started.generation, 'lane', lane, 'lanes', lanes)`,
    from: `(SELECT generation, ${LANES} AS lanes FROM ${from}) started CROSS JOIN generate_series(0, lanes - 1) lane`,
    ifThere: 'replace',
  })
}

const KEYS = Array.from({ length: MAX_LANES }, (_, lane) => `b.id || ' ${lane}'`)

/** Whether the row `b` of broadcasts has a job that prepares or sends it, now or soon. */
export const HAS_JOB = hasJob(
  'b.organization_id',
  ['prepare_broadcast', 'send_broadcast'],
  `job.key IN (b.id::text, ${KEYS.join(', ')})
       AND (job.process_id IS NOT NULL OR job.deaths > 0 OR job.run_at < now() + interval '1 minute')`,
)
