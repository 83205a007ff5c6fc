import type { RawAnswer } from '../lib/http/exchange.js'
import { readRetryAfter } from '../lib/http/retry-after.js'
import { asObject, asText, type JsonObject, parseJsonObject } from '../lib/text/json.js'
import { DEFAULT_WAIT_MS, type Failure } from './outcome.js'

/** A shop's answer, from either API. */
export interface Answer {
  status: number
  /** Null if the answer is not a JSON object. */
  body: JsonObject | null
  /** Milliseconds. */
  retryAfterMs: number | null
  /** The Link header, with the other pages of a list. */
  link: string | null
}

export function readAnswer({ statusCode, headers, body }: RawAnswer): Answer {
  return {
    status: statusCode,
    body: parseJsonObject(body),
    retryAfterMs: readRetryAfter(headers),
    link: asText(headers.link),
  }
}

/** The failure that the status alone shows; null for a JSON object to read. */
export function readStatus({ status, body, retryAfterMs }: Answer): Failure | null {
  const reason = readReason(body?.errors)
  const text = reason === null ? `HTTP ${status}` : `HTTP ${status}: ${reason}`
  if (status === 401 || status === 403) return { outcome: 'credentials_rejected', text }
  if (status === 429) return { outcome: 'limited', retryAfterMs: retryAfterMs ?? DEFAULT_WAIT_MS }
  if (status >= 300 && status < 400) {
    return { outcome: 'unavailable', text: `HTTP ${status}: the shop's URL redirects, which is not followed` }
  }
  if (status < 200 || status > 299) return { outcome: 'unavailable', text }
  return body === null ? { outcome: 'unavailable', text: `HTTP ${status} without a JSON object` } : null
}

/** The text of `errors`: a string in REST, a list of objects in GraphQL. Null if there is none. */
export function readReason(errors: unknown): string | null {
  return asText(Array.isArray(errors) ? asObject(errors[0]).message : errors)
}
