import { sleep } from './backoff.js'
import { createSemaphore } from './semaphore.js'

/**
 * Creates a function that runs work one piece after the other. After each piece it rests for as long as the piece took,
 * so that the work, however much of it there is, takes at most half of the time of this process.
 */
export function createRestingTurns(): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const oneAtATime = createSemaphore(1)
  let restUntil = 0
  return (work) =>
    oneAtATime(async () => {
      await sleep(Math.max(0, restUntil - performance.now()))
      const since = performance.now()
      try {
        return await work()
      } finally {
        const now = performance.now()
        restUntil = now + (now - since)
      }
    })
}
