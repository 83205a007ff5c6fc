import type { Context } from '../../context.js'
import { newId } from '../../lib/bytes/id.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { toStorable } from '../../lib/text/text.js'
import { blobKey, mediaExpiry } from '../../model/messages/media.js'
import {
  attachInboundMedia,
  findInboundMedia,
  giveUpInboundMedia,
  type InboundMedia,
  postponeInboundMedia,
} from '../../storage/messages/incoming-media.js'
import { insertMedia } from '../../storage/messages/media.js'
import { type InboundFile, readInboundFile } from '../messages/receive/describe-inbound.js'
import { downloadInbound, type InboundSource } from './download-inbound.js'
import { type JobAttempt, unlessAborted } from './job-attempt.js'
import { removeMedia } from './remove.js'

/** What became of a try to store a file. `final`: trying again would not change it. */
type FetchOutcome = { outcome: 'stored' } | { outcome: 'failed'; text: string; final: boolean }

/** With the queue's back-off the last of them comes after some 16 hours; the upstream keeps the file for 7 days. */
const MAX_ATTEMPTS = 12
const MAX_REASON_LENGTH = 1_000

/**
 * Fetches the file of an inbound message from the upstream and shows it there. Done again it changes nothing. The message
 * stays whatever happens: a file that is not to be had is recorded as its error. Throws where another try is to follow.
 */
export async function fetchInboundMedia(
  ctx: Context,
  organizationId: string,
  messageId: string,
  attempt: JobAttempt,
): Promise<void> {
  const message = await findInboundMedia(ctx.database, organizationId, messageId)
  // An earlier try, whose process died, may have stored what has been erased since.
  if (!message) return removeMedia(ctx, organizationId, [messageId])
  const file = readInboundFile(message.message_type, message.content)
  if (file === null || message.media_state === null || message.media_state === 'missing') return

  const source = { mediaId: file.mediaId, instanceId: message.instance_id, network: message.network }
  const fetched = await tryToFetch(ctx, organizationId, messageId, file, source, attempt.signal)
  if (fetched.outcome === 'stored') return attach(ctx, organizationId, messageId, message, file)
  if (fetched.final || attempt.number >= MAX_ATTEMPTS) {
    ctx.log.warn({ organizationId, messageId, reason: fetched.text }, 'the file of a message is given up')
    const error = { code: 'media_unavailable', text: fetched.text }
    return giveUpInboundMedia(ctx.database, organizationId, messageId, error, newId())
  }
  await postponeInboundMedia(ctx.database, organizationId, messageId, newId())
  throw new Error(fetched.text)
}

/** What goes wrong on our side is a failed try as well: the event that waits for it must not wait for us to be repaired. */
async function tryToFetch(
  ctx: Context,
  organizationId: string,
  messageId: string,
  file: InboundFile,
  source: InboundSource,
  signal: AbortSignal,
): Promise<FetchOutcome> {
  try {
    return await unlessAborted(fetchAndStore(ctx, organizationId, messageId, file, source), signal)
  } catch (error) {
    signal.throwIfAborted()
    ctx.log.error({ err: error, organizationId, messageId }, 'the file of a message could not be stored')
    return failed('it could not be stored', false)
  }
}

/** A media row stands before its blob, so that no blob is ever without one. */
async function fetchAndStore(
  ctx: Context,
  organizationId: string,
  messageId: string,
  file: InboundFile,
  source: InboundSource,
): Promise<FetchOutcome> {
  return ctx.spool.use(async (path) => {
    const downloaded = await downloadInbound(ctx, organizationId, source, path)
    if (downloaded.outcome === 'failed') return failed(downloaded.text, downloaded.final)
    const mimeType = (await detectFileType(path)) ?? file.mimeType ?? 'application/octet-stream'
    await insertMedia(ctx.database, organizationId, {
      id: messageId,
      mimeType,
      size: downloaded.size,
      filename: file.filename,
      messageId,
    })
    await ctx.blobs.put(blobKey(organizationId, messageId), path, mimeType)
    return { outcome: 'stored' }
  })
}

async function attach(
  ctx: Context,
  organizationId: string,
  messageId: string,
  { created_at }: InboundMedia,
  file: InboundFile,
): Promise<void> {
  const isToBeTranscribed = file.isVoiceNote && ctx.transcriber !== null
  const media = { id: messageId, expiresAt: mediaExpiry(created_at), isToBeTranscribed }
  if (await attachInboundMedia(ctx.database, organizationId, messageId, media, newId())) {
    if (isToBeTranscribed) ctx.wakeWorkers()
    return
  }
  const message = await findInboundMedia(ctx.database, organizationId, messageId)
  // Erased while its file was on the way.
  if (!message) await removeMedia(ctx, organizationId, [messageId])
}

function failed(reason: string, final: boolean): FetchOutcome {
  const text = toStorable(reason.slice(0, MAX_REASON_LENGTH))
  return { outcome: 'failed', text: `The file could not be fetched from the upstream: ${text}`, final }
}
