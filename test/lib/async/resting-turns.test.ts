import { expect, it } from 'vitest'
import { createRestingTurns } from '../../../src/lib/async/resting-turns.js'

it('resting turns run one piece of work at a time, round robin over the keys, and continue after a failure', async () => {
  const inTurn = createRestingTurns()
  const seen: string[] = []
  const work = (key: string, n: number) =>
    inTurn(key, async () => {
      seen.push(`${n} begins`)
      await Promise.resolve()
      seen.push(`${n} ends`)
      if (n === 0) throw new Error('broken')
      return n
    }).catch((error: Error) => error.message)
  const all = [work('one', 0), work('one', 1), work('one', 2), work('another', 3)]
  expect(await Promise.all(all)).toEqual(['broken', 1, 2, 3])
  expect(seen).toEqual([0, 1, 3, 2].flatMap((n) => [`${n} begins`, `${n} ends`]))
})
