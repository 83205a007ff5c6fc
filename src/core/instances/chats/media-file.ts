import type { Readable } from 'node:stream'
import type { Context } from '../../../context.js'
import { MEBIBYTE } from '../../../lib/text/units.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { StoredMedia } from '../../../model/messages/media.js'
import type { Organization } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { type ChannelMessage, findChannelMessage } from '../../../storage/instances/messages.js'
import { findInboundMedia } from '../../../storage/messages/incoming-media.js'
import { findMedia } from '../../../storage/messages/media.js'
import { openMedia } from '../../media/read.js'
import { messageNotFound } from './change-message.js'

/** The largest file that is handed out inside JSON, in bytes; larger ones are read at their address. */
const MAX_BYTES = 64 * MEBIBYTE

/** A message's file; whoever gets it reads the bytes to their end or destroys them. */
export interface MessageFile {
  message: ChannelMessage
  media: StoredMedia
  bytes: Readable
}

/**
 * The file of a message of an instance, by the message's id on the network. Throws message_not_found, invalid_media where it has no
 * file (yet), payload_too_large; message_not_found also where the file is not kept any more.
 */
export async function openMessageFile(
  ctx: Context,
  organization: Organization,
  instance: Instance,
  keyId: string,
): Promise<MessageFile> {
  const message = await findChannelMessage(ctx.database, organization.id, channelIdOf(instance), keyId)
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

async function explainAbsence(ctx: Context, { organization_id, id }: ChannelMessage, keyId: string): Promise<Problem> {
  const state = (await findInboundMedia(ctx.database, organization_id, id))?.media_state ?? null
  switch (state) {
    case null:
      return new Problem('invalid_media', `The message ${keyId} has no file`)
    case 'missing':
      return new Problem('invalid_media', `The file of the message ${keyId} could not be had from the network`)
    default:
      return new Problem('invalid_media', `The file of the message ${keyId} is still being fetched: try again later`)
  }
}

function fileGone(keyId: string): Problem {
  return new Problem('message_not_found', `The file of the message ${keyId} is not kept any more`)
}

function tooLarge({ size }: StoredMedia): Problem {
  const limit = MAX_BYTES / MEBIBYTE
  return new Problem(
    'payload_too_large',
    `The file has ${size} bytes, and at most ${limit} MiB are handed out inside JSON: read it at the message's mediaUrl`,
  )
}
