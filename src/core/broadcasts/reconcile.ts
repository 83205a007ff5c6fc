import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import type { Again } from '../../model/jobs.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import {
  completeBroadcast,
  enqueueBroadcastPreparation,
  launchBroadcast,
  listDueBroadcasts,
  listRunningBroadcasts,
  requestBroadcastReconciling,
} from '../../storage/broadcasts/runs.js'
import { hasPendingRecipients } from '../../storage/broadcasts/sending.js'

/** Makes the reconciliation due, for broadcasts that waited while no process was running. */
export function requestReconciling({ database }: Pick<Context, 'database'>): Promise<void> {
  return requestBroadcastReconciling(database)
}

/** Starts a scheduled broadcast, as a job that runs again if its time has not come. */
export async function startDueBroadcast(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
): Promise<Again | null> {
  const broadcast = await findBroadcast(ctx.database, organizationId, broadcastId)
  if (broadcast?.status !== 'scheduled' || broadcast.scheduled_at === null) return null
  const at = ctx.clock()
  if (broadcast.scheduled_at > at) return { againInMs: broadcast.scheduled_at.getTime() - at.getTime() }
  await launchBroadcast(ctx.database, organizationId, broadcastId, { from: ['scheduled'], at, eventId: newId() })
  ctx.wakeWorkers()
  return null
}

/**
 * Starts the broadcasts whose time has come, completes those whose last outcome is known, and enqueues new jobs for
 * those that have lost theirs.
 */
export async function reconcileBroadcasts(ctx: Context): Promise<void> {
  const at = ctx.clock()
  for (const { organization_id, id } of await listDueBroadcasts(ctx.database, at)) {
    await reconcileOne(ctx, organization_id, id, () =>
      launchBroadcast(ctx.database, organization_id, id, { from: ['scheduled'], at, eventId: newId() }),
    )
  }
  for (const { organization_id, id, is_prepared, has_job } of await listRunningBroadcasts(ctx.database)) {
    if (has_job) continue
    await reconcileOne(ctx, organization_id, id, () =>
      is_prepared
        ? completeOrRestart(ctx, organization_id, id, at)
        : enqueueBroadcastPreparation(ctx.database, organization_id, id),
    )
  }
  ctx.wakeWorkers()
}

/** An error in one broadcast must not stop the others. */
async function reconcileOne(
  ctx: Context,
  organizationId: string,
  broadcastId: string,
  work: () => Promise<unknown>,
): Promise<void> {
  try {
    await work()
  } catch (error) {
    ctx.log.error({ err: error, organizationId, broadcastId }, 'a broadcast could not be reconciled')
  }
}

async function completeOrRestart(ctx: Context, organizationId: string, id: string, at: Date): Promise<void> {
  if (await completeBroadcast(ctx.database, organizationId, id, at, newId())) return
  // If all recipients have a message, only outcomes are missing: they come with callbacks or by the timeout.
  if (!(await hasPendingRecipients(ctx.database, organizationId, id))) return
  ctx.log.warn({ organizationId, broadcastId: id }, 'a broadcast had lost its jobs and was restarted')
  await launchBroadcast(ctx.database, organizationId, id, { from: ['running'], at, eventId: newId() })
}
