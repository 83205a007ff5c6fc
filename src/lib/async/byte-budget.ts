import type { Shortage } from './fair-places.js'

/** A number of bytes that many users share, in memory or on disk. */
export interface ByteBudget {
  /**
   * Opens a share of a key for data that is arriving. `onEvicted` is called if its bytes are given to others first.
   */
  open(key: string, onEvicted: (shortage: Shortage) => void): ByteShare
}

/** One user's part of the budget. */
export interface ByteShare {
  /** Sets the share to `bytes`. Null: it has them; otherwise why there is no room. */
  reserve(bytes: number): Shortage | null
  /** All data has arrived: the share cannot be evicted any more. */
  complete(): void
  /** Gives all bytes back; further calls do nothing. */
  release(): void
}

/** How many bytes there are, and how they are shared. */
export interface ByteLimits {
  capacity: number
  /** The most that one key may take. */
  ofOneKey: number
  /** What each share takes at least. */
  floor: number
}

interface Holder extends ByteShare {
  key: string
  evict(shortage: Shortage): void
}

/**
 * Creates a budget. Without room, the share that has been arriving longest is evicted, so that stalled senders block no
 * one: one of the same key if that has its whole part, otherwise one of the key that holds most. So nobody who holds
 * little is evicted for one who holds more.
 */
export function createByteBudget({ capacity, ofOneKey, floor }: ByteLimits): ByteBudget {
  const arriving = new Set<Holder>()
  const heldBy = new Map<string, number>()
  let held = 0

  function add(key: string, bytes: number): void {
    const own = (heldBy.get(key) ?? 0) + bytes
    if (own > 0) heldBy.set(key, own)
    else heldBy.delete(key)
    held += bytes
  }

  /** The arriving share to evict for `share`, which needs more; null if there is none. */
  function oldest(share: Holder, shortage: Shortage): Holder | null {
    let found: Holder | null = null
    for (const other of arriving) {
      if (other === share || (shortage === 'own' && other.key !== share.key)) continue
      if (found === null || of(other) > of(found)) found = other
    }
    return shortage === 'all' && found !== null && of(found) < of(share) ? null : found
  }

  const of = ({ key }: Holder) => heldBy.get(key) ?? 0

  return {
    open: (key, onEvicted) => {
      let own = 0
      const shortageOf = (more: number): Shortage | null => {
        if (of(share) + more > ofOneKey) return 'own'
        return held + more > capacity ? 'all' : null
      }
      const share: Holder = {
        key,
        reserve: (bytes) => {
          const more = Math.max(bytes, floor) - own
          for (let shortage = shortageOf(more); shortage !== null; shortage = shortageOf(more)) {
            const evicted = oldest(share, shortage)
            if (evicted === null) return shortage
            evicted.evict(shortage)
          }
          add(key, more)
          own += more
          return null
        },
        complete: () => arriving.delete(share),
        release: () => {
          arriving.delete(share)
          add(key, -own)
          own = 0
        },
        evict: (shortage) => {
          share.release()
          onEvicted(shortage)
        },
      }
      arriving.add(share)
      return share
    },
  }
}
