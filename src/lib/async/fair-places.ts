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
  /**
   * A key whose work took longer, in ms, gets one place at a time for a second, while other keys are active. That
   * delays its work by at most a second.
   */
  slowMs: number
}

/** Runs work in a place of the key. Throws NoPlaceError, or what the work throws. */
export async function inPlace<Result>(
  places: FairPlaces,
  key: string | null,
  work: () => Promise<Result>,
): Promise<Result> {
  const wait = places.take(key)
  if (wait) await wait
  const since = performance.now()
  try {
    return await work()
  } finally {
    places.give(key, performance.now() - since)
  }
}

interface Waiting {
  since: number
  admit: () => void
  timer: NodeJS.Timeout | null
}

/** The places and the waiting work of one key. */
interface KeyState {
  taken: number
  waiting: Waiting[]
  /** Set while the key counts as slow. */
  slow: NodeJS.Timeout | null
}

/** How long a key counts as slow, and as active after it asked for a place. */
const LATELY_MS = 1_000

/**
 * Places that keys share. The keys with waiting work get them round robin, so that none waits for the whole queue of
 * another. Within a key, first come, first served. A key whose work takes long gets fewer places than its share, because
 * what the work uses (processors, disks) is shared, too.
 */
export class FairPlaces {
  readonly #limits: PlaceLimits
  readonly #keys = new Map<string | null, KeyState>()
  /** The keys with waiting work, the next one first. */
  readonly #waitingKeys = new Set<string>()
  /** The key that asked for a place last, and the last other one, with the times. */
  #last = { key: '', at: Number.NEGATIVE_INFINITY }
  #lastOther = { key: '', at: Number.NEGATIVE_INFINITY }
  #taken = 0
  #takenByKeys = 0

  constructor(limits: PlaceLimits) {
    this.#limits = limits
  }

  /** Takes a place. Null: it is taken; otherwise a promise that resolves when it is, or rejects with NoPlaceError. */
  take(key: string | null): Promise<void> | null {
    const state = this.#stateOf(key)
    if (key !== null) this.#noteActive(key)
    // While any place is free, work waits only for the limits of its key, so this overtakes none of other keys.
    if (state.waiting.length === 0 && this.#isFree(key, state)) {
      this.#count(key, state, 1)
      return null
    }
    const wait = this.#wait(key, state)
    // Those before it may have waited only because their key was slow.
    this.#admitFrom(key)
    return wait
  }

  /** Gives a place back; `heldMs`: how long its work took, if that counts. */
  give(key: string | null, heldMs = 0): void {
    const state = this.#stateOf(key)
    if (heldMs > this.#limits.slowMs) this.#noteSlow(key, state)
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
    const state = { taken: 0, waiting: [], slow: null }
    this.#keys.set(key, state)
    return state
  }

  #isFree(key: string | null, state: KeyState): boolean {
    if (this.#taken >= this.#limits.places || this.#isAtLimit(key, state)) return false
    return key === null || this.#takenByKeys < this.#limits.ofAllKeys
  }

  /** Whether the key has taken as many places as it may. */
  #isAtLimit(key: string | null, state: KeyState): boolean {
    if (key === null) return state.taken >= this.#limits.ofNoKey
    return state.taken >= (this.#isSlow(key, state) ? 1 : this.#limits.ofOneKey)
  }

  /** Whether the key gets one place at a time. What has waited for long for that gets its share. */
  #isSlow(key: string, { slow, waiting: [first] }: KeyState): boolean {
    const since = performance.now() - LATELY_MS
    if (slow === null || (first && first.since <= since)) return false
    return [this.#last, this.#lastOther].some((one) => one.key !== key && one.at > since)
  }

  #noteSlow(key: string | null, state: KeyState): void {
    if (state.slow) clearTimeout(state.slow)
    state.slow = setTimeout(() => {
      state.slow = null
      while (this.#admitNext()) {}
      this.#removeUnused(key, state)
    }, LATELY_MS).unref()
  }

  #noteActive(key: string): void {
    if (this.#last.key !== key) this.#lastOther = this.#last
    this.#last = { key, at: performance.now() }
  }

  #count(key: string | null, state: KeyState, change: 1 | -1): void {
    this.#taken += change
    state.taken += change
    if (key !== null) this.#takenByKeys += change
  }

  #wait(key: string | null, state: KeyState): Promise<void> {
    const { waitMs } = this.#limits
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { since: performance.now(), admit: resolve, timer: null }
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
    if (state.taken === 0 && state.slow === null) this.#keys.delete(key)
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
