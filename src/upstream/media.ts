import { createReadStream } from 'node:fs'
import { multipartForm } from '../lib/http/multipart.js'
import { asText } from '../lib/text/json.js'
import { type Answer, bareStatusText, readId } from './answer.js'
import { type BusinessNumber, type Connection, makeCall } from './connection.js'

/** A file on this machine that is to be uploaded. */
export interface UploadFile {
  path: string
  /** Bytes. */
  size: number
  /** The canonical type of its content: the upstream checks the part's. */
  mimeType: string
  /** Without a dot. */
  extension: string
}

/** What became of an upload. One that failed may always be repeated: at worst a file lies at the upstream that nobody names. */
export type UploadOutcome =
  | { outcome: 'uploaded'; mediaId: string }
  /** `code` is the upstream's, or the HTTP status where its answer has none. */
  | { outcome: 'refused'; because: 'message' | 'credentials'; code: number; text: string }
  | {
      outcome: 'failed'
      code: number | null
      text: string
      /** Whether trying again at once makes sense. */
      mayRetry: boolean
      retryAfterMs: number | null
    }

/** Where a file of the upstream is to be had; the address works for five minutes. */
export type FindMediaOutcome =
  | { outcome: 'found'; url: string; mimeType: string | null; size: number | null }
  /** There is no such file, or not any more. */
  | { outcome: 'gone'; text: string }
  | { outcome: 'failed'; text: string }

/** Code of an object that does not exist; of other calls it says that a parameter is wrong. */
const NO_SUCH_OBJECT = 100

/** Uploads a file under a business number; gives up after `timeoutMs`. Never throws. */
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
    return { outcome: 'failed', code: null, text: `no answer: ${reasonOf(error)}`, mayRetry: true, retryAfterMs: null }
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
  // Whose limit this is nobody says, so it is for the caller to come back later.
  if (status === 429) return { outcome: 'failed', code: null, text, mayRetry: false, retryAfterMs }
  return { outcome: 'refused', because: 'message', code: status, text }
}

/** Asks where the file is that an id names; gives up after `timeoutMs`. Never throws. */
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
    return { outcome: 'failed', text: `no answer: ${reasonOf(error)}` }
  }
}

function toFindOutcome({ status, isSuccess, body, error }: Answer): FindMediaOutcome {
  const url = isSuccess ? asText(body?.url) : null
  if (url !== null) return { outcome: 'found', url, mimeType: asText(body?.mime_type), size: readSize(body?.file_size) }
  const text = error?.text ?? (isSuccess ? `HTTP ${status} without an address` : bareStatusText(status))
  return { outcome: error?.code === NO_SUCH_OBJECT || status === 404 ? 'gone' : 'failed', text }
}

/** Written as a number or as a string. */
function readSize(value: unknown): number | null {
  const size = typeof value === 'string' && value !== '' ? Number(value) : value
  return typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : null
}

function reasonOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
