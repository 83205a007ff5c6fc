import { expect, it } from 'vitest'
import { MAX_RETRY_AFTER_MS, readRetryAfter } from '../../../src/lib/http/retry-after.js'

const HOUR_MS = 3_600_000

function inMs(ms: number): string {
  return new Date(Date.now() + ms).toUTCString()
}

it.each([
  ['7', 7_000],
  ['2.0', 2_000],
  ['0.5', 500],
  ['86401', MAX_RETRY_AFTER_MS],
  [inMs(48 * HOUR_MS), MAX_RETRY_AFTER_MS],
])('reads %s as a wait', (value, expected) => {
  expect(readRetryAfter({ 'retry-after': value })).toBe(expected)
})

it('reads a date as the time until then', () => {
  const wait = readRetryAfter({ 'retry-after': inMs(HOUR_MS) })
  expect(wait).toBeGreaterThan(HOUR_MS / 2)
  expect(wait).toBeLessThanOrEqual(HOUR_MS)
})

it.each(['0', '', 'soon', '-5', inMs(-HOUR_MS)])('ignores %j', (value) => {
  expect(readRetryAfter({ 'retry-after': value })).toBeNull()
})

it('ignores a missing header', () => {
  expect(readRetryAfter({})).toBeNull()
})
