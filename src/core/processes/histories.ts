import type { Context } from '../../context.js'
import { RESTORED } from '../../model/broadcasts/broadcast.js'
import { holdBroadcasts, type UnderWay } from '../../storage/broadcasts/restored.js'
import { type EventHistories, readEventHistories } from '../../storage/events/histories.js'
import { adoptRestoredEvents } from '../../storage/events/transaction-clock.js'
import { findLastUse } from '../../storage/processes/process-registry.js'
import { type HeldMessage, holdScheduled } from '../../storage/scheduled/restored.js'

// A new history begins when the server was restored, a standby took over, or the database has moved. What was done
// after the moment at which the database stands is not in it, so Parley sends nothing on its own that it may have sent
// before.

type HistoryContext = Pick<Context, 'database' | 'log' | 'clock'>

const MINUTE_MS = 60_000
/** A service that runs notes its uptime every minute. */
const LATEST_NOTE_MS = 3 * MINUTE_MS

/** The histories of the database. Begins a new one if the server was restored since the last one began. */
export async function findHistories(ctx: HistoryContext): Promise<EventHistories> {
  const found = await readEventHistories(ctx.database)
  if (found.goesOn) return found
  await adoptRestoredDatabase(ctx)
  return readEventHistories(ctx.database)
}

/**
 * Begins a new history if the database was restored, a standby took over, or the database has moved; call it before
 * anything reads events or sends. The same transaction pauses the broadcasts that would continue, and the scheduled
 * messages whose time has come; they wait for a person. Logs since when no service has used the database, if a history begins or that is a while ago.
 */
export async function adoptRestoredDatabase(ctx: HistoryContext): Promise<void> {
  const lastUsed = await findLastUse(ctx.database)
  const held = await ctx.database.transaction(async (transaction) => {
    const hasBegun = await adoptRestoredEvents(transaction)
    if (!hasBegun) return null
    const now = ctx.clock()
    return {
      broadcasts: await holdBroadcasts(transaction, now),
      scheduled: await holdScheduled(transaction, now),
    }
  })
  const behindMs = lastUsed === null ? 0 : ctx.clock().getTime() - lastUsed.getTime()
  const standing = { lastUsed: lastUsed?.toISOString() ?? null, minutes: Math.floor(behindMs / MINUTE_MS) }
  if (held !== null) logHistory(ctx, standing, held)
  else if (behindMs > LATEST_NOTE_MS) {
    ctx.log.info(
      standing,
      'no service has used this database since lastUsed; if it was restored, what happened after that is not in it',
    )
  }
}

function logHistory(
  { log }: HistoryContext,
  standing: object,
  { broadcasts, scheduled }: { broadcasts: readonly UnderWay[]; scheduled: readonly HeldMessage[] },
): void {
  for (const { organization_id: organizationId, id: broadcastId } of broadcasts)
    log.warn({ organizationId, broadcastId, reason: RESTORED }, 'a broadcast was paused')
  for (const { organization_id: organizationId, id: scheduledId } of scheduled)
    log.warn({ organizationId, scheduledId, reason: RESTORED }, 'a scheduled message was paused')
  log.warn(
    { ...standing, waitingBroadcasts: broadcasts.length, waitingMessages: scheduled.length },
    'the database was restored, a standby took over, or it has moved: what happened after lastUsed may not be in it. ' +
      'Broadcasts that were running or due wait until somebody resumes them (parley broadcasts list --status paused), ' +
      'and scheduled messages whose time had come until somebody gives them a new time (GET /scheduled?status=paused)',
  )
}
