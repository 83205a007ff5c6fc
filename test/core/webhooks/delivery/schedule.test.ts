import { describe, expect, it } from 'vitest'
import { nextAttemptAt } from '../../../../src/core/webhooks/delivery/schedule.js'
import { HOUR, MINUTE, SECOND } from '../../../support/webhook-endpoints.js'

const NOW = new Date('2026-01-01T00:00:00Z')
const WAITS = [5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR]

const waitAfter = (attempt: number, retryAfterMs: number | null, random: () => number) => {
  const next = nextAttemptAt(attempt, retryAfterMs, NOW, random)
  return next && next.getTime() - NOW.getTime()
}

describe('the next attempt', () => {
  it.each(WAITS.map((wait, index) => ({ attempt: index + 1, wait })))(
    'comes $wait ms after attempt $attempt, plus at most a fifth',
    ({ attempt, wait }) => {
      expect(waitAfter(attempt, null, () => 0)).toBe(wait)
      expect(waitAfter(attempt, null, () => 0.5)).toBe(wait + wait / 10)
      expect(waitAfter(attempt, null, () => 1 - Number.EPSILON)).toBe(wait + wait / 5)
    },
  )

  it('does not follow the tenth, even if the endpoint asks for it', () => {
    expect(waitAfter(10, null, () => 0)).toBeNull()
    expect(waitAfter(10, HOUR, () => 0)).toBeNull()
  })

  it('comes when the endpoint asks for it, if that is later', () => {
    expect(waitAfter(1, MINUTE, () => 0.5)).toBe(MINUTE)
    expect(waitAfter(2, MINUTE, () => 0.5)).toBe(5.5 * MINUTE)
    expect(waitAfter(1, 5.5 * SECOND, () => 1)).toBe(6 * SECOND)
  })
})
