import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

/** A retry request for a broadcast's failed recipients, with its progress. */
export interface BroadcastRetry {
  /** Messages recorded later that failed again are not tried a third time. */
  until: Date
  /** How many recipients were reset so far. */
  retried: number
}

const advance = statement<never>(
  'broadcastRetries.advance',
  `INSERT INTO broadcast_retries AS r (organization_id, id, broadcast_id, until, retried) VALUES ($1, $2, $3, $4, $5)
   ON CONFLICT (organization_id, id) DO UPDATE SET retried = r.retried + excluded.retried`,
)

const find = statement<BroadcastRetry>(
  'broadcastRetries.find',
  'SELECT until, retried FROM broadcast_retries WHERE organization_id = $1 AND id = $2',
)

const prune = sharedStatement<never>(
  'broadcastRetries.prune',
  'DELETE FROM broadcast_retries r USING organizations o WHERE r.organization_id = o.id AND r.until < $1',
)

/** Adds `retried` to the progress of the broadcast's request `id`. */
export async function advanceBroadcastRetry(
  transaction: Queryable,
  organizationId: string,
  broadcastId: string,
  { id, until, retried }: BroadcastRetry & { id: string },
): Promise<void> {
  await transaction.run(advance, [organizationId, id, broadcastId, until, retried])
}

/** The progress of the request `id`; null if it has not started. */
export async function findBroadcastRetry(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<BroadcastRetry | null> {
  const [row] = await db.run(find, [organizationId, id])
  return row ?? null
}

/** Deletes requests made before `before`. Of all tenants. */
export async function pruneBroadcastRetries(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}
