import { describe, expect, it } from 'vitest'
import { type Health, type HealthSample, healthAfter } from '../../../../src/core/webhooks/delivery/health.js'
import { DAY } from '../../../support/webhook-endpoints.js'

const START = new Date('2026-01-01T00:00:00Z')
const WELL: Health = { failingSince: null, disabledReason: null }

const after = (ms: number) => new Date(START.getTime() + ms)
const failure = (ms: number, status: number | null = 500): HealthSample => ({ at: after(ms), delivered: false, status })
const success = (ms: number): HealthSample => ({ at: after(ms), delivered: true, status: 200 })
const take = (...signs: HealthSample[]) => signs.reduce(healthAfter, WELL)

describe('the health of an endpoint', () => {
  it('is failing since the first failure after the last success', () => {
    expect(take(failure(0), failure(DAY))).toEqual({ failingSince: START, disabledReason: null })
    expect(take(failure(0), success(1), failure(DAY), failure(2 * DAY)).failingSince).toEqual(after(DAY))
    expect(take(failure(0), success(1))).toEqual(WELL)
  })

  it('leads to disabling 5 days after the first failure, not earlier', () => {
    expect(take(failure(0), failure(5 * DAY - 1)).disabledReason).toBeNull()
    expect(take(failure(0), failure(5 * DAY)).disabledReason).toContain(START.toISOString())
    expect(take(failure(0), failure(5 * DAY, null)).disabledReason).not.toBeNull()
  })

  it('does not lead to disabling after a success within the 5 days', () => {
    expect(take(failure(0), success(4 * DAY), failure(6 * DAY)).disabledReason).toBeNull()
  })

  it('leads to disabling at once after a 410, even if other results follow', () => {
    const gone = take(failure(0, 410))
    expect(gone.disabledReason).toContain('410')
    expect(take(failure(0, 410), success(1), failure(6 * DAY))).toEqual(gone)
  })
})
