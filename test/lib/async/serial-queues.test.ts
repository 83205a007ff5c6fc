import { describe, expect, it } from 'vitest'
import { createSerialQueues } from '../../../src/lib/async/serial-queues.js'

/** Work that ends when the test says so. */
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

describe('serial queues', () => {
  it('run calls with the same key one after the other, and others concurrently', async () => {
    const { begun, work, end } = pieces()
    const inQueues = createSerialQueues()
    const results = [
      inQueues(['x'], work('x1')),
      inQueues(['y'], work('y1')),
      inQueues(['x', 'y'], work('xy')),
      inQueues(['y'], work('y2')),
      inQueues(['z'], work('z1')),
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
