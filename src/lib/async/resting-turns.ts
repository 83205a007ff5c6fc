import { sleep } from './backoff.js'
import { FairPlaces } from './fair-places.js'

/** Runs work of a key in its turn. */
export type RestingTurns = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Creates a function that runs work one piece after the other, round robin over the keys. After each piece it rests for
 * as long as the piece took, so that the work, however much of it there is, takes at most half of the time of this
 * process.
 */
export function createRestingTurns(): RestingTurns {
  const turns = new FairPlaces({ places: 1 })
  let restUntil = 0
  return (key, work) =>
    turns.run(key, async () => {
      await sleep(Math.max(0, restUntil - performance.now()))
      const since = performance.now()
      try {
        return await work()
      } finally {
        const now = performance.now()
        restUntil = now + (now - since)
      }
    })
}
