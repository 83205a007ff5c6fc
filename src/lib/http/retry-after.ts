import type { IncomingHttpHeaders } from 'node:http'

/** The longest wait that an answer is believed: who asks for more gets this. Milliseconds. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/**
 * How long the Retry-After header of an answer asks to wait, in milliseconds; null where there is none, it cannot be read, or the
 * time is over. It holds a date or seconds, which some servers write with decimals.
 */
export function readRetryAfter(headers: IncomingHttpHeaders): number | null {
  const value = String(headers['retry-after'] ?? '')
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null
}
