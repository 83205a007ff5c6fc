import type { Context } from '../../context.js'
import { detectFileType } from '../../lib/files/file-type.js'
import { toStorable } from '../../lib/text/text.js'
import { type InboundFile, readInboundFile } from '../../model/messages/describe-inbound.js'
import { blobKey, mediaExpiry } from '../../model/messages/media.js'
import type { FileNote } from '../../model/messages/trace.js'
import {
  attachInboundMedia,
  findInboundMedia,
  giveUpInboundMedia,
  postponeInboundMedia,
} from '../../storage/messages/incoming-media.js'
import { insertMedia } from '../../storage/messages/media.js'
import { downloadInbound, type InboundSource } from './download-inbound.js'
import { type JobAttempt, unlessAborted } from './job-attempt.js'
import { removeMedia } from './remove.js'

/** The result of one try. `final`: another try would fail too. */
type FetchOutcome = { outcome: 'stored' } | { outcome: 'failed'; text: string; final: boolean }

/** With the queue's back-off the last try is after about 16 hours; the upstream keeps the file for 7 days. */
const MAX_ATTEMPTS = 12
const MAX_REASON_LENGTH = 1_000

/**
 * Fetches the file of an inbound message and attaches it. Doing it again changes nothing. If the file cannot be
 * fetched, the message stays, with the error. Throws if another try is to follow.
 */
export async function fetchInboundMedia(
  ctx: Context,
  organizationId: string,
  messageId: string,
  attempt: JobAttempt,
): Promise<void> {
  const message = await findInboundMedia(ctx.database, organizationId, messageId)
  // An earlier try, whose process died, may have stored the file of a message that was erased since.
  if (!message) return removeMedia(ctx, organizationId, [messageId])
  const file = readInboundFile(message.message_type, message.content)
  if (file === null || message.media_state === null || message.media_state === 'missing') return

  const startedAt = performance.now()
  const at = ctx.clock().getTime()
  const source = { mediaId: file.mediaId, instanceId: message.instance_id, network: message.network }
  const fetched = await tryToFetch(ctx, organizationId, messageId, { file, source, signal: attempt.signal })
  const toNote = (outcome: FileNote['outcome']): FileNote => {
    return { k: 'file', at, ms: Math.round(performance.now() - startedAt), outcome }
  }
  if (fetched.outcome === 'stored') {
    const note = toNote('stored')
    return attach(ctx, organizationId, messageId, { createdAt: message.created_at, file, note })
  }
  const { text } = fetched
  if (fetched.final || attempt.number >= MAX_ATTEMPTS) {
    ctx.log.warn({ organizationId, messageId, reason: fetched.text }, 'the file of a message could not be fetched')
    const error = { code: 'media_unavailable', text: fetched.text }
    return giveUpInboundMedia(ctx.database, organizationId, messageId, { error, note: { ...toNote('missing'), text } })
  }
  await postponeInboundMedia(ctx.database, organizationId, messageId, { ...toNote('retried'), text })
  throw new Error(fetched.text)
}

/** Internal errors count as failed tries too, so that the event that waits for the file is raised anyway. */
async function tryToFetch(
  ctx: Context,
  organizationId: string,
  messageId: string,
  { file, source, signal }: { file: InboundFile; source: InboundSource; signal: AbortSignal },
): Promise<FetchOutcome> {
  try {
    return await unlessAborted(fetchAndStore(ctx, organizationId, messageId, { file, source }), signal)
  } catch (error) {
    signal.throwIfAborted()
    ctx.log.error({ err: error, organizationId, messageId }, 'the file of a message could not be stored')
    return failed('it could not be stored', false)
  }
}

/** The media row is written before its blob, so every blob has a row. */
async function fetchAndStore(
  ctx: Context,
  organizationId: string,
  messageId: string,
  { file, source }: { file: InboundFile; source: InboundSource },
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
  { createdAt, file, note }: { createdAt: Date; file: InboundFile; note: FileNote },
): Promise<void> {
  const isToBeTranscribed = file.isVoiceNote && ctx.transcriber !== null
  const media = { id: messageId, expiresAt: mediaExpiry(createdAt), isToBeTranscribed }
  if (await attachInboundMedia(ctx.database, organizationId, messageId, { ...media, note })) return
  const message = await findInboundMedia(ctx.database, organizationId, messageId)
  // The message was erased during the download.
  if (!message) await removeMedia(ctx, organizationId, [messageId])
}

function failed(reason: string, final: boolean): FetchOutcome {
  const text = toStorable(reason.slice(0, MAX_REASON_LENGTH))
  return { outcome: 'failed', text: `The file could not be fetched from WhatsApp: ${text}`, final }
}
