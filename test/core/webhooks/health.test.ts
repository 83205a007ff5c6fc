import { describe, expect, it } from 'vitest'
import { type Health, type HealthSample, healthAfter } from '../../../src/core/webhooks/health.js'
import { DAY } from './support.js'

const START = new Date('2026-01-01T00:00:00Z')
const WELL: Health = { failingSince: null, disabledReason: null }

const after = (ms: number) => new Date(START.getTime() + ms)
const failure = (ms: number, status: number | null = 500): HealthSample => ({ at: after(ms), delivered: false, status })
const success = (ms: number): HealthSample => ({ at: after(ms), delivered: true, status: 200 })
const take = (...signs: HealthSample[]) => signs.reduce(healthAfter, WELL)

describe('an endpoint', () => {
  it('fails since the first failure after the last success', () => {
    expect(take(failure(0), failure(DAY))).toEqual({ failingSince: START, disabledReason: null })
    expect(take(failure(0), success(1), failure(DAY), failure(2 * DAY)).failingSince).toEqual(after(DAY))
    expect(take(failure(0), success(1))).toEqual(WELL)
  })

  it('is disabled by a failure 5 days after the first one, not a moment sooner', () => {
    expect(take(failure(0), failure(5 * DAY - 1)).disabledReason).toBeNull()
    expect(take(failure(0), failure(5 * DAY)).disabledReason).toContain(START.toISOString())
    expect(take(failure(0), failure(5 * DAY, null)).disabledReason).not.toBeNull()
  })

  it('is not disabled where there was a success within the 5 days', () => {
    expect(take(failure(0), success(4 * DAY), failure(6 * DAY)).disabledReason).toBeNull()
  })

  it('is disabled by a 410 at once, and stays so whatever else was on its way', () => {
    const gone = take(failure(0, 410))
    expect(gone.disabledReason).toContain('410')
    expect(take(failure(0, 410), success(1), failure(6 * DAY))).toEqual(gone)
  })
})
