import { expect, it } from 'vitest'
import { createTokenBuckets } from '../../../src/lib/async/token-buckets.js'

function buckets(maxKeys = 10) {
  let now = 0
  const made = createTokenBuckets({ burst: 2, refillMs: 1_000, maxKeys }, () => new Date(now))
  const advance = (ms: number) => {
    now += ms
  }
  return { ...made, advance }
}

it('grants the tokens in a bucket, and then one per interval', () => {
  const { take, waitMs, advance } = buckets()
  expect([take('a'), take('a'), take('a')]).toEqual([true, true, false])
  expect([waitMs('a'), waitMs('b')]).toEqual([1_000, 0])
  advance(999)
  expect([take('a'), waitMs('a'), take('b')]).toEqual([false, 1, true])
  advance(1)
  expect([take('a'), take('a')]).toEqual([true, false])
})

it('holds at most its burst after a long time', () => {
  const { take, advance } = buckets()
  take('a')
  advance(1_000_000)
  expect([take('a'), take('a'), take('a')]).toEqual([true, true, false])
})

it('drops the least recently used bucket', () => {
  const { take } = buckets(2)
  for (const key of ['a', 'a', 'b', 'b', 'a']) take(key)
  expect(take('c')).toBe(true)
  expect([take('b'), take('a')]).toEqual([false, true])
})
