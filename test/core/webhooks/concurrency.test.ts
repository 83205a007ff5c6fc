import { beforeEach, describe, expect, it } from 'vitest'
import { type Concurrency, createConcurrency, MAX_IN_FLIGHT } from '../../../src/core/webhooks/concurrency.js'
import { HOUR, SECOND } from './support.js'

let pace: Concurrency
let now: Date

beforeEach(() => {
  pace = createConcurrency()
  now = new Date('2026-01-01T00:00:00Z')
})

function advance(ms: number): void {
  now = new Date(now.getTime() + ms)
}

/** How many may be in flight at once. */
function room(): number {
  let inFlight = 0
  while (pace.allows(inFlight, now)) inFlight += 1
  return inFlight
}

/** An attempt that takes no time, and fails. */
const fail = (retryAfterMs: number | null = null) => pace.failed(now, now, retryAfterMs)

function failTimes(count: number): void {
  for (let n = 0; n < count; n++) {
    fail()
    advance(1)
  }
}

/** How long nothing is sent from now on. */
const pauseMs = () => (pace.pausedUntil(now)?.getTime() ?? now.getTime()) - now.getTime()

/** Waits until the endpoint is tried again, and has that fail. */
function probe(): number {
  advance(pauseMs())
  expect(room()).toBe(1)
  fail()
  return pauseMs()
}

describe('the pace of an endpoint', () => {
  it('lets 32 be in flight', () => {
    expect(MAX_IN_FLIGHT).toBe(32)
    expect(room()).toBe(32)
    expect(pace.pausedUntil(now)).toBeNull()
  })

  it('becomes slower with each failure, and faster with each success, up to what it was', () => {
    failTimes(2)
    expect(room()).toBe(18)
    pace.succeeded(now)
    expect(room()).toBe(19)
    for (let n = 0; n < 100; n++) pace.succeeded(now)
    expect(room()).toBe(32)
  })

  it('pauses with the eighth failure in a row, not with the seventh', () => {
    failTimes(7)
    expect(room()).toBeGreaterThan(0)
    fail()
    expect(room()).toBe(0)
    expect(pauseMs()).toBe(SECOND)
  })

  it('does not pause where a success comes between', () => {
    failTimes(7)
    pace.succeeded(now)
    failTimes(7)
    expect(room()).toBeGreaterThan(0)
    expect(pace.pausedUntil(now)).toBeNull()
  })

  it('tries a dead endpoint with one at a time, after ever longer pauses, none longer than 30 s', () => {
    failTimes(7)
    fail()
    const pauses = Array.from({ length: 7 }, () => probe() / SECOND)
    expect(pauses).toEqual([2, 4, 8, 16, 30, 30, 30])
  })

  it('is not made slower by what was in flight before a pause', () => {
    const begun = now
    advance(SECOND)
    for (let n = 0; n < 32; n++) pace.failed(begun, now, null)
    expect(pauseMs()).toBe(SECOND)
  })

  it('goes on pausing where what was sent before succeeds', () => {
    const begun = now
    advance(SECOND)
    fail(20 * SECOND)
    pace.succeeded(begun)
    expect(pauseMs()).toBe(20 * SECOND)
  })

  it('goes on at once with a success', () => {
    failTimes(7)
    fail()
    probe()
    pace.succeeded(now)
    expect(pace.pausedUntil(now)).toBeNull()
    expect(room()).toBe(2)
    failTimes(7)
    expect(pace.pausedUntil(now)).toBeNull()
  })

  it('leaves the endpoint alone for as long as it asks, but not for longer than a minute', () => {
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
