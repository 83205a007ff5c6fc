import { expect, it } from 'vitest'
import { nextTurn } from '../../../src/lib/async/steps.js'

it('works take turns, with other work of the event loop between two of them', async () => {
  const seen: string[] = []
  const work = async (name: string) => {
    for (let n = 1; n <= 2; n++) {
      await nextTurn()
      seen.push(`${name}${n}`)
      setImmediate(() => seen.push('other work'))
    }
  }
  await Promise.all([work('a'), work('b')])
  expect(seen).toEqual(['a1', 'other work', 'b1', 'other work', 'a2', 'other work', 'b2'])
})
