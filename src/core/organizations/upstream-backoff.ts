import { backoffDelay } from '../../lib/async/backoff.js'

/** Milliseconds to wait after failed call `attempt` (from 1), if the upstream gives no time. */
export function upstreamBackoff(attempt: number): number {
  return backoffDelay(attempt, { baseMs: 250, maxMs: 4_000, jitter: 0.2 })
}
