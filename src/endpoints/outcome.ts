import { toStorable } from '../lib/text/text.js'

/** The outcome of one call. */
export interface EndpointAnswer {
  outcome: 'delivered' | 'failed'
  /** Null if no status arrived. */
  status: number | null
  /** What went wrong, as a short sentence for users; null if it was delivered. */
  error: string | null
  /** The Retry-After of a failure. */
  retryAfterMs: number | null
  /** The first 500 characters of a failure's answer, storable as text; null if there was none. */
  responseBody: string | null
  /** Until the answer has ended or was aborted. */
  durationMs: number
}

const MAX_BODY_LENGTH = 500
/** Enough bytes for that many characters. */
export const KEPT_BYTES = 4 * MAX_BODY_LENGTH

/** The outcome of a call that delivered. */
export function delivery(status: number, durationMs: number): EndpointAnswer {
  return { outcome: 'delivered', status, error: null, retryAfterMs: null, responseBody: null, durationMs }
}

/** The outcome of a failed call; absent values were not there. */
export function failure({
  error,
  status = null,
  retryAfterMs = null,
  body = null,
  durationMs = 0,
}: {
  error: string
  status?: number | null
  retryAfterMs?: number | null
  /** The beginning of the answer. */
  body?: Buffer | null
  durationMs?: number
}): EndpointAnswer {
  const responseBody = body && toStorable(body.toString().slice(0, MAX_BODY_LENGTH))
  return { outcome: 'failed', status, error, retryAfterMs, responseBody, durationMs }
}
