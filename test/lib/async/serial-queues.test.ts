import { describe, expect, it } from 'vitest'
import { createSemaphore } from '../../../src/lib/async/limit.js'
import { createSerialQueues } from '../../../src/lib/async/serial-queues.js'

/** Work that ends when told. */
function pieces() {
  const begun: string[] = []
  const ends = new Map<string, (fail?: boolean) => void>()
  const work = (name: string) => () =>
    new Promise<string>((resolve, reject) => {
      begun.push(name)
      ends.set(name, (fail) => (fail ? reject(new Error(name)) : resolve(name)))
    })
  const end = async (name: string, fail?: boolean) => {
    ends.get(name)?.(fail)
    await new Promise((resolve) => setImmediate(resolve))
  }
  return { begun, work, end }
}

describe('a limit', () => {
  it('lets so many run at a time, in the order given, whether they succeed or fail', async () => {
    const { begun, work, end } = pieces()
    const limited = createSemaphore(2)
    const results = ['a', 'b', 'c', 'd'].map((name) => limited(work(name)))
    const settled = Promise.allSettled(results)
    expect(begun).toEqual(['a', 'b'])
    await end('b', true)
    expect(begun).toEqual(['a', 'b', 'c'])
    await end('a')
    expect(begun).toEqual(['a', 'b', 'c', 'd'])
    await end('c')
    await end('d')
    expect((await settled).map((result) => result.status)).toEqual(['fulfilled', 'rejected', 'fulfilled', 'fulfilled'])
    const more = limited(work('e'))
    await end('e')
    expect(await more).toBe('e')
  })
})

describe('lanes', () => {
  it('run what shares a key one after the other, and the rest side by side', async () => {
    const { begun, work, end } = pieces()
    const inLanes = createSerialQueues()
    const results = [
      inLanes(['x'], work('x1')),
      inLanes(['y'], work('y1')),
      inLanes(['x', 'y'], work('xy')),
      inLanes(['y'], work('y2')),
      inLanes(['z'], work('z1')),
    ]
    const settled = Promise.allSettled(results)
    expect(begun).toEqual(['x1', 'y1', 'z1'])
    await end('x1', true)
    expect(begun).toEqual(['x1', 'y1', 'z1'])
    await end('y1')
    expect(begun).toEqual(['x1', 'y1', 'z1', 'xy'])
    await end('xy')
    expect(begun).toEqual(['x1', 'y1', 'z1', 'xy', 'y2'])
    await end('y2')
    await end('z1')
    expect((await settled).map((result) => result.status)).toEqual([
      'rejected',
      ...Array.from({ length: 4 }, () => 'fulfilled'),
    ])
  })
})
