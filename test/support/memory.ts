import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** A sample collects garbage, which takes as long as the heap is large: a fifth of the time at most. */
const REST = 4

/**
 * The peak of used memory during the work, above the value before, in bytes. It is looked at every `sampleMs` or more. Throws
 * if the work is too short to measure.
 */
export async function growthDuring(sampleMs: number, work: () => Promise<void>): Promise<number> {
  const before = held()
  let most = Number.NEGATIVE_INFINITY
  let timer: NodeJS.Timeout
  const sample = () => {
    const began = performance.now()
    most = Math.max(most, held() - before)
    timer = setTimeout(sample, Math.max(sampleMs, REST * (performance.now() - began)))
  }
  timer = setTimeout(sample, sampleMs)
  try {
    await work()
  } finally {
    clearTimeout(timer)
  }
  if (most === Number.NEGATIVE_INFINITY) throw new Error(`the work ended within ${sampleMs} ms: nothing was measured`)
  return most
}

function held(): number {
  collectGarbage()
  const { heapUsed, arrayBuffers } = process.memoryUsage()
  return heapUsed + arrayBuffers
}
