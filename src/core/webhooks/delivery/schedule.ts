const SECOND_MS = 1_000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS

/** The waits after the first, second, … failed attempt. */
const WAITS_MS = [
  5 * SECOND_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  5 * HOUR_MS,
  10 * HOUR_MS,
  14 * HOUR_MS,
  20 * HOUR_MS,
  24 * HOUR_MS,
]
/** The share of a wait that is added at random, so that deliveries that failed together do not retry together. */
const JITTER = 0.2

/**
 * When to retry after failed attempt `attempt` (from 1); null after the last one. Never before the endpoint's
 * Retry-After (`retryAfterMs`).
 */
export function nextAttemptAt(
  attempt: number,
  retryAfterMs: number | null,
  now: Date,
  random: () => number = Math.random,
): Date | null {
  const wait = WAITS_MS[attempt - 1]
  if (wait === undefined) return null
  return new Date(now.getTime() + Math.max(Math.round(wait * (1 + JITTER * random())), retryAfterMs ?? 0))
}
