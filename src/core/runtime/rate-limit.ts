import type { Context } from '../../context.js'
import { leaseTokens } from '../../storage/runtime/rate-limit.js'

/** What a request is told of its key's limit. Counts are requests, times seconds. */
export interface RateDecision {
  allowed: boolean
  limit: number
  remaining: number
  /** Until the bucket is full again. */
  resetSeconds: number
  /** Until one more request will pass; 0 when this one did. */
  retryAfterSeconds: number
}

interface Lease {
  tokens: number
  /** Requests that want a token now. */
  waiting: number
  /** What the shared bucket held after the last lease, and when that was. */
  left: number
  at: number
  pending: Promise<void> | null
}

/** More keys than a process sees in a while; the leases of the rest are given up. */
const MAX_LEASES = 10_000

/**
 * Makes the limiter of a process: `rate` requests a second per key, bursts of twice that, over all processes. Tokens are
 * leased from the shared bucket in batches, so the limit may be exceeded by one batch for each process (contract 1).
 */
export function createRateLimiter(
  ctx: Context,
  rate: number,
): (organizationId: string, keyId: string) => Promise<RateDecision> {
  const burst = rate * 2
  const batch = Math.max(1, Math.floor(rate / 10))
  const leases = new Map<string, Lease>()

  async function renew(lease: Lease, organizationId: string, keyId: string): Promise<void> {
    // Those who wait use theirs at once, so that no more than a batch is ever put by.
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
      // A renewal that began before this request came did not count it; the next one does.
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
