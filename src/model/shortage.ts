import type { Shortage } from '../lib/async/fair-places.js'
import { Problem } from './problem.js'

/**
 * The problem of a request for which nothing is left of what all share: `too_many_requests` if its own organization or
 * network has its whole share, else `service_unavailable`. `texts`: the message of each.
 */
export function shortageProblem(shortage: Shortage, texts: Record<Shortage, string>, retrySeconds: number): Problem {
  const code = shortage === 'own' ? 'too_many_requests' : 'service_unavailable'
  return new Problem(code, texts[shortage], { retry_after: retrySeconds })
}
