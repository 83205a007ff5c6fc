/** Why no place is free. `own`: the key has all that it may have; `all`: all places are taken. */
export type Shortage = 'own' | 'all'

/** Thrown if no place was free within the maximum wait. */
export class NoPlaceError extends Error {
  readonly shortage: Shortage

  constructor(shortage: Shortage, waitMs: number) {
    super(
      `no place was free within ${waitMs} ms: ${shortage === 'own' ? 'the key has its whole share' : 'all are taken'}`,
    )
    this.name = 'NoPlaceError'
    this.shortage = shortage
  }
}

/** How many places there are, and how they are shared. A maximum that is not given is the number of places. */
export interface PlaceLimits {
  places: number
  /** The most that one key may have. */
  ofOneKey?: number
  /** The most that all keys together may have. */
  ofAllKeys?: number
  /** The most that work without a key may have. It goes before all other work. */
  ofNoKey?: number
  /** Whether a key leaves at least as many places free as it has. */
  leavesHalf?: boolean
  /** The maximum wait for a place, in ms. Without it, work waits until a place is free. */
  waitMs?: number
}

interface Waiting {
  admit: () => void
  timer: NodeJS.Timeout | null
}

/** The places and the waiting work of one key. */
interface KeyState {
  taken: number
  waiting: Waiting[]
}

/**
 * Places that keys share. The keys with waiting work get them round robin, so that none waits for the whole queue of
 * another. Within a key, first come, first served.
 */
export class FairPlaces {
  readonly #limits: Required<PlaceLimits>
  readonly #keys = new Map<string | null, KeyState>()
  /** The keys with waiting work, the next one first. */
  readonly #waitingKeys = new Set<string>()
  #taken = 0
  #takenByKeys = 0

  constructor(limits: PlaceLimits) {
    const { places } = limits
    const whole = { ofOneKey: places, ofAllKeys: places, ofNoKey: places }
    this.#limits = { ...whole, leavesHalf: false, waitMs: Number.POSITIVE_INFINITY, ...limits }
  }

  /** Runs work in a place of the key, when one is free. Throws NoPlaceError, or what the work throws. */
  async run<Result>(key: string | null, work: () => Promise<Result>): Promise<Result> {
    const wait = this.acquire(key)
    if (wait) await wait
    try {
      return await work()
    } finally {
      this.release(key)
    }
  }

  /** Acquires a place. Null: it has one; otherwise a promise that resolves when it has, or rejects with NoPlaceError. */
  acquire(key: string | null): Promise<void> | null {
    // While any place is free, work waits only for the limits of its key, so this overtakes none.
    if (this.free(key) === 0) return this.#wait(key)
    this.#count(key, 1)
    return null
  }

  /** Acquires places at once, whether they are free or not. */
  acquireNow(key: string | null, count = 1): void {
    this.#count(key, count)
  }

  /** Gives acquired places back. */
  release(key: string | null, count = 1): void {
    this.#count(key, -count)
    while (this.#admitNext()) {}
  }

  /** How many more places the key may have at this moment. */
  free(key: string | null): number {
    const { places, ofAllKeys, leavesHalf } = this.#limits
    const taken = this.takenBy(key)
    const left = places - this.#taken
    const most = Math.min(
      leavesHalf ? Math.ceil((left - taken) / 2) : left,
      this.#maximumOf(key) - taken,
      key === null ? left : ofAllKeys - this.#takenByKeys,
    )
    return Math.max(0, most)
  }

  /** Why no place is free for the key; null if one is. */
  shortage(key: string | null): Shortage | null {
    if (this.free(key) > 0) return null
    return this.takenBy(key) >= this.#maximumOf(key) ? 'own' : 'all'
  }

  /** How many places the key has. */
  takenBy(key: string | null): number {
    return this.#keys.get(key)?.taken ?? 0
  }

  /** Whether no place is taken, and no work waits. */
  isUnused(): boolean {
    return this.#keys.size === 0
  }

  /** How many places are taken, and how much work waits for one. */
  figures(): { taken: number; waiting: number } {
    let waiting = 0
    for (const state of this.#keys.values()) waiting += state.waiting.length
    return { taken: this.#taken, waiting }
  }

  #stateOf(key: string | null): KeyState {
    const known = this.#keys.get(key)
    if (known) return known
    const state = { taken: 0, waiting: [] }
    this.#keys.set(key, state)
    return state
  }

  #maximumOf(key: string | null): number {
    return key === null ? this.#limits.ofNoKey : this.#limits.ofOneKey
  }

  #count(key: string | null, change: number): void {
    const state = this.#stateOf(key)
    this.#taken += change
    state.taken += change
    if (key !== null) this.#takenByKeys += change
    this.#removeUnused(key, state)
  }

  #wait(key: string | null): Promise<void> {
    const { waitMs } = this.#limits
    const state = this.#stateOf(key)
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { admit: resolve, timer: null }
      state.waiting.push(waiting)
      if (key !== null) this.#waitingKeys.add(key)
      if (waitMs === Number.POSITIVE_INFINITY) return
      waiting.timer = setTimeout(() => {
        state.waiting.splice(state.waiting.indexOf(waiting), 1)
        const shortage = state.taken >= this.#maximumOf(key) ? 'own' : 'all'
        this.#removeUnused(key, state)
        reject(new NoPlaceError(shortage, waitMs))
      }, waitMs)
    })
  }

  #removeUnused(key: string | null, state: KeyState): void {
    if (state.waiting.length > 0) return
    if (key !== null) this.#waitingKeys.delete(key)
    if (state.taken === 0) this.#keys.delete(key)
  }

  #admitNext(): boolean {
    if (this.#admitFrom(null)) return true
    for (const key of this.#waitingKeys) if (this.#admitFrom(key)) return true
    return false
  }

  /** Admits the first waiting work of a key, if the key may have another place. */
  #admitFrom(key: string | null): boolean {
    const state = this.#keys.get(key)
    const next = state && this.free(key) > 0 ? state.waiting.shift() : undefined
    if (!state || !next) return false
    if (next.timer) clearTimeout(next.timer)
    this.#count(key, 1)
    if (key !== null && state.waiting.length > 0) {
      // Round robin: the key goes to the end.
      this.#waitingKeys.delete(key)
      this.#waitingKeys.add(key)
    }
    next.admit()
    return true
  }
}
