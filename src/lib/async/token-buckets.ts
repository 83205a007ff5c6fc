/** A bucket of tokens for each of many keys. */
export interface TokenBuckets {
  /** Takes a token of the key; false where none is left. */
  take(key: string): boolean
  /** Milliseconds until the key has a token; 0 where it has one. */
  waitMs(key: string): number
}

/**
 * Makes buckets that hold `burst` tokens and get one back every `refillMs`. At most `maxKeys` of them are remembered; those that were used
 * least recently are given up, and are full when they are used again.
 */
export function createTokenBuckets(
  { burst, refillMs, maxKeys }: { burst: number; refillMs: number; maxKeys: number },
  clock: () => Date,
): TokenBuckets {
  /** When each bucket is full again, in the order of their use. */
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
