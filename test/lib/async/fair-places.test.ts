import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { FairPlaces, NoPlaceError, type PlaceLimits } from '../../../src/lib/async/fair-places.js'

const LIMITS: PlaceLimits = { places: 6, ofOneKey: 2, ofAllKeys: 4, ofNoKey: 3, waitMs: 5_000 }

/** Acquires places; `admitted` lists the keys that got one. */
function startAcquiring(limits: PlaceLimits) {
  const places = new FairPlaces(limits)
  const admitted: (string | null)[] = []
  const failed: unknown[] = []
  const acquire = (...keys: (string | null)[]) => {
    for (const key of keys) {
      const wait = places.acquire(key)
      if (wait === null) admitted.push(key)
      else
        wait.then(
          () => admitted.push(key),
          (error: unknown) => failed.push(error),
        )
    }
  }
  const release = async (key: string | null) => {
    places.release(key)
    await Promise.resolve()
  }
  return { places, admitted, failed, acquire, release }
}

describe('places', () => {
  it('are limited per key, for all keys, and for work without a key', () => {
    const { places, admitted, acquire } = startAcquiring(LIMITS)
    acquire('a', 'a', 'a', 'b', 'b', 'c', null, null, null)
    expect(admitted).toEqual(['a', 'a', 'b', 'b', null, null])
    expect(places.figures()).toEqual({ taken: 6, waiting: 3 })
  })

  it('go to work without a key first, then to the keys in turns, and within a key to the first', async () => {
    const { admitted, acquire, release } = startAcquiring({ ...LIMITS, places: 1 })
    acquire('a', 'b', 'b', 'b', 'c', 'a', null)
    for (const key of ['a', null, 'b', 'c', 'a', 'b']) await release(key)
    expect(admitted).toEqual(['a', null, 'b', 'c', 'a', 'b', 'b'])
  })

  it('are not kept for a key that has its share', async () => {
    const { admitted, acquire, release } = startAcquiring({ ...LIMITS, ofOneKey: 1, places: 3 })
    acquire('a', 'b', 'a', 'a', 'c', 'd')
    expect(admitted).toEqual(['a', 'b', 'c'])
    await release('c')
    expect(admitted).toEqual(['a', 'b', 'c', 'd'])
    await release('a')
    expect(admitted).toEqual(['a', 'b', 'c', 'd', 'a'])
  })

  it('are all free after all were given back', async () => {
    const { places, acquire, release } = startAcquiring(LIMITS)
    acquire('a', 'b', null, 'a', 'a')
    for (const key of ['a', 'b', null, 'a', 'a']) await release(key)
    expect(places.figures()).toEqual({ taken: 0, waiting: 0 })
    expect(['a', 'a', 'b', 'b', null, null].map((key) => places.acquire(key))).toEqual(Array(6).fill(null))
  })

  it('are as many as the key has left free, if it leaves half', () => {
    const places = new FairPlaces({ places: 9, ofOneKey: 4, leavesHalf: true })
    const acquireAll = (key: string) => {
      const count = places.free(key)
      places.acquireNow(key, count)
      return count
    }
    expect(['a', 'a', 'b', 'c', 'd', 'e'].map(acquireAll)).toEqual([4, 0, 3, 1, 1, 0])
    places.release('a', 4)
    expect(acquireAll('e')).toBe(2)
  })

  it('that are missing have a reason, and nothing is acquired by asking', () => {
    const places = new FairPlaces({ places: 2, ofOneKey: 1 })
    expect(places.shortage('a')).toBe(null)
    places.acquireNow('a', 1)
    expect([places.shortage('a'), places.shortage('b')]).toEqual(['own', null])
    places.acquireNow('b', 1)
    expect([places.shortage('a'), places.shortage('c')]).toEqual(['own', 'all'])
    places.release('a')
    places.release('b')
    expect(places.isUnused()).toBe(true)
  })

  it('are given back by work that fails, and go to the work that waits', async () => {
    const places = new FairPlaces({ places: 1 })
    const failed = places.run('a', () => Promise.reject(new Error('broken')))
    const next = places.run('b', async () => 'through')
    await expect(failed).rejects.toThrow('broken')
    expect(await next).toBe('through')
    expect(places.isUnused()).toBe(true)
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
    const { places, admitted, failed, acquire, release } = startAcquiring({ ...LIMITS, places: 3, ofAllKeys: 3 })
    acquire('a', 'a', 'b', 'a', 'c')
    await vi.advanceTimersByTimeAsync(4_000)
    acquire('c')
    await vi.advanceTimersByTimeAsync(1_000)
    expect(failed).toEqual([expect.any(NoPlaceError), expect.any(NoPlaceError)])
    expect(failed).toMatchObject([{ shortage: 'own' }, { shortage: 'all' }])
    expect(places.figures()).toEqual({ taken: 3, waiting: 1 })
    await release('a')
    expect(admitted).toEqual(['a', 'a', 'b', 'c'])
    await vi.advanceTimersByTimeAsync(60_000)
    expect(failed).toHaveLength(2)
  })

  it('without a limit does not end', async () => {
    const { admitted, failed, acquire, release } = startAcquiring({
      ...LIMITS,
      places: 1,
      waitMs: Number.POSITIVE_INFINITY,
    })
    acquire('a', 'b')
    await vi.advanceTimersByTimeAsync(3_600_000)
    await release('a')
    expect(admitted).toEqual(['a', 'b'])
    expect(failed).toEqual([])
  })
})
