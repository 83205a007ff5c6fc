import { createReadStream } from 'node:fs'
import { multipartForm } from '../lib/http/multipart.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asText } from '../lib/text/json.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'

/** A local file to upload. */
export interface UploadFile {
  path: string
  /** Bytes. */
  size: number
  /** The canonical type of the content; the upstream checks it. */
  mimeType: string
  /** Without a dot. */
  extension: string
}

/** The outcome of an upload. A failed one can always be repeated; at worst an unused file stays at the upstream. */
export type UploadOutcome =
  | { outcome: 'uploaded'; mediaId: string }
  /** `code` is the upstream's, or the HTTP status if there is none. */
  | { outcome: 'refused'; because: 'message' | 'credentials'; code: number; text: string }
  | {
      outcome: 'failed'
      code: number | null
      text: string
      /** True if an immediate retry makes sense. */
      mayRetry: boolean
      retryAfterMs: number | null
    }

/** The address of a file; it is valid for five minutes. */
export type FindMediaOutcome =
  | { outcome: 'found'; url: string; mimeType: string | null; size: number | null }
  /** The file does not exist any more. */
  | { outcome: 'gone'; text: string }
  | { outcome: 'failed'; text: string }

/** The code of an unknown object; other calls use it for invalid parameters. */
const NO_SUCH_OBJECT = 100

/** Uploads a file under a business number, waiting at most `timeoutMs`. Never throws. */
export async function uploadMedia(
  connection: Connection,
  number: BusinessNumber,
  file: UploadFile,
  timeoutMs: number,
): Promise<UploadOutcome> {
  const { mimeType, size, extension } = file
  const form = multipartForm(
    { messaging_product: 'whatsapp', type: mimeType },
    { filename: `file.${extension}`, mimeType, size, open: () => createReadStream(file.path) },
  )
  const path = `/${encodeURIComponent(number.phoneNumberId)}/media`
  try {
    return toUploadOutcome(await makeCall(connection, number, { method: 'POST', path, ...form }, timeoutMs))
  } catch (error) {
    return {
      outcome: 'failed',
      code: null,
      text: `no answer: ${errorMessage(error)}`,
      mayRetry: true,
      retryAfterMs: null,
    }
  }
}

function toUploadOutcome(answer: Answer): UploadOutcome {
  const { status, error, retryAfterMs } = answer
  const mediaId = answer.isSuccess ? readId(answer.body?.id) : null
  if (mediaId !== null) return { outcome: 'uploaded', mediaId }
  if (error) {
    const { code, kind, text } = error
    if (kind === 'credentials') return { outcome: 'refused', because: 'credentials', code, text }
    const mayPass = kind === 'limited' || kind === 'busy' || status >= 500
    if (mayPass) return { outcome: 'failed', code, text, mayRetry: true, retryAfterMs }
    return { outcome: 'refused', because: 'message', code, text }
  }
  if (answer.isSuccess) {
    return { outcome: 'failed', code: null, text: `HTTP ${status} without a media id`, mayRetry: false, retryAfterMs }
  }
  const text = bareStatusText(status)
  if (status === 401 || status === 403) return { outcome: 'refused', because: 'credentials', code: status, text }
  if (status >= 500 || status === 408) return { outcome: 'failed', code: null, text, mayRetry: true, retryAfterMs }
  // It is unknown whose limit this is, so the caller retries later.
  if (status === 429) return { outcome: 'failed', code: null, text, mayRetry: false, retryAfterMs }
  return { outcome: 'refused', because: 'message', code: status, text }
}

/** Finds the address of a file by its id, waiting at most `timeoutMs`. Never throws. */
export async function findMedia(
  connection: Connection,
  number: BusinessNumber,
  mediaId: string,
  timeoutMs: number,
): Promise<FindMediaOutcome> {
  const path = `/${encodeURIComponent(mediaId)}?phone_number_id=${encodeURIComponent(number.phoneNumberId)}`
  try {
    return toFindOutcome(await makeCall(connection, number, { method: 'GET', path }, timeoutMs))
  } catch (error) {
    return { outcome: 'failed', text: `no answer: ${errorMessage(error)}` }
  }
}

function toFindOutcome({ status, isSuccess, body, error }: Answer): FindMediaOutcome {
  const url = isSuccess ? asText(body?.url) : null
  if (url !== null) return { outcome: 'found', url, mimeType: asText(body?.mime_type), size: readSize(body?.file_size) }
  const text = error?.text ?? (isSuccess ? `HTTP ${status} without an address` : bareStatusText(status))
  return { outcome: error?.code === NO_SUCH_OBJECT || status === 404 ? 'gone' : 'failed', text }
}

/** A number or a string. */
function readSize(value: unknown): number | null {
  const size = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null
}
