import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { createFairSemaphore } from '../../../src/lib/async/fair-semaphore.js'

/** Starts work by name, such as `a1` of the user `a`, and lists what has begun. */
function run(limits: { max: number; maxOfOne?: number }) {
  const pass = createFairSemaphore(limits)
  const begun: string[] = []
  const ends = new Map<string, (error?: Error) => void>()
  const start = (name: string) =>
    pass(name[0] as string, () => {
      begun.push(name)
      return new Promise<string>((resolve, reject) => {
        ends.set(name, (error) => (error ? reject(error) : resolve(name)))
      })
    }).catch((error: Error) => error.message)
  const end = async (name: string, error?: Error) => {
    ends.get(name)?.(error)
    await setImmediate()
  }
  return { begun, start, end }
}

describe('a fair semaphore', () => {
  it('gives free places to the waiting users in turns', async () => {
    const { begun, start, end } = run({ max: 1 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'c1', 'b2']) void start(name)
    for (const name of ['a1', 'a2', 'b1', 'c1', 'a3', 'b2']) {
      await setImmediate()
      expect(begun.at(-1)).toBe(name)
      await end(name)
    }
    expect(begun).toEqual(['a1', 'a2', 'b1', 'c1', 'a3', 'b2'])
  })

  it('leaves places of which one user may not have more to others', async () => {
    const { begun, start, end } = run({ max: 3, maxOfOne: 2 })
    for (const name of ['a1', 'a2', 'a3', 'b1', 'b2']) void start(name)
    await setImmediate()
    expect(begun).toEqual(['a1', 'a2', 'b1'])
    await end('a1')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3'])
    await end('b1')
    expect(begun).toEqual(['a1', 'a2', 'b1', 'a3', 'b2'])
  })

  it('continues after a failure', async () => {
    const { begun, start, end } = run({ max: 1 })
    const failed = start('a1')
    const next = start('b1')
    await setImmediate()
    await end('a1', new Error('broken'))
    expect(await failed).toBe('broken')
    expect(begun).toEqual(['a1', 'b1'])
    await end('b1')
    expect(await next).toBe('b1')
  })
})
