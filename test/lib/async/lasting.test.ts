import { expect, it } from 'vitest'
import { createLasting } from '../../../src/lib/async/lasting.js'

it('knows what every look has found for a while', () => {
  let time = 5_000
  const lasting = createLasting(() => time)
  lasting.note([1, 2])
  expect(lasting.since(900)).toEqual([])
  time += 899
  lasting.note([1, 3])
  expect(lasting.since(900)).toEqual([])
  time += 1
  lasting.note([1, 2, 3])
  expect(lasting.since(900)).toEqual([1])
  time += 900
  expect(lasting.since(900)).toEqual([1, 3, 2])
  lasting.note([])
  expect(lasting.since(0)).toEqual([])
})
