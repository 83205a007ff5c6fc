import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { LATE, LATE_MS } from '../../model/broadcasts/broadcast.js'
import type { Again } from '../../model/jobs.js'
import { findBroadcast } from '../../storage/broadcasts/broadcasts.js'
import {
  completeBroadcast,
  type DueBroadcast,
  enqueueBroadcastPreparation,
  launchBroadcast,
  listDueBroadcasts,
  listRunningBroadcasts,
  requestBroadcastReconciling,
  stopBroadcast,
} from '../../storage/broadcasts/runs.js'
import { hasPendingRecipients, WHOLE } from '../../storage/broadcasts/sending.js'
import { findHistories } from '../processes/histories.js'

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
  await findHistories(ctx)
  const broadcast = await findBroadcast(ctx.database, organizationId, broadcastId)
  if (broadcast?.status !== 'scheduled' || broadcast.scheduled_at === null) return null
  const { scheduled_at } = broadcast
  const at = ctx.clock()
  if (scheduled_at > at) return { againInMs: scheduled_at.getTime() - at.getTime() }
  await startUnlessLate(ctx, { organization_id: organizationId, id: broadcastId, scheduled_at }, at)
  return null
}

async function startUnlessLate(
  { database, log }: Context,
  { organization_id: organizationId, id: broadcastId, scheduled_at }: DueBroadcast,
  at: Date,
): Promise<void> {
  const from = ['scheduled'] as const
  if (at.getTime() - scheduled_at.getTime() <= LATE_MS) {
    await launchBroadcast(database, organizationId, broadcastId, { from, at, eventId: newId() })
    return
  }
  const isHeld = await stopBroadcast(database, organizationId, broadcastId, { from, to: 'paused', reason: LATE, at })
  if (isHeld) log.warn({ organizationId, broadcastId, reason: LATE }, 'a broadcast was paused')
}

/**
 * Starts the broadcasts whose time has come, unless they are late. Completes those whose last outcome is known, and
 * enqueues a new job for each that has lost its own.
 */
export async function reconcileBroadcasts(ctx: Context): Promise<void> {
  await findHistories(ctx)
  const at = ctx.clock()
  for (const due of await listDueBroadcasts(ctx.database, at))
    await reconcileOne(ctx, due.organization_id, due.id, () => startUnlessLate(ctx, due, at))
  for (const { organization_id, id, is_prepared, has_job } of await listRunningBroadcasts(ctx.database)) {
    if (has_job) continue
    await reconcileOne(ctx, organization_id, id, () =>
      is_prepared
        ? completeOrRestart(ctx, organization_id, id, at)
        : enqueueBroadcastPreparation(ctx.database, organization_id, id),
    )
  }
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
  if (await completeBroadcast(ctx.database, organizationId, id, at)) return
  // If all recipients have a message, only outcomes are missing: they come with callbacks or by the timeout.
  if (!(await hasPendingRecipients(ctx.database, organizationId, id, WHOLE))) return
  ctx.log.warn({ organizationId, broadcastId: id }, 'a broadcast had lost its job and was restarted')
  await launchBroadcast(ctx.database, organizationId, id, { from: ['running'], at, eventId: newId() })
}
