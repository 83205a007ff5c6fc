import { describe, expect, it } from 'vitest'
import { createWakeTimers } from '../../../src/core/webhooks/wake-timers.js'

const at = (second: number) => new Date(second * 1_000)

describe('a key with work', () => {
  it('is taken once, until it is woken again', () => {
    const wakes = createWakeTimers<string>()
    wakes.wake('a')
    wakes.wake('a')
    wakes.wake('b')
    expect(wakes.hasAwake()).toBe(true)
    expect(wakes.takeAwake(at(0))).toEqual(['a', 'b'])
    expect(wakes.hasAwake()).toBe(false)
    expect(wakes.takeAwake(at(0))).toEqual([])
  })

  it('is taken at its scheduled time, as last set', () => {
    const wakes = createWakeTimers<string>()
    wakes.sleep('late', at(9))
    wakes.sleep('soon', at(5))
    wakes.sleep('late', at(7))
    expect(wakes.soonest()).toEqual(at(5))
    expect(wakes.takeAwake(at(4))).toEqual([])
    expect(wakes.takeAwake(at(5))).toEqual(['soon'])
    expect(wakes.soonest()).toEqual(at(7))
    expect(wakes.takeAwake(at(8))).toEqual(['late'])
    expect(wakes.soonest()).toBeNull()
  })
})
