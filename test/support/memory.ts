import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** The most bytes that are really held at a time while the work is done, above what was before. */
export async function growthDuring(sampleMs: number, work: () => Promise<void>): Promise<number> {
  const before = held()
  let most = 0
  const timer = setInterval(() => {
    most = Math.max(most, held() - before)
  }, sampleMs)
  try {
    await work()
  } finally {
    clearInterval(timer)
  }
  return most
}

function held(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
