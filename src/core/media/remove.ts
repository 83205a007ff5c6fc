import type { Context } from '../../context.js'
import type { Queryable } from '../../database/pool.js'
import { startCountdown } from '../../lib/async/timeout.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import { blobKey } from '../../model/messages/media.js'
import { deleteMedia, deleteUnattachedMedia, listUnattachedMedia } from '../../storage/messages/media.js'
import { holdOffBackups } from '../../storage/processes/backup-lock.js'

const BATCH = 500
/** When to try again what a backup holds up. */
export const AFTER_BACKUP_MS = 10_000

/**
 * Removes files that messages have shown; false if a backup is running, whose database may still show them. The rows
 * are removed last, so that a failed removal can be repeated. `first`: what the transaction does before.
 */
export function removeShownMedia(
  ctx: Context,
  organizationId: string,
  mediaIds: readonly string[],
  first: (transaction: Queryable) => Promise<void> = async () => undefined,
): Promise<boolean> {
  return ctx.database.transaction(async (transaction) => {
    if (!(await holdOffBackups(transaction))) return false
    await first(transaction)
    await ctx.blobs.remove(mediaIds.map((id) => blobKey(organizationId, id)))
    await deleteMedia(transaction, organizationId, mediaIds)
    return true
  })
}

/** Removes files that no message has shown, likewise. */
export async function removeMedia(ctx: Context, organizationId: string, mediaIds: readonly string[]): Promise<void> {
  await ctx.blobs.remove(mediaIds.map((id) => blobKey(organizationId, id)))
  await deleteMedia(ctx.database, organizationId, mediaIds)
}

/** Removes files for a while, as a job that continues with the rest. */
export async function removeMediaAsJob(
  ctx: Context,
  organizationId: string,
  mediaIds: readonly string[],
): Promise<Again | null> {
  const leftMs = startCountdown(SLICE_MS)
  let removed = 0
  while (removed < mediaIds.length) {
    if (removed > 0 && leftMs() === 0) return { againInMs: 0, payload: { mediaIds: mediaIds.slice(removed) } }
    const isRemoved = await removeShownMedia(ctx, organizationId, mediaIds.slice(removed, removed + BATCH))
    if (!isRemoved) return { againInMs: AFTER_BACKUP_MS, payload: { mediaIds: mediaIds.slice(removed) } }
    removed += BATCH
  }
  return null
}

/** Removes a file unless a message shows it. */
export async function removeUnattachedFile(ctx: Context, organizationId: string, mediaId: string): Promise<void> {
  if (!(await deleteUnattachedMedia(ctx.database, organizationId, mediaId))) return
  await ctx.blobs.remove([blobKey(organizationId, mediaId)])
}

/** Removes files noted before `before` whose messages were never recorded. Of all tenants. */
export async function removeUnattachedMedia(ctx: Context, before: Date): Promise<void> {
  for (;;) {
    const unattached = await listUnattachedMedia(ctx.database, before, BATCH)
    if (unattached.length === 0) return
    for (const { organization_id, ids } of unattached) await removeMedia(ctx, organization_id, ids)
  }
}
