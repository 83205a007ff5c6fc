import type { Context } from '../../context.js'
import { retryOnDeadlock } from '../../database/retry.js'
import { sleep } from '../../lib/async/backoff.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { NIL_UUID } from '../../lib/bytes/id.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import { MEDIA_REMOVED } from '../../model/messages/message.js'
import { Problem } from '../../model/problem.js'
import {
  blankEventsOfPruned,
  findContactsToPrune,
  findFilesToPrune,
  forgetFilesOfMessages,
  pruneMessages,
} from '../../storage/maintenance/pruning.js'
import { AFTER_BACKUP_MS, removeShownMedia } from '../media/remove.js'
import { requireNoHold } from '../organizations/legal-hold.js'

/**
 * Where the deletion of an organization's old files, then of its old messages, then of what their events say, continues;
 * the payload of a job.
 */
export interface RetentionPosition {
  step: 'files' | 'messages' | 'events'
  /** The file, contact or event after which it continues. */
  after: string
}

const FIRST: RetentionPosition = { step: 'files', after: NIL_UUID }
const REMOVED = { code: MEDIA_REMOVED, text: 'The file was removed after the retention time' }

/**
 * Deletes for a while files and messages of an organization that are older than it keeps them, and blanks the events of
 * deleted messages, in batches, and pauses for
 * as long as each batch took, so that the service is slowed down little. Returns when the job continues, and where; null:
 * nothing is left, or a legal hold is on. Throws when `signal` aborts; finished batches stay.
 */
export async function applyRetention(
  ctx: Context,
  organizationId: string,
  position: Partial<RetentionPosition>,
  signal?: AbortSignal,
): Promise<Again | null> {
  const leftMs = startCountdown(SLICE_MS)
  try {
    let next: RetentionPosition | null = { ...FIRST, ...position }
    while (next !== null) {
      signal?.throwIfAborted()
      if (leftMs() === 0) return { againInMs: 0, payload: next }
      const begun: RetentionPosition = next
      const started = performance.now()
      const batch = BATCHES[begun.step]
      const outcome: RetentionPosition | 'backup' | null = await batch(ctx, organizationId, begun)
      if (outcome === 'backup') return { againInMs: AFTER_BACKUP_MS, payload: begun }
      next = outcome
      if (next !== null) await sleep(performance.now() - started, signal)
    }
    return null
  } catch (error) {
    if (error instanceof Problem && error.code === 'legal_hold') return null
    throw error
  }
}

/** Returns where to continue; null: at nothing, `backup`: here, when the backup that is running has ended. */
async function pruneFiles(
  ctx: Context,
  organizationId: string,
  { after }: RetentionPosition,
): Promise<RetentionPosition | 'backup'> {
  const { ids, reached } = await findFilesToPrune(ctx.database, organizationId, ctx.clock(), after)
  if (ids.length > 0) {
    const isRemoved = await removeShownMedia(ctx, organizationId, ids, async (transaction) => {
      await requireNoHold(transaction, organizationId)
      await forgetFilesOfMessages(transaction, organizationId, ids, REMOVED)
    })
    if (!isRemoved) return 'backup'
  }
  return reached === null ? { step: 'messages', after: NIL_UUID } : { step: 'files', after: reached }
}

async function pruneContacts(
  ctx: Context,
  organizationId: string,
  { after }: RetentionPosition,
): Promise<RetentionPosition> {
  const now = ctx.clock()
  const { ids, reached } = await findContactsToPrune(ctx.database, organizationId, now, after)
  if (ids.length > 0) {
    const isMore = await retryOnDeadlock(() =>
      ctx.database.transaction(async (transaction) => {
        await requireNoHold(transaction, organizationId)
        return pruneMessages(transaction, organizationId, ids, now)
      }),
    )
    if (isMore) return { step: 'messages', after }
  }
  return reached === null ? { step: 'events', after: '0' } : { step: 'messages', after: reached }
}

async function blankEvents(
  ctx: Context,
  organizationId: string,
  { after }: RetentionPosition,
): Promise<RetentionPosition | null> {
  const { reached, blanked } = await ctx.database.transaction(async (transaction) => {
    await requireNoHold(transaction, organizationId)
    return blankEventsOfPruned(transaction, organizationId, after)
  })
  // Deliveries about to be made are in memory.
  if (blanked > 0) ctx.notifications.send({ topic: 'webhooks', organizationId })
  return reached === null ? null : { step: 'events', after: reached }
}

const BATCHES = { files: pruneFiles, messages: pruneContacts, events: blankEvents } as const
