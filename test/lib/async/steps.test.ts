import { expect, it } from 'vitest'
import { createSteps } from '../../../src/lib/async/steps.js'

it('works take turns, with other work of the event loop between two of them', async () => {
  const seen: string[] = []
  const work = async (name: string) => {
    const step = createSteps()
    for (let n = 1; n <= 3; n++) {
      let pause = step()
      // Computes until the step has taken long enough.
      while (pause === null) pause = step()
      await pause
      seen.push(`${name}${n}`)
      setImmediate(() => seen.push('other work'))
    }
  }
  await Promise.all([work('a'), work('b')])
  const turns = ['a1', 'b1', 'a2', 'b2', 'a3', 'b3']
  expect(seen).toEqual(turns.flatMap((turn) => [turn, 'other work']).slice(0, -1))
})
