import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import type { FailedWork, JobClassName } from '../../model/jobs.js'

const list = sharedStatement<FailedWork>(
  'failedJobs.list',
  `SELECT j.id::text, j.organization_id, o.slug AS organization, j.task, j.attempts, j.failed_at, j.error
   FROM jobs j LEFT JOIN kept_organizations o ON o.id = j.organization_id
   WHERE j.failed_at IS NOT NULL AND ($1::uuid IS NULL OR j.organization_id = $1)
   ORDER BY j.organization_id, j.id
   LIMIT $2`,
)

const retry = sharedStatement<{ id: string }>(
  'failedJobs.retry',
  `UPDATE jobs SET failed_at = NULL, attempts = 0, deaths = least(deaths, 1), run_at = now()
   WHERE failed_at IS NOT NULL AND ($1::uuid IS NULL OR organization_id = $1) AND ($2::bigint[] IS NULL OR id = ANY ($2))
   RETURNING id::text`,
  { enqueues: 'now' },
)

const count = sharedStatement<{ class: JobClassName; failed: number }>(
  'failedJobs.count',
  `SELECT class, count(*) AS failed FROM jobs WHERE failed_at IS NOT NULL GROUP BY class`,
)

/** The failed jobs of an organization (null: of all tenants), at most `limit`. */
export function listFailedJobs(db: Queryable, organizationId: string | null, limit: number): Promise<FailedWork[]> {
  return db.run(list, [organizationId, limit])
}

/**
 * Makes failed jobs of an organization (null: of all tenants) due again: those with these ids (null: all). Resolves to
 * the ids.
 */
export async function retryFailedJobs(
  db: Queryable,
  organizationId: string | null,
  ids: readonly string[] | null,
): Promise<string[]> {
  const rows = await db.run(retry, [organizationId, ids])
  return rows.map(({ id }) => id)
}

/** The number of failed jobs of each class that has any. Of all tenants. */
export function countFailedJobs(db: Queryable): Promise<{ class: JobClassName; failed: number }[]> {
  return db.run(count, [])
}
