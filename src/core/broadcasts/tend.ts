import type { Context } from '../../context.js'
import { newId } from '../../lib/id.js'
import {
  completeBroadcast,
  enqueueBroadcastPreparation,
  findBroadcast,
  launchBroadcast,
  listDueBroadcasts,
  listRunningBroadcasts,
} from '../../storage/broadcasts.js'

/**
 * Begins the broadcasts whose time has come, completes those of which the last outcome has settled, and gives a new job to
 * those that have lost theirs.
 */
export async function tendBroadcasts(ctx: Context): Promise<void> {
  const at = ctx.clock()
  for (const { organization_id, id } of await listDueBroadcasts(ctx.database, at)) {
    await launchBroadcast(ctx.database, organization_id, id, { from: ['scheduled'], at, eventId: newId() })
  }
  for (const { organization_id, id, is_prepared, has_job } of await listRunningBroadcasts(ctx.database)) {
    if (has_job) continue
    if (is_prepared) await completeOrRevive(ctx, organization_id, id, at)
    else await enqueueBroadcastPreparation(ctx.database, organization_id, id)
  }
  ctx.wakeWorkers()
}

async function completeOrRevive(ctx: Context, organizationId: string, id: string, at: Date): Promise<void> {
  if (await completeBroadcast(ctx.database, organizationId, id, at, newId())) return
  const broadcast = await findBroadcast(ctx.database, organizationId, id)
  const { total = 0, recorded = 0 } = broadcast?.counters ?? {}
  // Where everybody has a message, what is missing are outcomes: they come by callbacks, or with time.
  if (total === recorded) return
  ctx.log.warn({ organizationId, broadcastId: id }, 'a broadcast had lost its jobs; it goes on')
  await launchBroadcast(ctx.database, organizationId, id, { from: ['running'], at, eventId: newId() })
}
