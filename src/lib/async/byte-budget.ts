/** Bytes that are held in memory at a time by all who share a budget. */
export interface ByteBudget {
  /** Begins to hold what is arriving. `onGivenUp`: called when the room is given to others, before everything has arrived. */
  open(onEvicted: () => void): ByteShare
}

/** What one of them holds. */
export interface ByteShare {
  /** Holds so many bytes in all; false when there is no room for them. */
  reserve(bytes: number): boolean
  /** Everything has arrived: the room is not given to others any more. */
  complete(): void
  /** Gives everything back; called again, it does nothing. */
  release(): void
}

interface Holder extends ByteShare {
  evict(): void
}

/**
 * Makes a budget of `capacity` bytes, of which a share takes at least `floor`. Where there is no room, what has been arriving for
 * the longest time gives way: senders that stop in the middle keep nobody out.
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
