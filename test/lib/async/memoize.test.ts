import { expect, it } from 'vitest'
import { memoize } from '../../../src/lib/async/memoize.js'

it('computes once for each object, even for equal ones', () => {
  const worked: object[] = []
  const describe = memoize((given: { name: string }) => {
    worked.push(given)
    return { upperCase: given.name.toUpperCase() }
  })
  const [one, alike, other] = [{ name: 'a' }, { name: 'a' }, { name: 'b' }]
  expect([one, alike, other, one, other].map(describe)).toEqual(
    ['A', 'A', 'B', 'A', 'B'].map((upperCase) => ({ upperCase })),
  )
  expect(describe(one)).toBe(describe(one))
  expect(describe(one)).not.toBe(describe(alike))
  expect(worked).toEqual([one, alike, other])
})
