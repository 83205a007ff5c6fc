import type { RawAnswer } from '../lib/http/exchange.js'
import { readRetryAfter } from '../lib/http/retry-after.js'
import { asObject, asText, type JsonObject, parseJsonObject } from '../lib/text/json.js'
import { isStorable, toStorable } from '../lib/text/text.js'
import { classifyRefusal, type RefusalClass } from './errors.js'

/** An error of the upstream. `text` are its details if it has any, otherwise its `message`; both are storable. */
export interface AnswerError {
  code: number
  /** Distinguishes errors of the same code; 0: none. */
  subcode: number
  kind: RefusalClass
  text: string
  message: string
}

/** The upstream's answer to a call. An error body is classified by its code, regardless of the HTTP status. */
export interface Answer {
  status: number
  isSuccess: boolean
  /** Null if the answer is not a JSON object. */
  body: JsonObject | null
  /** Null if there is no error body. */
  error: AnswerError | null
  /** Milliseconds. */
  retryAfterMs: number | null
  /** The upstream's own id of the request, which its support asks for. */
  requestId: string | null
}

/** Longer ids would not fit into an index; the upstream's are shorter. */
const MAX_ID_LENGTH = 512
const MAX_REASON_LENGTH = 1_000

export function readAnswer({ statusCode, headers, body }: RawAnswer): Answer {
  const object = parseJsonObject(body)
  return {
    status: statusCode,
    isSuccess: statusCode >= 200 && statusCode < 300,
    body: object,
    error: readError(asObject(object?.error)),
    retryAfterMs: readRetryAfter(headers),
    requestId: readRequestId(asObject(object?.error).fbtrace_id) ?? readRequestId(headers['x-fb-trace-id']),
  }
}

/** Shown to people, so only what such ids consist of. */
function readRequestId(value: unknown): string | null {
  return typeof value === 'string' && /^[\w-]{1,64}$/.test(value) ? value : null
}

/** An id that can be stored, or null. */
export function readId(value: unknown): string | null {
  const id = asText(value)
  return id !== null && id.length <= MAX_ID_LENGTH && isStorable(id) ? id : null
}

/** The text for an answer without an error body, which does not come from the upstream's API. */
export function bareStatusText(status: number): string {
  return `HTTP ${status} without an error body: the server at PARLEY_UPSTREAM_URL may not be the upstream's API`
}

/** An error of an answer, or of a part of it; null if it is none. */
export function readError(error: JsonObject): AnswerError | null {
  if (!Number.isSafeInteger(error.code)) return null
  const code = error.code as number
  const message = asText(error.message) ?? `error ${code}`
  const details = asText(asObject(error.error_data).details)
  const subcode = Number.isSafeInteger(error.error_subcode) ? (error.error_subcode as number) : 0
  const show = (text: string) => toStorable(text.slice(0, MAX_REASON_LENGTH))
  return { code, subcode, kind: classifyRefusal(code), text: show(details ?? message), message: show(message) }
}
