/** One token bucket per key. */
export interface TokenBuckets {
  /** Takes a token; false if there is none. */
  take(key: string): boolean
  /** Milliseconds until the key has a token; 0 if it has one. */
  waitMs(key: string): number
}

/**
 * Creates buckets of `burst` tokens that regain one every `refillMs`. At most `maxKeys` are kept; a bucket that was
 * dropped (least recently used first) starts full.
 */
export function createTokenBuckets(
  { burst, refillMs, maxKeys }: { burst: number; refillMs: number; maxKeys: number },
  clock: () => Date,
): TokenBuckets {
  /** When each bucket will be full, least recently used first. */
  const fullAt = new Map<string, number>()
  const waitMs = (key: string, now: number) => Math.max(0, (fullAt.get(key) ?? now) - now - (burst - 1) * refillMs)

  return {
    waitMs: (key) => waitMs(key, clock().getTime()),
    take: (key) => {
      const now = clock().getTime()
      if (waitMs(key, now) > 0) return false
      const next = Math.max(fullAt.get(key) ?? now, now) + refillMs
      fullAt.delete(key)
      fullAt.set(key, next)
      const [oldest] = fullAt.keys()
      if (fullAt.size > maxKeys && oldest !== undefined) fullAt.delete(oldest)
      return true
    },
  }
}
