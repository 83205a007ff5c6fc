import { describe, expect, it } from 'vitest'
import { createByteBudget } from '../../../src/lib/async/byte-budget.js'

describe('a byte budget', () => {
  const ignore = () => undefined

  it('grants bytes up to its capacity, and released bytes again', () => {
    const budget = createByteBudget(100, 1)
    const [first, second] = [budget.open(ignore), budget.open(ignore)]
    expect(first.reserve(60)).toBe(true)
    first.complete()
    expect(second.reserve(41)).toBe(false)
    expect(second.reserve(40)).toBe(true)
    first.release()
    first.release()
    expect(second.reserve(100)).toBe(true)
    expect(second.reserve(101)).toBe(false)
  })

  it('counts a minimum for each share', () => {
    const budget = createByteBudget(10, 5)
    const shares = Array.from({ length: 3 }, () => budget.open(ignore))
    for (const share of shares) share.complete()
    expect(shares.map((share) => share.reserve(1))).toEqual([true, true, false])
  })

  it('drops the share that has been arriving longest, and never a complete one', () => {
    const budget = createByteBudget(100, 1)
    const givenUp: string[] = []
    const kept = budget.open(() => givenUp.push('kept'))
    kept.reserve(20)
    kept.complete()
    for (const name of ['oldest', 'older', 'newer']) budget.open(() => givenUp.push(name)).reserve(25)
    const share = budget.open(() => givenUp.push('itself'))
    expect(share.reserve(40)).toBe(true)
    expect(givenUp).toEqual(['oldest', 'older'])
    expect(share.reserve(81)).toBe(false)
    expect(givenUp).toEqual(['oldest', 'older', 'newer'])
  })
})
