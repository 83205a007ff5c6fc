import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import { isSuspended } from '../organizations/suspension.js'

/** What waits to be processed: received callbacks, jobs that are due, deliveries that are due. */
export type QueueName = 'callbacks' | 'jobs' | 'webhook_deliveries'

/** What waits in a queue for one organization. */
export interface OrganizationQueue {
  queue: QueueName
  organization_id: string
  /** The organization's slug; null: the organization is deleted, or the jobs are the service's own. */
  organization: string | null
  /** Counted up to 100,000 of the queue; of deliveries, up to 10,000 of each webhook. */
  waiting: number
  /** How long the oldest one has been waiting, in seconds. */
  oldest_seconds: number
}

/** The webhook deliveries that are not done, without those of suspended organizations. */
export interface DeliveryFigures {
  /** Those that wait: for their time, or for an earlier one of their contact. Up to 10,000 of each webhook. */
  pending: number
  /** Those whose time has come, also the ones that are in progress. Up to 10,000 of each webhook. */
  due: number
  /** How long the oldest due one has been due, in seconds; 0: none is. */
  oldestSeconds: number
}

const MAX_OF_WEBHOOK = 10_000
const MAX_OF_QUEUE = 100_000

/** SQL: the due deliveries of the webhook `w`, from the index of due ones. */
const DUE = `(
       SELECT next_attempt_at FROM webhook_deliveries d
       WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id AND d.next_attempt_at <= now()
       ORDER BY d.next_attempt_at
       LIMIT ${MAX_OF_WEBHOOK}
     )`

// Each webhook is looked up, so that finished deliveries cost nothing. Each index has a part of the pending ones.
const deliveries = sharedStatement<DeliveryFigures>(
  'queues.deliveries',
  `SELECT coalesce(sum(blocked.count + timed.count), 0)::float8 AS pending, coalesce(sum(due.count), 0)::float8 AS due,
     coalesce(extract(epoch FROM now() - min(due.oldest)), 0)::float8 AS "oldestSeconds"
   FROM webhooks w
   CROSS JOIN LATERAL (
     SELECT count(*) FROM (
       SELECT FROM webhook_deliveries d
       WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id AND d.status = 'pending' AND d.in_order
         AND d.next_attempt_at IS NULL
       LIMIT ${MAX_OF_WEBHOOK}
     ) counted
   ) blocked
   CROSS JOIN LATERAL (
     SELECT count(*) FROM (
       SELECT FROM webhook_deliveries d
       WHERE d.organization_id = w.organization_id AND d.webhook_id = w.id AND d.next_attempt_at IS NOT NULL
       LIMIT ${MAX_OF_WEBHOOK}
     ) counted
   ) timed
   CROSS JOIN LATERAL (SELECT count(*), min(next_attempt_at) AS oldest FROM ${DUE} counted) due
   WHERE w.active AND NOT ${isSuspended('w.organization_id')}`,
)

const longest = sharedStatement<OrganizationQueue>(
  'queues.longest',
  `WITH waiting (queue, organization_id, waiting, oldest) AS (
     SELECT 'callbacks', organization_id, count(*), min(received_at)
     FROM (SELECT organization_id, received_at FROM callbacks WHERE waiting LIMIT ${MAX_OF_QUEUE}) counted
     GROUP BY organization_id
     UNION ALL
     SELECT 'jobs', organization_id, count(*), min(run_at)
     FROM (
       SELECT organization_id, run_at FROM jobs
       WHERE process_id IS NULL AND failed_at IS NULL AND run_at <= now()
       LIMIT ${MAX_OF_QUEUE}
     ) counted
     GROUP BY organization_id
     UNION ALL
     SELECT 'webhook_deliveries', w.organization_id, sum(due.count), min(due.oldest)
     FROM webhooks w CROSS JOIN LATERAL (SELECT count(*), min(next_attempt_at) AS oldest FROM ${DUE} counted) due
     WHERE w.active AND due.count > 0
     GROUP BY w.organization_id
   ), ranked AS (
     SELECT *, row_number() OVER (PARTITION BY queue ORDER BY waiting DESC, organization_id) AS rank FROM waiting
   )
   SELECT r.queue, r.organization_id, o.slug AS organization, r.waiting::float8 AS waiting,
     greatest(0, extract(epoch FROM now() - r.oldest))::float8 AS oldest_seconds
   FROM ranked r LEFT JOIN kept_organizations o ON o.id = r.organization_id
   WHERE r.rank <= $1
   ORDER BY r.queue, r.rank`,
)

/** The webhook deliveries of all organizations, of webhooks that are not disabled. */
export async function readDeliveryFigures(db: Queryable): Promise<DeliveryFigures> {
  const [row] = await db.run(deliveries, [])
  return row as DeliveryFigures
}

/** Of each queue the `limit` organizations for which most is waiting; the longest first. */
export function listLongestQueues(db: Queryable, limit: number): Promise<OrganizationQueue[]> {
  return db.run(longest, [limit])
}
