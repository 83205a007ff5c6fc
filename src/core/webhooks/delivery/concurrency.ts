import type { EndedAttempt } from './attempt.js'

/** Limits the concurrent deliveries to one endpoint by how it responds. */
export interface Concurrency {
  /** How many may be sent at the same time; 0 in a pause. */
  limit(now: Date): number
  /** True if it limits no more than at first. */
  isUnlimited(now: Date): boolean
  /** Reports a success of an attempt that began at `begunAt`. */
  succeeded(begunAt: Date): void
  /** Reports a failure of an attempt that began at `begunAt`; `retryAfterMs` is the endpoint's Retry-After. */
  failed(begunAt: Date, now: Date, retryAfterMs: number | null): void
}

/** The highest limit. */
export const MAX_IN_FLIGHT = 32
const SLOW_DOWN = 0.75
/**
 * After this many failures in a row the endpoint counts as dead: it gets one delivery at a time, with growing pauses.
 */
const DEAD_AFTER = 8
const FIRST_PAUSE_MS = 1_000
const MAX_PAUSE_MS = 30_000
/** Caps the pause that an endpoint can ask for. */
const MAX_REST_MS = 60_000

/**
 * An adaptive concurrency limit with a circuit breaker. Failures lower the limit step by step, successes raise it.
 * Deliveries to a dead endpoint are held back, so that they do not use up their attempts and arrive soon after it
 * recovers.
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

  /** A longer remainder means that the clock was set back. */
  function isPaused(now: Date): boolean {
    const left = resumesAt - now.getTime()
    return left > 0 && left <= MAX_REST_MS
  }

  return {
    limit: (now) => (isPaused(now) ? 0 : Math.floor(limit)),
    isUnlimited: (now) => limit === MAX_IN_FLIGHT && !isPaused(now),
    succeeded: (begunAt) => {
      failures = 0
      pauseMs = 0
      // An attempt from before the pause says nothing about it.
      if (begunAt.getTime() >= pausedAt) resumesAt = 0
      limit = Math.min(MAX_IN_FLIGHT, limit + 1)
    },
    failed: (begunAt, now, retryAfterMs) => {
      failures += 1
      limit = Math.max(1, limit * SLOW_DOWN)
      if (retryAfterMs !== null) pause(now.getTime(), Math.min(retryAfterMs, MAX_REST_MS))
      // Attempts in flight together fail together: only one that began after a pause makes the next pause longer.
      if (failures < DEAD_AFTER || begunAt.getTime() < pausedAt) return
      limit = 1
      pauseMs = Math.min(MAX_PAUSE_MS, pauseMs === 0 ? FIRST_PAUSE_MS : pauseMs * 2)
      pause(now.getTime(), pauseMs)
    },
  }
}

/** The limits of the endpoints that failed lately. */
export class ConcurrencyLimits {
  readonly #ofWebhooks = new Map<string, Concurrency>()

  /** How many deliveries may be sent to the endpoint at the same time; 0 in a pause. */
  limitOf(webhookId: string, now: Date): number {
    return this.#ofWebhooks.get(webhookId)?.limit(now) ?? MAX_IN_FLIGHT
  }

  /** Adapts the limit of an endpoint to how it has answered. */
  note({ endpoint: { id }, begunAt, sample, retryAfterMs }: EndedAttempt): void {
    if (sample === null) return
    const known = this.#ofWebhooks.get(id)
    if (sample.delivered) {
      known?.succeeded(begunAt)
      if (known?.isUnlimited(sample.at)) this.#ofWebhooks.delete(id)
    } else {
      const concurrency = known ?? createConcurrency()
      concurrency.failed(begunAt, sample.at, retryAfterMs)
      this.#ofWebhooks.set(id, concurrency)
    }
  }
}
