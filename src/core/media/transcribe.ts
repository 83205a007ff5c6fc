import type { Context } from '../../context.js'
import { toStorable } from '../../lib/text/text.js'
import { blobKey } from '../../model/messages/media.js'
import { findVoiceNote, setTranscription } from '../../storage/messages/incoming-media.js'
import type { JobAttempt } from './job-attempt.js'

const MAX_ATTEMPTS = 6
const MAX_TEXT_LENGTH = 20_000

/** The file extensions by which transcription services recognize the format; other types are sent as the usual one. */
const EXTENSIONS: Record<string, string> = {
  'audio/ogg': 'ogg',
  'audio/mpeg': 'mp3',
  'audio/mp4': 'm4a',
  'audio/x-m4a': 'm4a',
  'audio/aac': 'aac',
  'audio/amr': 'amr',
  'audio/wav': 'wav',
  'audio/webm': 'webm',
}

/**
 * Transcribes a stored voice note. If that fails for good, the message stays without a transcription, and the reason is
 * logged. Throws if another try is to follow.
 */
export async function transcribeVoiceNote(
  ctx: Context,
  organizationId: string,
  messageId: string,
  { number, signal }: JobAttempt,
): Promise<void> {
  const note = ctx.transcriber && (await findVoiceNote(ctx.database, organizationId, messageId))
  const bytes = note && (await ctx.blobs.open(blobKey(organizationId, note.media_id)))
  if (!ctx.transcriber || !note || !bytes) return

  const { size, mime_type: mimeType } = note
  const filename = `voice.${EXTENSIONS[mimeType] ?? 'ogg'}`
  const outcome = await ctx.transcriber.transcribe({ bytes, size, filename, mimeType }, signal)
  if (outcome.outcome === 'transcribed') {
    const text = toStorable(Array.from(outcome.text.trim()).slice(0, MAX_TEXT_LENGTH).join(''))
    return ctx.database.transaction((transaction) => setTranscription(transaction, organizationId, messageId, text))
  }
  if (!outcome.final && number < MAX_ATTEMPTS) throw new Error(`the voice note was not transcribed: ${outcome.text}`)
  ctx.log.warn({ organizationId, messageId, reason: outcome.text }, 'a voice note could not be transcribed')
}
