/** Why no place was free in time. `own`: the key had taken all that it may; `all`: all places were taken. */
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

/** How many places there are, and how they are shared. */
export interface PlaceLimits {
  places: number
  /** The most that one key may take. */
  ofOneKey: number
  /** The most that all keys together may take. */
  ofAllKeys: number
  /** The most that work without a key may take. It goes before all other work. */
  ofNoKey: number
  /** The maximum wait for a place, in ms; Infinity: no maximum. */
  waitMs: number
}

/** Runs work in a place of the key. Throws NoPlaceError, or what the work throws. */
export async function inPlace<Result>(
  places: FairPlaces,
  key: string | null,
  work: () => Promise<Result>,
): Promise<Result> {
  const wait = places.take(key)
  if (wait) await wait
  try {
    return await work()
  } finally {
    places.give(key)
  }
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
  readonly #limits: PlaceLimits
  readonly #keys = new Map<string | null, KeyState>()
  /** The keys with waiting work, the next one first. */
  readonly #waitingKeys = new Set<string>()
  #taken = 0
  #takenByKeys = 0

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** Takes a place. Null: it is taken; otherwise a promise that resolves when it is, or rejects with NoPlaceError. */
  take(key: string | null): Promise<void> | null {
    const state = this.#stateOf(key)
    // While any place is free, work waits only for the limits of its key, so this overtakes none.
    if (!this.#isFree(key, state)) return this.#wait(key, state)
    this.#count(key, state, 1)
    return null
  }

  /** Gives a taken place back. */
  give(key: string | null): void {
    const state = this.#stateOf(key)
    this.#count(key, state, -1)
    while (this.#admitNext()) {}
    this.#removeUnused(key, state)
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

  #isFree(key: string | null, state: KeyState): boolean {
    if (this.#taken >= this.#limits.places || this.#isAtLimit(key, state)) return false
    return key === null || this.#takenByKeys < this.#limits.ofAllKeys
  }

  /** Whether the key has taken as many places as it may. */
  #isAtLimit(key: string | null, state: KeyState): boolean {
    return state.taken >= (key === null ? this.#limits.ofNoKey : this.#limits.ofOneKey)
  }

  #count(key: string | null, state: KeyState, change: 1 | -1): void {
    this.#taken += change
    state.taken += change
    if (key !== null) this.#takenByKeys += change
  }

  #wait(key: string | null, state: KeyState): Promise<void> {
    const { waitMs } = this.#limits
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { admit: resolve, timer: null }
      state.waiting.push(waiting)
      if (key !== null) this.#waitingKeys.add(key)
      if (waitMs === Number.POSITIVE_INFINITY) return
      waiting.timer = setTimeout(() => {
        state.waiting.splice(state.waiting.indexOf(waiting), 1)
        const shortage = this.#isAtLimit(key, state) ? 'own' : 'all'
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

  /** Admits the first waiting work of a key, if the key may take another place. */
  #admitFrom(key: string | null): boolean {
    const state = this.#keys.get(key)
    const next = state && this.#isFree(key, state) ? state.waiting.shift() : undefined
    if (!state || !next) return false
    if (next.timer) clearTimeout(next.timer)
    this.#count(key, state, 1)
    if (key !== null) {
      // Round robin: the key goes to the end.
      this.#waitingKeys.delete(key)
      if (state.waiting.length > 0) this.#waitingKeys.add(key)
    }
    next.admit()
    return true
  }
}
