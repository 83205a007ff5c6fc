import type { Readable } from 'node:stream'
import type { Context } from '../../../context.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { StoredMedia } from '../../../model/messages/media.js'
import { MEDIA_REMOVED } from '../../../model/messages/message.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { type ChannelMessage, findChannelMessage } from '../../../storage/instances/messages.js'
import { findInboundMedia } from '../../../storage/messages/incoming-media.js'
import { findMedia } from '../../../storage/messages/media.js'
import { openMedia } from '../../media/read.js'
import { messageNotFound } from './change-message.js'

/** The largest file that is returned inside JSON; larger ones are read from their address. */
const MAX_BYTES = 64 * MEBIBYTE

/** A message's file; the caller must read `bytes` to the end or destroy them. */
export interface MessageFile {
  message: ChannelMessage
  media: StoredMedia
  bytes: Readable
}

/**
 * The file of an instance's message, by the message's network id. Throws message_not_found (also if the file is no
 * longer stored), invalid_media if there is no file (yet), payload_too_large.
 */
export async function openMessageFile(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  keyId: string,
): Promise<MessageFile> {
  const message = await findChannelMessage(ctx.database, organization.id, channelIdOf(instance), { keyId })
  if (message === null) throw messageNotFound(keyId)
  if (message.media_id === null) throw await explainAbsence(ctx, message, keyId)
  const media = await findMedia(ctx.database, organization.id, message.media_id)
  if (media === null) throw fileGone(keyId)
  if (media.size > MAX_BYTES) throw tooLarge(media)
  const bytes = await openMedia(ctx, media).catch((error: unknown) => {
    throw error instanceof Problem && error.code === 'not_found' ? fileGone(keyId) : error
  })
  return { message, media, bytes }
}

async function explainAbsence(
  ctx: Context,
  { organization_id, id, error }: ChannelMessage,
  keyId: string,
): Promise<Problem> {
  if (error?.code === MEDIA_REMOVED) return fileGone(keyId)
  const state = (await findInboundMedia(ctx.database, organization_id, id))?.media_state ?? null
  switch (state) {
    case null:
      return new Problem('invalid_media', `The message ${keyId} has no file`)
    case 'missing':
      return new Problem('invalid_media', `The file of the message ${keyId} could not be downloaded from WhatsApp`)
    default:
      return new Problem('invalid_media', `The file of the message ${keyId} is still being fetched: try again later`)
  }
}

function fileGone(keyId: string): Problem {
  return new Problem('message_not_found', `The file of the message ${keyId} is no longer stored`)
}

function tooLarge({ size }: StoredMedia): Problem {
  const limit = MAX_BYTES / MEBIBYTE
  return new Problem(
    'payload_too_large',
    `The file has ${size} bytes, and at most ${limit} MiB are returned inside JSON: read it at the message's mediaUrl`,
  )
}
