import { describe, expect, it } from 'vitest'
import { createByteBudget } from '../../../src/lib/async/byte-budget.js'

describe('a byte budget', () => {
  const ignore = () => undefined
  const shared = { capacity: 100, ofOneKey: 100, floor: 1 }

  it('grants bytes up to its capacity, and released bytes again', () => {
    const budget = createByteBudget(shared)
    const [first, second] = [budget.open('a', ignore), budget.open('b', ignore)]
    expect(first.reserve(60)).toBeNull()
    first.complete()
    expect(second.reserve(41)).toBe('all')
    expect(second.reserve(40)).toBeNull()
    first.release()
    first.release()
    expect(second.reserve(100)).toBeNull()
    expect(second.reserve(101)).toBe('own')
  })

  it('counts a minimum for each share', () => {
    const budget = createByteBudget({ capacity: 10, ofOneKey: 10, floor: 5 })
    const shares = Array.from({ length: 3 }, (_, index) => budget.open(`${index}`, ignore))
    for (const share of shares) share.complete()
    expect(shares.map((share) => share.reserve(1))).toEqual([null, null, 'all'])
  })

  it('drops the share that has been arriving longest, and never a complete one', () => {
    const budget = createByteBudget(shared)
    const givenUp: string[] = []
    const kept = budget.open('a', () => givenUp.push('kept'))
    kept.reserve(20)
    kept.complete()
    for (const name of ['oldest', 'older', 'newer']) budget.open('a', () => givenUp.push(name)).reserve(25)
    const share = budget.open('a', () => givenUp.push('itself'))
    expect(share.reserve(40)).toBeNull()
    expect(givenUp).toEqual(['oldest', 'older'])
    expect(share.reserve(81)).toBe('own')
    expect(givenUp).toEqual(['oldest', 'older', 'newer'])
  })

  it('gives a key at most its part, for which its own shares go', () => {
    const budget = createByteBudget({ capacity: 100, ofOneKey: 50, floor: 1 })
    const givenUp: string[] = []
    const open = (key: string, name: string) => budget.open(key, (shortage) => givenUp.push(`${name}: ${shortage}`))
    open('quiet', 'first').reserve(10)
    open('noisy', 'second').reserve(30)
    expect(open('noisy', 'third').reserve(30)).toBeNull()
    expect(givenUp).toEqual(['second: own'])
    expect(open('noisy', 'fourth').reserve(51)).toBe('own')
    expect(open('quiet', 'fifth').reserve(40)).toBeNull()
  })

  it('takes from the key that holds most, and from none that holds less than the one in need', () => {
    const budget = createByteBudget({ ...shared, ofOneKey: 90 })
    const givenUp: string[] = []
    const open = (key: string) => budget.open(key, () => givenUp.push(key))
    open('little').reserve(10)
    open('much').reserve(40)
    open('much').reserve(40)
    const share = open('new')
    expect(share.reserve(20)).toBeNull()
    expect(givenUp).toEqual(['much'])
    expect(share.reserve(60)).toBeNull()
    expect(givenUp).toEqual(['much', 'much'])
    expect(share.reserve(91)).toBe('own')
    expect(share.reserve(90)).toBeNull()
    expect(open('late').reserve(20)).toBeNull()
    expect(givenUp).toEqual(['much', 'much', 'new'])
  })
})
