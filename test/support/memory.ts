import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/**
 * The peak of used memory during the work, above the value before, in bytes. Throws if the work is too short to
 * measure.
 */
export async function growthDuring(sampleMs: number, work: () => Promise<void>): Promise<number> {
  const before = held()
  let most = Number.NEGATIVE_INFINITY
  const timer = setInterval(() => {
    most = Math.max(most, held() - before)
  }, sampleMs)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  if (most === Number.NEGATIVE_INFINITY) throw new Error(`the work ended within ${sampleMs} ms: nothing was measured`)
  return most
}

function held(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
