/** Runs work of a user, `key`, within the limits of concurrent runs. */
export type FairSemaphore = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Runs at most `max` pieces of work at the same time, and at most `maxOfOne` of one user. Free places go to the waiting
 * users in turns, so a user with much work delays others by one piece each.
 */
export function createFairSemaphore({ max, maxOfOne = max }: { max: number; maxOfOne?: number }): FairSemaphore {
  /** What waits, by user; the user whose turn is next comes first. */
  const waiting = new Map<string, (() => void)[]>()
  const running = new Map<string, number>()
  let total = 0

  function fillPlaces(): void {
    for (const [key, queue] of waiting) {
      if (total >= max) return
      const own = running.get(key) ?? 0
      if (own >= maxOfOne) continue
      const start = queue.shift()
      waiting.delete(key)
      // Behind all others; the loop comes here again while there are places.
      if (queue.length > 0) waiting.set(key, queue)
      running.set(key, own + 1)
      total++
      start?.()
    }
  }

  function leave(key: string): void {
    const left = (running.get(key) ?? 1) - 1
    if (left > 0) running.set(key, left)
    else running.delete(key)
    total--
    fillPlaces()
  }

  return async (key, work) => {
    await new Promise<void>((start) => {
      const queue = waiting.get(key)
      if (queue) queue.push(start)
      else waiting.set(key, [start])
      fillPlaces()
    })
    try {
      return await work()
    } finally {
      leave(key)
    }
  }
}
