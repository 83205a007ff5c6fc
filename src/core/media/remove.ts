import type { Context } from '../../context.js'
import { blobKey } from '../../model/media.js'
import { deleteMedia, listUnattachedMedia } from '../../storage/media.js'

const BATCH = 500

/** Removes files. The rows go last: what a failure leaves behind is still known by them. */
export async function removeMedia(ctx: Context, organizationId: string, mediaIds: readonly string[]): Promise<void> {
  await ctx.blobs.remove(mediaIds.map((id) => blobKey(organizationId, id)))
  await deleteMedia(ctx.database, organizationId, mediaIds)
}

/** Removes the files noted before `before` whose messages were never recorded. Of all tenants. */
export async function removeUnattachedMedia(ctx: Context, before: Date): Promise<void> {
  for (;;) {
    const unattached = await listUnattachedMedia(ctx.database, before, BATCH)
    if (unattached.length === 0) return
    for (const { organization_id, ids } of unattached) await removeMedia(ctx, organization_id, ids)
  }
}
