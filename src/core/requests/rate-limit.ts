import type { RequestContext } from '../../context.js'
import { leaseTokens } from '../../storage/requests/rate-limit.js'

/** The state of a key's limit for the answer. Counts are requests, times are seconds. */
export interface RateDecision {
  allowed: boolean
  limit: number
  remaining: number
  /** Time until the bucket is full. */
  resetSeconds: number
  /** Time until one more request may pass; 0 if this one did. */
  retryAfterSeconds: number
}

interface Lease {
  tokens: number
  /** Requests that are waiting for a token. */
  waiting: number
  /** The tokens of the shared bucket after the last lease, and the time of that lease. */
  left: number
  at: number
  pending: Promise<void> | null
}

/** Beyond this number of keys, which a process hardly sees at a time, all leases are dropped. */
const MAX_LEASES = 10_000

/**
 * Creates the limiter of this process: `rate` requests per second and key, with bursts of twice that, over all
 * processes. Tokens are leased from the shared bucket in batches, so each process may exceed the limit by one batch.
 */
export function createRateLimiter(
  ctx: RequestContext,
  rate: number,
): (organizationId: string, keyId: string) => Promise<RateDecision> {
  const burst = rate * 2
  const batch = Math.max(1, Math.floor(rate / 10))
  const leases = new Map<string, Lease>()

  async function renew(lease: Lease, organizationId: string, keyId: string): Promise<void> {
    // Waiting requests use theirs at once, so no more than a batch is kept.
    const wanted = Math.max(batch, lease.waiting)
    const { granted, left } = await leaseTokens(ctx.database, organizationId, keyId, { rate, burst, wanted })
    lease.tokens += granted
    lease.left = left
    lease.at = ctx.clock().getTime()
  }

  function leaseOf(keyId: string): Lease {
    const known = leases.get(keyId)
    if (known) return known
    if (leases.size >= MAX_LEASES) leases.clear()
    const lease: Lease = { tokens: 0, waiting: 0, left: burst, at: ctx.clock().getTime(), pending: null }
    leases.set(keyId, lease)
    return lease
  }

  async function renewAndSpend(lease: Lease, organizationId: string, keyId: string): Promise<boolean> {
    lease.waiting += 1
    try {
      // A renewal that began before this request did not count it; the next one does.
      for (let attempt = 0; lease.tokens < 1 && attempt < 2; attempt++) {
        lease.pending ??= renew(lease, organizationId, keyId).finally(() => {
          lease.pending = null
        })
        await lease.pending
      }
      return spend(lease)
    } finally {
      lease.waiting -= 1
    }
  }

  return async (organizationId, keyId) => {
    const lease = leaseOf(keyId)
    const allowed = spend(lease) || (await renewAndSpend(lease, organizationId, keyId))
    const refilled = ((ctx.clock().getTime() - lease.at) / 1000) * rate
    const available = Math.min(burst, lease.left + lease.tokens + refilled)
    return {
      allowed,
      limit: burst,
      remaining: allowed ? Math.max(0, Math.floor(available)) : 0,
      resetSeconds: Math.max(0, Math.ceil((burst - available) / rate)),
      retryAfterSeconds: allowed ? 0 : Math.max(1, Math.ceil((1 - available) / rate)),
    }
  }
}

function spend(lease: Lease): boolean {
  if (lease.tokens < 1) return false
  lease.tokens -= 1
  return true
}
