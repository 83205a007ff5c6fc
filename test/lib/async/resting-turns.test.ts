import { expect, it } from 'vitest'
import { createRestingTurns } from '../../../src/lib/async/resting-turns.js'

it('resting turns run one piece of work at a time, in the order of the calls, and continue after a failure', async () => {
  const inTurn = createRestingTurns()
  const seen: string[] = []
  const work = (n: number) =>
    inTurn(async () => {
      seen.push(`${n} begins`)
      await Promise.resolve()
      seen.push(`${n} ends`)
      if (n === 0) throw new Error('broken')
      return n
    }).catch((error: Error) => error.message)
  expect(await Promise.all([0, 1, 2].map(work))).toEqual(['broken', 1, 2])
  expect(seen).toEqual([0, 1, 2].flatMap((n) => [`${n} begins`, `${n} ends`]))
})
