import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { backoffDelay, sleep } from '../../../src/lib/async/backoff.js'

describe('backoffDelay', () => {
  it('doubles from the base up to the cap', () => {
    const options = { baseMs: 100, maxMs: 1000, jitter: 0 }
    expect([1, 2, 3, 4, 5, 6].map((attempt) => backoffDelay(attempt, options))).toEqual([
      100, 200, 400, 800, 1000, 1000,
    ])
  })

  it('grows by the factor given', () => {
    const options = { baseMs: 50, factor: 3, maxMs: 10_000, jitter: 0 }
    expect([1, 2, 3].map((attempt) => backoffDelay(attempt, options))).toEqual([50, 150, 450])
  })

  it('subtracts a random part up to the given share', () => {
    const options = { baseMs: 1000, maxMs: 60_000, jitter: 0.2 }
    expect(backoffDelay(1, options, () => 0)).toBe(1000)
    expect(backoffDelay(1, options, () => 0.5)).toBe(900)
    expect(backoffDelay(1, options, () => 1)).toBe(800)
  })

  it('stays between the shortened and the full wait, for any attempt', () => {
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 5000 }), fc.double({ min: 0, max: 1, noNaN: true }), (attempt, jitter) => {
        const full = backoffDelay(attempt, { baseMs: 10, maxMs: 30_000, jitter: 0 })
        const delay = backoffDelay(attempt, { baseMs: 10, maxMs: 30_000, jitter })
        expect(delay).toBeLessThanOrEqual(full)
        expect(delay).toBeGreaterThanOrEqual(Math.floor(full * (1 - jitter)))
      }),
    )
  })
})

describe('sleep', () => {
  it('resolves', async () => {
    await expect(sleep(1)).resolves.toBeUndefined()
  })

  it('ends at once with an AbortError if the signal is aborted', async () => {
    const controller = new AbortController()
    const sleeping = sleep(3_600_000, controller.signal)
    controller.abort()
    await expect(sleeping).rejects.toMatchObject({ name: 'AbortError' })
    await expect(sleep(3_600_000, controller.signal)).rejects.toMatchObject({ name: 'AbortError' })
  })
})
