import type { OperatorContext } from '../../context.js'
import type { FailedJob, JobClassName } from '../../model/jobs.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { countFailedJobs, listFailedJobs, retryFailedJobs } from '../../storage/jobs/failed.js'
import { countDueJobs } from '../../storage/jobs/queue.js'

type WorkCounts = Partial<Record<JobClassName, number>>
type WorkContext = Pick<OperatorContext, 'database' | 'notifications'>

/** The jobs that failed on every attempt, of an organization or (null) of all; at most `limit`. */
export function listFailedWork(
  { database }: WorkContext,
  organization: Organization | null,
  limit: number,
): Promise<FailedJob[]> {
  return listFailedJobs(database, organization?.id ?? null, limit)
}

/**
 * Makes failed jobs due again: those with these ids, or (null) all. Resolves to their number. Throws invalid_field if
 * one of the ids is not that of a failed job; the others are due.
 */
export async function retryFailedWork(
  { database, notifications }: WorkContext,
  organization: Organization | null,
  ids: readonly number[] | null,
): Promise<number> {
  const retried = await retryFailedJobs(database, organization?.id ?? null, ids)
  if (retried.length > 0) notifications.send({ topic: 'jobs' })
  const unknown = (ids ?? []).filter((id) => !retried.includes(id))
  if (unknown.length === 0) return retried.length
  throw new Problem(
    'invalid_field',
    `There is no failed job with the id ${unknown.join(', ')}${organization ? ` in ${organization.slug}` : ''}: see parley work list`,
  )
}

/** The number of due jobs of each class. Of all tenants. */
export async function countDueWork({ database }: Pick<OperatorContext, 'database'>): Promise<WorkCounts> {
  return Object.fromEntries((await countDueJobs(database)).map((row) => [row.class, row.due]))
}

/** The number of failed jobs of each class. Of all tenants. */
export async function countFailedWork({ database }: Pick<OperatorContext, 'database'>): Promise<WorkCounts> {
  return Object.fromEntries((await countFailedJobs(database)).map((row) => [row.class, row.failed]))
}
