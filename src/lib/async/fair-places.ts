/** Why a place was not free in time: the key had all that it may have, or all places were taken. */
export type Shortage = 'own' | 'all'

/** Thrown to those that waited too long for a place. */
export class NoPlaceError extends Error {
  readonly shortage: Shortage

  constructor(shortage: Shortage, waitMs: number) {
    super(shortage === 'own' ? `no place of its own was free in ${waitMs} ms` : `no place was free in ${waitMs} ms`)
    this.name = 'NoPlaceError'
    this.shortage = shortage
  }
}

/** How places are shared. */
export interface PlaceLimits {
  places: number
  /** The most that one key may have, and all keys together. */
  ofOneKey: number
  ofAllKeys: number
  /** The most for work without a key, which goes before all other work. */
  ofNoKey: number
  /** How long to wait for a place, in ms; Infinity: without end. */
  waitMs: number
}

/** Places that keys share. */
export interface FairPlaces {
  /** Takes a place: null at once if one is free, else a promise. It rejects with NoPlaceError. */
  take(key: string | null): Promise<void> | null
  /** Gives a taken place back. */
  give(key: string | null): void
  /** How many places are taken, and how much work waits for one. */
  figures(): { taken: number; waiting: number }
}

/** Runs work in a place of the key. Throws NoPlaceError, and the errors of the work. */
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

interface Line {
  taken: number
  waiting: Waiting[]
}

/**
 * Creates places that go to waiting keys in turns, so that none waits for the whole line of another. Within a key, the
 * first comes first.
 */
export function createFairPlaces({ places, ofOneKey, ofAllKeys, ofNoKey, waitMs }: PlaceLimits): FairPlaces {
  const lines = new Map<string | null, Line>()
  /** The keys of lines with waiting work, the next one first. */
  const turns = new Set<string>()
  let taken = 0
  let takenByKeys = 0

  const limitOf = (key: string | null) => (key === null ? ofNoKey : ofOneKey)
  const isFull = (key: string | null) => taken >= places || (key !== null && takenByKeys >= ofAllKeys)

  function lineOf(key: string | null): Line {
    const known = lines.get(key)
    if (known) return known
    const line = { taken: 0, waiting: [] }
    lines.set(key, line)
    return line
  }

  function count(key: string | null, line: Line, change: 1 | -1): void {
    taken += change
    line.taken += change
    if (key !== null) takenByKeys += change
  }

  function join(key: string | null, line: Line): Promise<void> {
    return new Promise((resolve, reject) => {
      const waiting: Waiting = { admit: resolve, timer: null }
      line.waiting.push(waiting)
      if (key !== null) turns.add(key)
      if (waitMs === Number.POSITIVE_INFINITY) return
      waiting.timer = setTimeout(() => {
        line.waiting.splice(line.waiting.indexOf(waiting), 1)
        const shortage = line.taken >= limitOf(key) ? 'own' : 'all'
        leave(key, line)
        reject(new NoPlaceError(shortage, waitMs))
      }, waitMs)
    })
  }

  function leave(key: string | null, line: Line): void {
    if (line.waiting.length > 0) return
    if (key !== null) turns.delete(key)
    if (line.taken === 0) lines.delete(key)
  }

  /** Admits the first of a line, if it may have another place. */
  function admitFrom(key: string | null): boolean {
    const line = lines.get(key)
    const next = line && !isFull(key) && line.taken < limitOf(key) ? line.waiting.shift() : undefined
    if (!line || !next) return false
    if (next.timer) clearTimeout(next.timer)
    count(key, line, 1)
    if (key !== null) {
      // To the end of the turns.
      turns.delete(key)
      if (line.waiting.length > 0) turns.add(key)
    }
    next.admit()
    return true
  }

  function admitNext(): boolean {
    if (admitFrom(null)) return true
    for (const key of turns) if (admitFrom(key)) return true
    return false
  }

  return {
    take: (key) => {
      const line = lineOf(key)
      // While a place is free, work waits only for the share of its own key.
      if (isFull(key) || line.taken >= limitOf(key)) return join(key, line)
      count(key, line, 1)
      return null
    },
    give: (key) => {
      const line = lineOf(key)
      count(key, line, -1)
      while (admitNext()) {}
      leave(key, line)
    },
    figures: () => {
      let waiting = 0
      for (const line of lines.values()) waiting += line.waiting.length
      return { taken, waiting }
    },
  }
}
