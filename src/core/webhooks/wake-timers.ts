/** Tracks which of many items have something to do, now or at a certain time. */
export interface WakeTimers<Sleeper> {
  /** Marks an item as awake. */
  wake(sleeper: Sleeper): void
  /** Wakes an item at `until`, unless it is woken before. */
  sleep(sleeper: Sleeper, until: Date): void
  /** Removes and returns the items that are awake. */
  takeAwake(now: Date): Sleeper[]
  hasAwake(): boolean
  /** When the next item wakes; null if none sleeps. */
  soonest(): Date | null
}

export function createWakeTimers<Sleeper>(): WakeTimers<Sleeper> {
  let awake = new Set<Sleeper>()
  const asleep = new Map<Sleeper, number>()
  let soonest = Number.POSITIVE_INFINITY

  function wakeSleepers(now: number): void {
    if (now < soonest) return
    soonest = Number.POSITIVE_INFINITY
    for (const [sleeper, until] of asleep) {
      if (until > now) soonest = Math.min(soonest, until)
      else {
        asleep.delete(sleeper)
        awake.add(sleeper)
      }
    }
  }

  return {
    wake: (sleeper) => awake.add(sleeper),
    sleep: (sleeper, until) => {
      asleep.set(sleeper, until.getTime())
      soonest = Math.min(soonest, until.getTime())
    },
    takeAwake: (now) => {
      wakeSleepers(now.getTime())
      const taken = [...awake]
      awake = new Set()
      return taken
    },
    hasAwake: () => awake.size > 0,
    soonest: () => (soonest === Number.POSITIVE_INFINITY ? null : new Date(soonest)),
  }
}
