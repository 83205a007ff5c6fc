import { describe, expect, it } from 'vitest'
import { createSteadyClock } from '../../../src/lib/async/steady-clock.js'

const START = new Date('2026-03-01T12:00:00Z')

function start() {
  let monotonic = 1_000
  const clock = createSteadyClock(START, () => monotonic)
  const since = () => clock.now().getTime() - START.getTime()
  const reading = (ms: number) => new Date(START.getTime() + ms)
  const pass = (ms: number) => {
    monotonic += ms
  }
  return { clock, since, reading, pass }
}

describe('a steady clock', () => {
  it('goes on by the monotonic clock', () => {
    const { since, pass } = start()
    expect(since()).toBe(0)
    pass(90_000)
    expect(since()).toBe(90_000)
  })

  it('takes the time of a reading that differs', () => {
    const { clock, since, reading, pass } = start()
    pass(1_000)
    clock.follow(reading(61_000), 10)
    expect(since()).toBe(61_005)
    clock.follow(reading(-5_000), 0)
    expect(since()).toBe(-5_000)
  })

  it('goes on undisturbed if the reading may have been taken at its time, however long it took', () => {
    const { clock, since, reading, pass } = start()
    pass(40_000)
    clock.follow(reading(3), 40_000)
    expect(since()).toBe(40_000)
    clock.follow(reading(39_999), 40_000)
    expect(since()).toBe(40_000)
  })
})
