import type { Context } from '../../context.js'
import { type LeaseFigures, readLeaseFigures } from '../../storage/instances/leases.js'
import {
  type DeliveryFigures,
  listLongestQueues,
  type OrganizationQueue,
  readDeliveryFigures,
} from '../../storage/maintenance/queues.js'

export type { LeaseFigures } from '../../storage/instances/leases.js'
export type { DeliveryFigures, OrganizationQueue, QueueName } from '../../storage/maintenance/queues.js'

/** The webhook deliveries of all organizations that are not done. */
export function findDeliveryFigures({ database }: Pick<Context, 'database'>): Promise<DeliveryFigures> {
  return readDeliveryFigures(database)
}

/** Of each queue the `limit` organizations for which most is waiting; the longest first. */
export function findLongestQueues(
  { database }: Pick<Context, 'database'>,
  limit: number,
): Promise<OrganizationQueue[]> {
  return listLongestQueues(database, limit)
}

/** The leases of linked devices, of all organizations. */
export function findLeaseFigures({ database }: Pick<Context, 'database'>): Promise<LeaseFigures> {
  return readLeaseFigures(database)
}
