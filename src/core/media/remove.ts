import type { Context } from '../../context.js'
import { blobKey } from '../../model/messages/media.js'
import { deleteMedia, deleteUnattachedMedia, listUnattachedMedia } from '../../storage/messages/media.js'

const BATCH = 500

/** Removes files. The rows are removed last, so that a failed removal can be repeated. */
export async function removeMedia(ctx: Context, organizationId: string, mediaIds: readonly string[]): Promise<void> {
  await ctx.blobs.remove(mediaIds.map((id) => blobKey(organizationId, id)))
  await deleteMedia(ctx.database, organizationId, mediaIds)
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
