import type { Context } from '../../context.js'
import { retryOnConflict } from '../../database/retry.js'
import { keepEarlyStatuses, takeEarlyStatuses } from '../../storage/messages/early-statuses.js'
import { applyStatuses, type ReportedStatus } from '../../storage/messages/statuses.js'

type WithDatabase = Pick<Context, 'database'>

/**
 * Keeps statuses of messages that are not known, until they are. A history may have brought one of the messages
 * meanwhile, whose statuses are then applied at once.
 */
export async function keepForLater(
  ctx: WithDatabase,
  organizationId: string,
  statuses: readonly ReportedStatus[],
): Promise<void> {
  if (statuses.length === 0) return
  await keepEarlyStatuses(ctx.database, organizationId, statuses)
  const ids = statuses.map(({ upstreamId }) => upstreamId)
  await applyEarlyStatuses(ctx, organizationId, ids)
}

/** Applies the statuses that came before these messages. The messages are committed, or the statuses would be missed. */
export async function applyEarlyStatuses(
  { database }: WithDatabase,
  organizationId: string,
  upstreamIds: readonly string[],
): Promise<void> {
  if (upstreamIds.length === 0) return
  await retryOnConflict(() =>
    database.transaction(async (transaction) => {
      // One by one: a statement applies one status of a message.
      for (const status of await takeEarlyStatuses(transaction, organizationId, upstreamIds)) {
        await applyStatuses(transaction, [status])
      }
    }),
  )
}
