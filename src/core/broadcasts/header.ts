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

/** An uploaded header's file, as the number of a lane knows it. */
export interface OwnHeader {
  channelMediaId: string
  /** ISO 8601. */
  at: string
}

/** A header's file that can be sent; `own`: the upload of a lane. */
interface OpenedHeader {
  header: HeaderMedia<{ channelMediaId: string }> | null
  own: OwnHeader | null
}

/**
 * The header's file of a broadcast as the channel knows it, uploaded again if the upload is old; null if there is none.
 * `own`: the upload of a lane, which is not the broadcast's; `none`: it has not been made yet. Throws not_found,
 * service_unavailable, upstream_upload_failed.
 */
export async function openHeader(
  ctx: Context,
  tenant: Tenant,
  broadcast: Broadcast,
  { driver, own }: { driver: ChannelDriver; own: OwnHeader | 'none' | null },
): Promise<OpenedHeader> {
  const { id, media_id: mediaId, channel_media_id, handed_over_at } = broadcast
  if (mediaId === null || channel_media_id === null || handed_over_at === null) return { header: null, own: null }
  const media = await findMedia(ctx.database, tenant.id, mediaId)
  if (!media) throw new Problem('not_found', "The header's file is no longer stored")
  const now = ctx.clock()
  const ofBroadcast = { channelMediaId: channel_media_id, at: handed_over_at.toISOString() }
  const known = own === null ? ofBroadcast : own
  const isFresh = known !== 'none' && now.getTime() - Date.parse(known.at) < REUPLOAD_AFTER_MS
  const used = isFresh ? known : { channelMediaId: await upload(ctx, driver, media), at: now.toISOString() }
  const { channelMediaId } = used
  if (own === null && !isFresh) await markUploaded(ctx.database, tenant.id, id, { channelMediaId, at: now })
  return { header: { file: { channelMediaId }, filename: media.filename }, own: own === null ? null : used }
}

function upload(ctx: Context, driver: ChannelDriver, media: StoredMedia): Promise<string> {
  return withStoredFile(ctx, media, (path) => {
    const { id, size, mime_type: mimeType } = media
    return uploadFile(ctx, driver, { id, path, size, mimeType, extension: extensionOf(mimeType) })
  })
}
