import type { OperatorContext } from '../../context.js'
import { isUuid } from '../../lib/bytes/id.js'
import type { FailedWork, JobClassName } from '../../model/jobs.js'
import type { Organization } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import { listFailedCallbacks, retryFailedCallbacks } from '../../storage/callbacks/set-aside.js'
import { countFailedJobs, listFailedJobs, retryFailedJobs } from '../../storage/jobs/failed.js'
import { countDueJobs, type DueJobs } from '../../storage/jobs/queue.js'

export type { DueJobs } from '../../storage/jobs/queue.js'

type WorkCounts = Partial<Record<JobClassName, number>>

/**
 * The jobs and callbacks that failed on every attempt, of an organization or (null) of all; at most `limit` of each.
 */
export async function listFailedWork(
  { database }: Pick<OperatorContext, 'database'>,
  organization: Organization | null,
  limit: number,
): Promise<FailedWork[]> {
  const organizationId = organization?.id ?? null
  const callbacks = await listFailedCallbacks(database, organizationId, limit)
  return [...callbacks, ...(await listFailedJobs(database, organizationId, limit))]
}

/**
 * Retries failed jobs and callbacks: those with these ids, or (null) all. Resolves to their number. Throws
 * invalid_field if nothing that failed has one of the ids; the others are retried.
 */
export async function retryFailedWork(
  { database, notifications, clock }: OperatorContext,
  organization: Organization | null,
  ids: readonly string[] | null,
): Promise<number> {
  const organizationId = organization?.id ?? null
  const given = (isOfCallback: boolean) => ids?.filter((id) => isUuid(id) === isOfCallback) ?? null
  const callbacks = await retryFailedCallbacks(database, organizationId, given(true), clock())
  if (callbacks.length > 0) notifications.send({ topic: 'callbacks', organizationIds: null })
  const jobs = await retryFailedJobs(database, organizationId, given(false))
  const retried = new Set([...jobs, ...callbacks.map(({ id }) => id)])
  const unknown = (ids ?? []).filter((id) => !retried.has(id))
  if (unknown.length === 0) return retried.size
  throw new Problem(
    'invalid_field',
    `Nothing that failed has the id ${unknown.join(', ')}${organization ? ` in ${organization.slug}` : ''}: see parley work list`,
  )
}

/** The due jobs of each class that has any. Of all tenants. */
export function findDueWork({ database }: Pick<OperatorContext, 'database'>): Promise<DueJobs[]> {
  return countDueJobs(database)
}

/** The number of failed jobs of each class. Of all tenants. */
export async function countFailedWork({ database }: Pick<OperatorContext, 'database'>): Promise<WorkCounts> {
  return Object.fromEntries((await countFailedJobs(database)).map((row) => [row.class, row.failed]))
}
