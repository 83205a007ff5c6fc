import { beforeEach, describe, expect, it } from 'vitest'
import {
  type Concurrency,
  createConcurrency,
  MAX_IN_FLIGHT,
} from '../../../../src/core/webhooks/delivery/concurrency.js'
import { HOUR, SECOND } from '../../../support/webhook-endpoints.js'

let pace: Concurrency
let now: Date

beforeEach(() => {
  pace = createConcurrency()
  now = new Date('2026-01-01T00:00:00Z')
})

function advance(ms: number): void {
  now = new Date(now.getTime() + ms)
}

/** The current concurrency limit. */
const room = () => pace.limit(now)

/** An attempt that takes no time, and fails. */
const fail = (retryAfterMs: number | null = null) => pace.failed(now, now, retryAfterMs)

function failTimes(count: number): void {
  for (let n = 0; n < count; n++) {
    fail()
    advance(1)
  }
}

/** The remaining pause. */
function pauseMs(): number {
  let ms = 0
  while (pace.limit(new Date(now.getTime() + ms)) === 0) ms += 1
  return ms
}

/** Waits until the endpoint is tried again, and makes that fail. */
function probe(): number {
  advance(pauseMs())
  expect(room()).toBe(1)
  fail()
  return pauseMs()
}

describe('the concurrency limit of an endpoint', () => {
  it('allows 32 in flight', () => {
    expect(MAX_IN_FLIGHT).toBe(32)
    expect(room()).toBe(32)
    expect(pauseMs()).toBe(0)
  })

  it('shrinks with each failure, and grows with each success up to the maximum', () => {
    failTimes(2)
    expect(room()).toBe(18)
    pace.succeeded(now)
    expect(room()).toBe(19)
    for (let n = 0; n < 100; n++) pace.succeeded(now)
    expect(room()).toBe(32)
  })

  it('pauses after the eighth failure in a row, not after the seventh', () => {
    failTimes(7)
    expect(room()).toBeGreaterThan(0)
    fail()
    expect(room()).toBe(0)
    expect(pauseMs()).toBe(SECOND)
  })

  it('does not pause after a success in between', () => {
    failTimes(7)
    pace.succeeded(now)
    failTimes(7)
    expect(room()).toBeGreaterThan(0)
    expect(pauseMs()).toBe(0)
  })

  it('tries a dead endpoint with one at a time, after longer and longer pauses of at most 30 s', () => {
    failTimes(7)
    fail()
    const pauses = Array.from({ length: 7 }, () => probe() / SECOND)
    expect(pauses).toEqual([2, 4, 8, 16, 30, 30, 30])
  })

  it('does not shrink because of requests sent before a pause', () => {
    const begun = now
    advance(SECOND)
    for (let n = 0; n < 32; n++) pace.failed(begun, now, null)
    expect(pauseMs()).toBe(SECOND)
  })

  it('stays paused if a request sent before the pause succeeds', () => {
    const begun = now
    advance(SECOND)
    fail(20 * SECOND)
    pace.succeeded(begun)
    expect(pauseMs()).toBe(20 * SECOND)
  })

  it('resumes at once after a success', () => {
    failTimes(7)
    fail()
    probe()
    pace.succeeded(now)
    expect(pauseMs()).toBe(0)
    expect(room()).toBe(2)
    failTimes(7)
    expect(pauseMs()).toBe(0)
  })

  it('pauses for as long as the endpoint asks, but at most a minute', () => {
    fail(20 * SECOND)
    expect(pauseMs()).toBe(20 * SECOND)
    fail(HOUR)
    expect(pauseMs()).toBe(60 * SECOND)
    fail(SECOND)
    expect(pauseMs()).toBe(60 * SECOND)
    advance(60 * SECOND)
    expect(room()).toBeGreaterThan(0)
  })
})
