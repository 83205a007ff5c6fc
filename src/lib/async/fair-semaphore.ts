import { FairPlaces } from './fair-places.js'

/** Runs work of a key within the limits of concurrent runs. */
export type FairSemaphore = <Result>(key: string, work: () => Promise<Result>) => Promise<Result>

/**
 * Runs at most `max` pieces of work at the same time, and at most `maxOfOne` of one key. Waiting keys get free places
 * round robin, so a key with much work delays the others by one piece each.
 */
export function createFairSemaphore({ max, maxOfOne = max }: { max: number; maxOfOne?: number }): FairSemaphore {
  const places = new FairPlaces({ places: max, ofOneKey: maxOfOne })
  return (key, work) => places.run(key, work)
}
