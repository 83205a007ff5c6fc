/** Bytes in memory, shared by all users of the budget. */
export interface ByteBudget {
  /** Opens a share for data that is arriving. `onEvicted` is called if its bytes are given to others first. */
  open(onEvicted: () => void): ByteShare
}

/** One user's part of the budget. */
export interface ByteShare {
  /** Sets the share to `bytes`; false if there is no room. */
  reserve(bytes: number): boolean
  /** All data has arrived: the share cannot be evicted any more. */
  complete(): void
  /** Gives all bytes back; further calls do nothing. */
  release(): void
}

interface Holder extends ByteShare {
  evict(): void
}

/**
 * Creates a budget of `capacity` bytes; each share takes at least `floor`. Without room, the share that has been
 * arriving longest is evicted, so that stalled senders block no one.
 */
export function createByteBudget(capacity: number, floor: number): ByteBudget {
  const arriving = new Set<Holder>()
  let held = 0

  return {
    open: (onEvicted) => {
      let own = 0
      const share: Holder = {
        reserve: (bytes) => {
          const more = Math.max(bytes, floor) - own
          for (const oldest of arriving) {
            if (held + more <= capacity) break
            if (oldest !== share) oldest.evict()
          }
          if (held + more > capacity) return false
          held += more
          own += more
          return true
        },
        complete: () => arriving.delete(share),
        release: () => {
          arriving.delete(share)
          held -= own
          own = 0
        },
        evict: () => {
          share.release()
          onEvicted()
        },
      }
      arriving.add(share)
      return share
    },
  }
}
