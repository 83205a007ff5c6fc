/** Which of the things that are looked for again and again have been found for a while. */
export interface Lasting {
  /** Notes what a look has found. What it has not found begins again the next time. */
  note(found: readonly number[]): void
  /** What every look has found since `ms` ago, or for longer. */
  since(ms: number): number[]
}

/** Remembers since when each of some ids has been found. `now`: a clock that never jumps. */
export function createLasting(now: () => number = () => performance.now()): Lasting {
  const firstFound = new Map<number, number>()
  return {
    note: (found) => {
      for (const id of firstFound.keys()) if (!found.includes(id)) firstFound.delete(id)
      for (const id of found) if (!firstFound.has(id)) firstFound.set(id, now())
    },
    since: (ms) => {
      const latest = now() - ms
      return [...firstFound].flatMap(([id, at]) => (at <= latest ? [id] : []))
    },
  }
}
