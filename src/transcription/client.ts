import type { Readable } from 'node:stream'
import { createHttpClient, type HttpClient } from '../lib/http/client.js'
import { exchange, type RawAnswer } from '../lib/http/exchange.js'
import { multipartForm } from '../lib/http/multipart.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject, asText, parseJsonObject } from '../lib/text/json.js'
import { MEBIBYTE } from '../lib/text/units.js'

/** A recording to transcribe. */
export interface Recording {
  bytes: Readable
  /** Bytes. */
  size: number
  /** With the extension of its type, from which services know the format. */
  filename: string
  mimeType: string
}

/** The outcome of a transcription. `final`: a retry would not change it. */
export type TranscribeOutcome =
  | { outcome: 'transcribed'; text: string }
  | { outcome: 'failed'; text: string; final: boolean }

/** A transcription service. */
export interface Transcriber {
  /** Transcribes one recording and always ends its stream. Throws only if `signal` is aborted. */
  transcribe(recording: Recording, signal: AbortSignal): Promise<TranscribeOutcome>
  close(): Promise<void>
}

/** A service with OpenAI's interface: the full URL of the endpoint, an optional key, the model. */
export interface TranscriptionSettings {
  url: string
  key: string | undefined
  model: string
}

/** The usual maximum of such services. */
const MAX_BYTES = 25 * MEBIBYTE
const CONNECT_TIMEOUT_MS = 5_000
const TIMEOUT_MS = 120_000
const KEEP_ALIVE_MS = 4_000
const MAX_REASON_LENGTH = 300
/** Temporary refusals. */
const PASSING = new Set([408, 409, 425, 429])

/** A client of a transcription service. */
export function createTranscriber(settings: TranscriptionSettings): Transcriber {
  const client = createHttpClient({ connectTimeoutMs: CONNECT_TIMEOUT_MS, keepAliveMs: KEEP_ALIVE_MS })
  return {
    transcribe: async (recording, signal) => {
      try {
        return await transcribe(client, settings, recording, signal)
      } finally {
        recording.bytes.destroy()
      }
    },
    close: () => client.drain(),
  }
}

async function transcribe(
  client: HttpClient,
  { url, key, model }: TranscriptionSettings,
  { bytes, size, filename, mimeType }: Recording,
  signal: AbortSignal,
): Promise<TranscribeOutcome> {
  if (size > MAX_BYTES) {
    return { outcome: 'failed', text: `${size} bytes are more than the ${MAX_BYTES} that are sent`, final: true }
  }
  const form = multipartForm({ model, response_format: 'json' }, { filename, mimeType, size, open: () => bytes })
  const origin = new URL(url)
  const headers = { ...(key === undefined ? {} : { authorization: `Bearer ${key}` }), ...form.headers }
  const request = { origin, path: origin.pathname + origin.search, method: 'POST', headers, body: form.body }
  try {
    return readAnswer(await exchange(client, request, AbortSignal.any([signal, AbortSignal.timeout(TIMEOUT_MS)])))
  } catch (error) {
    signal.throwIfAborted()
    return { outcome: 'failed', text: `no answer: ${errorMessage(error)}`, final: false }
  }
}

/** A refused key is not final: it may be corrected while the recording waits. */
function readAnswer({ statusCode, body }: RawAnswer): TranscribeOutcome {
  const answer = parseJsonObject(body)
  if (statusCode >= 200 && statusCode < 300) {
    if (typeof answer?.text === 'string') return { outcome: 'transcribed', text: answer.text }
    return { outcome: 'failed', text: `HTTP ${statusCode} without a text`, final: false }
  }
  const reason = asText(asObject(answer?.error).message)?.slice(0, MAX_REASON_LENGTH)
  const text = reason === undefined ? `HTTP ${statusCode}` : `HTTP ${statusCode}: ${reason}`
  const isFinal = statusCode >= 400 && statusCode < 500 && !PASSING.has(statusCode)
  return { outcome: 'failed', text, final: isFinal && statusCode !== 401 && statusCode !== 403 }
}
