import { afterEach, describe, expect, it } from 'vitest'
import { type Loop, type LoopOptions, startLoop } from '../../../src/lib/async/loop.js'

const FOREVER = 1_000_000

/** The running rounds. */
const ends: { resolve: (hasMore: boolean) => void; reject: (error: Error) => void }[] = []
let loop: Loop | null = null

afterEach(async () => {
  const stopped = loop?.stop()
  for (const { resolve } of ends.splice(0)) resolve(false)
  await stopped
})

/** A loop whose rounds end when the test says so; `next` resolves when one has started. */
function begin(options: Partial<LoopOptions> = {}) {
  let rounds = 0
  let waiting = () => {}
  const failures: unknown[] = []
  loop = startLoop({
    round: () => {
      rounds += 1
      waiting()
      return new Promise((resolve, reject) => {
        ends.push({ resolve, reject })
      })
    },
    pauseMs: () => FOREVER,
    onFailure: (error) => failures.push(error),
    ...options,
  })
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  return {
    loop,
    failures,
    count: () => rounds,
    /** Ends the current round. */
    end: async (hasMore = false) => {
      ends.shift()?.resolve(hasMore)
      await turn()
    },
    fail: async (error: Error) => {
      ends.shift()?.reject(error)
      await turn()
    },
    untilRound: (wanted: number) =>
      new Promise<void>((resolve) => {
        waiting = () => {
          if (rounds >= wanted) resolve()
        }
        waiting()
      }),
  }
}

describe('a loop', () => {
  it('starts with a round, and rests when that has ended', async () => {
    const { count, end } = begin()
    expect(count()).toBe(1)
    await end()
    expect(count()).toBe(1)
  })

  it('continues at once if there is more to do', async () => {
    const { count, end } = begin()
    await end(true)
    expect(count()).toBe(2)
  })

  it('starts one round for all calls until then', async () => {
    const { loop, count, end } = begin()
    await end()
    loop.wake()
    loop.wake()
    await end()
    expect(count()).toBe(2)
  })

  it('runs another round after a call during one, which may have missed its work', async () => {
    const { loop, count, end } = begin()
    loop.wake()
    expect(count()).toBe(1)
    await end()
    expect(count()).toBe(2)
    await end()
    expect(count()).toBe(2)
  })

  it('starts a round on its own after a pause', async () => {
    const { end, untilRound } = begin({ pauseMs: () => 1 })
    await end()
    await untilRound(2)
  })

  it('reports a failed round, and repeats it', async () => {
    const { failures, fail, untilRound } = begin()
    const error = new Error('no database')
    await fail(error)
    expect(failures).toEqual([error])
    await untilRound(2)
  })

  it('ends after the current round', async () => {
    const { loop, count, end } = begin()
    let hasStopped = false
    const stopping = loop.stop().then(() => {
      hasStopped = true
    })
    await new Promise((resolve) => setImmediate(resolve))
    expect(hasStopped).toBe(false)
    await end(true)
    await stopping
    loop.wake()
    expect(count()).toBe(1)
  })

  it('ends at once while it rests, or waits to retry', async () => {
    const resting = begin()
    await resting.end()
    await resting.loop.stop()
    const failing = begin()
    await failing.fail(new Error('no database'))
    await failing.loop.stop()
    expect([resting.count(), failing.count()]).toEqual([1, 1])
  })
})
