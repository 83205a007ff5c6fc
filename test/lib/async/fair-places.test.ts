import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FairPlaces, NoPlaceError, type PlaceLimits } from '../../../src/lib/async/fair-places.js'

const LIMITS: PlaceLimits = { places: 6, ofOneKey: 2, ofAllKeys: 4, ofNoKey: 3, waitMs: 5_000 }

/** Takes places; `admitted` lists the keys that got one. */
function startTaking(limits: PlaceLimits) {
  const places = new FairPlaces(limits)
  const admitted: (string | null)[] = []
  const failed: unknown[] = []
  const take = (...keys: (string | null)[]) => {
    for (const key of keys) {
      const wait = places.take(key)
      if (wait === null) admitted.push(key)
      else
        wait.then(
          () => admitted.push(key),
          (error: unknown) => failed.push(error),
        )
    }
  }
  const give = async (key: string | null) => {
    places.give(key)
    await Promise.resolve()
  }
  return { places, admitted, failed, take, give }
}

describe('places', () => {
  it('are limited per key, for all keys, and for work without a key', () => {
    const { places, admitted, take } = startTaking(LIMITS)
    take('a', 'a', 'a', 'b', 'b', 'c', null, null, null)
    expect(admitted).toEqual(['a', 'a', 'b', 'b', null, null])
    expect(places.figures()).toEqual({ taken: 6, waiting: 3 })
  })

  it('go to work without a key first, then to the keys in turns, and within a key to the first', async () => {
    const { admitted, take, give } = startTaking({ ...LIMITS, places: 1 })
    take('a', 'b', 'b', 'b', 'c', 'a', null)
    for (const key of ['a', null, 'b', 'c', 'a', 'b']) await give(key)
    expect(admitted).toEqual(['a', null, 'b', 'c', 'a', 'b', 'b'])
  })

  it('are not kept for a key that has its share', async () => {
    const { admitted, take, give } = startTaking({ ...LIMITS, ofOneKey: 1, places: 3 })
    take('a', 'b', 'a', 'a', 'c', 'd')
    expect(admitted).toEqual(['a', 'b', 'c'])
    await give('c')
    expect(admitted).toEqual(['a', 'b', 'c', 'd'])
    await give('a')
    expect(admitted).toEqual(['a', 'b', 'c', 'd', 'a'])
  })

  it('are all free after all were given back', async () => {
    const { places, take, give } = startTaking(LIMITS)
    take('a', 'b', null, 'a', 'a')
    for (const key of ['a', 'b', null, 'a', 'a']) await give(key)
    expect(places.figures()).toEqual({ taken: 0, waiting: 0 })
    expect(['a', 'a', 'b', 'b', null, null].map((key) => places.take(key))).toEqual(Array(6).fill(null))
  })
})

describe('a wait for a place', () => {
  beforeEach(() => {
    vi.useFakeTimers()
  })
  afterEach(() => {
    vi.useRealTimers()
  })

  it('ends with the reason, and leaves the others in the line', async () => {
    const { places, admitted, failed, take, give } = startTaking({ ...LIMITS, places: 3, ofAllKeys: 3 })
    take('a', 'a', 'b', 'a', 'c')
    await vi.advanceTimersByTimeAsync(4_000)
    take('c')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(failed).toEqual([expect.any(NoPlaceError), expect.any(NoPlaceError)])
    expect(failed).toMatchObject([{ shortage: 'own' }, { shortage: 'all' }])
    expect(places.figures()).toEqual({ taken: 3, waiting: 1 })
    await give('a')
    expect(admitted).toEqual(['a', 'a', 'b', 'c'])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failed).toHaveLength(2)
  })

  it('without a limit does not end', async () => {
    const { admitted, failed, take, give } = startTaking({ ...LIMITS, places: 1, waitMs: Number.POSITIVE_INFINITY })
    take('a', 'b')
    await vi.advanceTimersByTimeAsync(3_600_000)
    await give('a')
    expect(admitted).toEqual(['a', 'b'])
    expect(failed).toEqual([])
  })
})
