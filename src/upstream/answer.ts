import { asObject, asText, isJsonObject, type JsonObject } from '../lib/json.js'
import { isStorable, toStorable } from '../lib/text.js'
import { classifyRefusal, type RefusalClass } from './errors.js'
import type { RawAnswer } from './exchange.js'

/** What the upstream answered to a call: an error body is told by its code, whatever the HTTP status. */
export interface Answer {
  status: number
  isSuccess: boolean
  /** Null where the answer is no JSON object. */
  body: JsonObject | null
  /** Null where the answer has no error body. */
  error: { code: number; kind: RefusalClass; text: string } | null
  /** Milliseconds. */
  retryAfterMs: number | null
}

/** An id longer than this would not fit into an index, and no upstream makes one. */
const MAX_ID_LENGTH = 512
const MAX_REASON_LENGTH = 1_000
const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/** Reads what an answer says. */
export function readAnswer({ statusCode, headers, body }: RawAnswer): Answer {
  const object = parseObject(body)
  return {
    status: statusCode,
    isSuccess: statusCode >= 200 && statusCode < 300,
    body: object,
    error: readError(asObject(object?.error)),
    retryAfterMs: readRetryAfter(headers),
  }
}

/** An id that can be stored, or null. */
export function readId(value: unknown): string | null {
  const id = asText(value)
  return id !== null && id.length <= MAX_ID_LENGTH && isStorable(id) ? id : null
}

/** What to say of an answer without an error body: it comes from something in between. */
export function bareStatusText(status: number): string {
  return `HTTP ${status} without an error body: what answers at PARLEY_UPSTREAM_URL may not be the upstream's API`
}

function readError(error: JsonObject): Answer['error'] {
  if (!Number.isSafeInteger(error.code)) return null
  const code = error.code as number
  const reason = asText(asObject(error.error_data).details) ?? asText(error.message) ?? `error ${code}`
  return { code, kind: classifyRefusal(code), text: toStorable(reason.slice(0, MAX_REASON_LENGTH)) }
}

/** The header holds seconds or a date. */
function readRetryAfter(headers: RawAnswer['headers']): number | null {
  const value = String(headers['retry-after'] ?? '')
  const ms = /^\d+$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null
}

function parseObject(body: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(body)
    return isJsonObject(value) ? value : null
  } catch {
    return null
  }
}
