import { describe, expect, it } from 'vitest'
import { createByteBudget } from '../../../src/lib/async/byte-budget.js'

describe('a byte budget', () => {
  const ignore = () => undefined

  it('gives room up to its capacity, and again what was released', () => {
    const budget = createByteBudget(100, 1)
    const [first, second] = [budget.open(ignore), budget.open(ignore)]
    expect(first.hold(60)).toBe(true)
    first.keep()
    expect(second.hold(41)).toBe(false)
    expect(second.hold(40)).toBe(true)
    first.release()
    first.release()
    expect(second.hold(100)).toBe(true)
    expect(second.hold(101)).toBe(false)
  })

  it('counts a floor for each share, however little it holds', () => {
    const budget = createByteBudget(10, 5)
    const shares = Array.from({ length: 3 }, () => budget.open(ignore))
    for (const share of shares) share.keep()
    expect(shares.map((share) => share.hold(1))).toEqual([true, true, false])
  })

  it('takes room from what has been arriving longest, and never from what has arrived', () => {
    const budget = createByteBudget(100, 1)
    const givenUp: string[] = []
    const kept = budget.open(() => givenUp.push('kept'))
    kept.hold(20)
    kept.keep()
    for (const name of ['oldest', 'older', 'newer']) budget.open(() => givenUp.push(name)).hold(25)
    const share = budget.open(() => givenUp.push('itself'))
    expect(share.hold(40)).toBe(true)
    expect(givenUp).toEqual(['oldest', 'older'])
    expect(share.hold(81)).toBe(false)
    expect(givenUp).toEqual(['oldest', 'older', 'newer'])
  })
})
