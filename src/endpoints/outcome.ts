import { toStorable } from '../lib/text/text.js'

/** What became of one call. */
export interface EndpointAnswer {
  outcome: 'delivered' | 'failed'
  /** Null where no status came. */
  status: number | null
  /** What went wrong, as one short sentence for people; null when it was delivered. */
  error: string | null
  /** How long the answer of a failure asks to wait. */
  retryAfterMs: number | null
  /** The first 500 characters of a failure's answer, fit for the database; null where there was no answer, or nothing wrong with it. */
  responseBody: string | null
  /** From the beginning until the answer had ended or was given up. */
  durationMs: number
}

const MAX_BODY_LENGTH = 500
/** Bytes that surely hold so many characters. */
export const KEPT_BYTES = 4 * MAX_BODY_LENGTH

/** The outcome of a call that delivered. */
export function delivery(status: number, durationMs: number): EndpointAnswer {
  return { outcome: 'delivered', status, error: null, retryAfterMs: null, responseBody: null, durationMs }
}

/** The outcome of a call that did not; what is not given was not there. */
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
