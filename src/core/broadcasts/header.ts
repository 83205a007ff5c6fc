import type { ChannelDriver } from '../../channels/driver.js'
import type { Context } from '../../context.js'
import type { Broadcast } from '../../model/broadcasts/broadcast.js'
import { extensionOf, type StoredMedia } from '../../model/messages/media.js'
import type { Tenant } from '../../model/organizations/organization.js'
import { Problem } from '../../model/problem.js'
import type { HeaderMedia } from '../../model/templates/fill.js'
import { markUploaded } from '../../storage/broadcasts/broadcasts.js'
import { findMedia } from '../../storage/messages/media.js'
import { withStoredFile } from '../media/read.js'
import { uploadFile } from '../media/upload.js'

/** The upstream keeps an uploaded file for 30 days. */
const REUPLOAD_AFTER_MS = 25 * 24 * 60 * 60_000

/**
 * The header's file of a broadcast as the channel knows it, uploaded again if the upload is old; null if there is none.
 * Throws not_found, service_unavailable, upstream_upload_failed.
 */
export async function openHeader(
  ctx: Context,
  tenant: Tenant,
  driver: ChannelDriver,
  broadcast: Broadcast,
): Promise<HeaderMedia<{ channelMediaId: string }> | null> {
  const { id, media_id: mediaId, channel_media_id: known, handed_over_at: handedOverAt } = broadcast
  if (mediaId === null || known === null || handedOverAt === null) return null
  const media = await findMedia(ctx.database, tenant.id, mediaId)
  if (!media) throw new Problem('not_found', "The header's file is no longer stored")
  const now = ctx.clock()
  const isFresh = now.getTime() - handedOverAt.getTime() < REUPLOAD_AFTER_MS
  const channelMediaId = isFresh ? known : await uploadAgain(ctx, driver, media)
  if (!isFresh) await markUploaded(ctx.database, tenant.id, id, { channelMediaId, at: now })
  return { file: { channelMediaId }, filename: media.filename }
}

function uploadAgain(ctx: Context, driver: ChannelDriver, media: StoredMedia): Promise<string> {
  return withStoredFile(ctx, media, (path) => {
    const { id, size, mime_type: mimeType } = media
    return uploadFile(ctx, driver, { id, path, size, mimeType, extension: extensionOf(mimeType) })
  })
}
