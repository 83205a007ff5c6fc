import { backoffDelay } from '../../lib/async/backoff.js'

/** Milliseconds to wait after failed call number `attempt` (the first is 1), where the upstream says nothing of it. */
export function upstreamBackoff(attempt: number): number {
  return backoffDelay(attempt, { baseMs: 250, maxMs: 4_000, jitter: 0.2 })
}
