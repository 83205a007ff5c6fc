import type { IncomingHttpHeaders } from 'node:http'

/** The longest accepted Retry-After in milliseconds; longer ones are cut to this. */
export const MAX_RETRY_AFTER_MS = 24 * 3_600_000

/**
 * The Retry-After header in milliseconds; null if it is missing, unreadable or in the past. It is a date or seconds,
 * which some servers write with decimals.
 */
export function readRetryAfter(headers: IncomingHttpHeaders): number | null {
  const value = String(headers['retry-after'] ?? '')
  const ms = /^\d+(\.\d+)?$/.test(value) ? Number(value) * 1_000 : Date.parse(value) - Date.now()
  return ms > 0 ? Math.min(ms, MAX_RETRY_AFTER_MS) : null
}
