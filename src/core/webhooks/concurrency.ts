/** How much is sent to an endpoint at a time, by how it takes it. */
export interface Concurrency {
  /** How many are sent at a time. */
  limit(): number
  /** Whether one more may be sent while so many are in flight. */
  allows(inFlight: number, now: Date): boolean
  /** Until when nothing is sent; null where that is not so. */
  pausedUntil(now: Date): Date | null
  /** An attempt that began at `begunAt` has succeeded. */
  succeeded(begunAt: Date): void
  /** An attempt that began at `begunAt` has failed; `retryAfterMs`: how long the endpoint asked to be left alone. */
  failed(begunAt: Date, now: Date, retryAfterMs: number | null): void
}

/** The most that is in flight to one endpoint. */
export const MAX_IN_FLIGHT = 32
const SLOW_DOWN = 0.75
/** So many failures in a row, and the endpoint counts as dead: it is tried with one delivery at a time, ever more rarely. */
const DEAD_AFTER = 8
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** No endpoint keeps all of its deliveries waiting for longer by asking for it. */
const MAX_REST_MS = 60_000

/**
 * A pace for one endpoint. Failures make it slower step by step, successes faster again. What a dead endpoint would only refuse
 * is kept back, so that it does not use up attempts and arrives soon after the endpoint is back.
 */
export function createConcurrency(): Concurrency {
  let limit = MAX_IN_FLIGHT
  let failures = 0
  let pauseMs = 0
  let pausedAt = 0
  let resumesAt = 0

  function pause(now: number, ms: number): void {
    pausedAt = now
    resumesAt = Math.max(resumesAt, now + ms)
  }

  /** A pause that is longer than any is one of a clock that has been set back since. */
  function isPaused(now: Date): boolean {
    const left = resumesAt - now.getTime()
    return left > 0 && left <= MAX_REST_MS
  }

  return {
    limit: () => Math.floor(limit),
    allows: (inFlight, now) => inFlight < Math.floor(limit) && !isPaused(now),
    pausedUntil: (now) => (isPaused(now) ? new Date(resumesAt) : null),
    succeeded: (begunAt) => {
      failures = 0
      pauseMs = 0
      // What was sent before the pause says nothing of it.
      if (begunAt.getTime() >= pausedAt) resumesAt = 0
      limit = Math.min(MAX_IN_FLIGHT, limit + 1)
    },
    failed: (begunAt, now, retryAfterMs) => {
      failures += 1
      limit = Math.max(1, limit * SLOW_DOWN)
      if (retryAfterMs !== null) pause(now.getTime(), Math.min(retryAfterMs, MAX_REST_MS))
      // Those that were in flight together fail together: only what was sent after a pause makes the next one longer.
      if (failures < DEAD_AFTER || begunAt.getTime() < pausedAt) return
      limit = 1
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs === 0 ? FIRST_PAUSE_MS : pauseMs * 2)
      pause(now.getTime(), pauseMs)
    },
  }
}
