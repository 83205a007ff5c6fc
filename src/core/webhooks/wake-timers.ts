/** Who has something to do, now or later, among many of whom most have nothing. */
export interface WakeTimers<Sleeper> {
  /** It has something to do now. */
  wake(sleeper: Sleeper): void
  /** It has something to do then, if it is not woken before. */
  sleep(sleeper: Sleeper, until: Date): void
  /** Takes out those who have something to do by now. */
  takeAwake(now: Date): Sleeper[]
  hasAwake(): boolean
  /** When the first of those who sleep wakes; null: nobody does. */
  soonest(): Date | null
}

/** Everybody has nothing to do. */
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
