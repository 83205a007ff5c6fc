import { createWriteStream } from 'node:fs'
import type { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { ByteRange } from '../../blobs/blob-store.js'
import type { Context } from '../../context.js'
import { blobKey, type StoredMedia } from '../../model/messages/media.js'
import { Problem } from '../../model/problem.js'
import { findMedia } from '../../storage/messages/media.js'
import { whereMoved } from '../organizations/suspension.js'
import { storeFailure } from './store-failure.js'

/** The parts of a media URL; missing parts are empty. */
export interface MediaLink {
  organizationId: string
  mediaId: string
  expires: string
  signature: string
}

/**
 * The file of a media URL, or the URL of the cell to which its organization has moved. Throws invalid_link if the
 * signature is wrong or expired, before any look-up, not_found if the file was erased, and organization_suspended.
 */
export async function followMediaLink(ctx: Context, link: MediaLink): Promise<StoredMedia | { movedTo: string }> {
  const { organizationId, mediaId, expires, signature } = link
  const state = ctx.mediaLinks.check(organizationId, mediaId, { expires, signature }, ctx.clock())
  if (state === 'invalid') {
    throw new Problem('invalid_link', 'The link was not created by this service: use a media_url without changes')
  }
  if (state === 'expired') {
    const since = new Date(Number(expires) * 1000).toISOString()
    throw new Problem('invalid_link', `The link expired on ${since}: media links expire after a year`)
  }
  const media = await findMedia(ctx.database, organizationId, mediaId)
  if (media !== null) return media
  const movedTo = await whereMoved(ctx, organizationId)
  if (movedTo === null) throw fileGone()
  return { movedTo }
}

/**
 * The bytes of a stored file, or of a range inside it. Throws not_found if they are lost, and service_unavailable if
 * the store fails; both are logged.
 */
export async function openMedia(
  ctx: Pick<Context, 'blobs' | 'log'>,
  media: Pick<StoredMedia, 'organization_id' | 'id'>,
  range?: ByteRange,
): Promise<Readable> {
  const where = { organizationId: media.organization_id, mediaId: media.id }
  const bytes = await ctx.blobs.open(blobKey(media.organization_id, media.id), range).catch((error: unknown) => {
    throw storeFailure(ctx, error, 'Stored files cannot be read', where)
  })
  if (bytes === null) {
    ctx.log.error(where, 'the bytes of a stored file are missing in the media store')
    throw fileGone()
  }
  return bytes
}

/** Has a stored file in the spool while `work` runs. Throws like openMedia. */
export function withStoredFile<Result>(
  ctx: Pick<Context, 'blobs' | 'log' | 'spool'>,
  media: StoredMedia,
  work: (path: string) => Promise<Result>,
): Promise<Result> {
  return ctx.spool.use(async (path) => {
    await pipeline(await openMedia(ctx, media), createWriteStream(path))
    return work(path)
  })
}

function fileGone(): Problem {
  return new Problem('not_found', 'The file is no longer stored')
}
