import { expect, it } from 'vitest'
import { createSemaphore } from '../../../src/lib/async/semaphore.js'

it('limits concurrent runs, in the order of the calls, and continues after a failure', async () => {
  const pass = createSemaphore(2)
  const begun: number[] = []
  const ends: (() => void)[] = []
  const work = (n: number) =>
    pass(() => {
      begun.push(n)
      return new Promise<void>((resolve, reject) => ends.push(n === 0 ? () => reject(new Error('broken')) : resolve))
    })
  const all = [0, 1, 2, 3].map((n) => work(n).catch((error: Error) => error.message))
  expect(begun).toEqual([0, 1])
  ends[0]?.()
  expect(await all[0]).toBe('broken')
  await Promise.resolve()
  expect(begun).toEqual([0, 1, 2])
  ends[1]?.()
  await all[1]
  await Promise.resolve()
  expect(begun).toEqual([0, 1, 2, 3])
  for (const end of ends) end()
  await Promise.all(all)
})

it('runs more work after all of it has ended', async () => {
  const pass = createSemaphore(1)
  expect(await pass(async () => 'first')).toBe('first')
  expect(await pass(async () => 'second')).toBe('second')
})
