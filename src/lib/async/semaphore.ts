/** Runs work within a limit of concurrent runs. */
export type Semaphore = <Result>(work: () => Promise<Result>) => Promise<Result>

/** Runs at most `max` pieces of work at the same time; the others wait, first come first served. */
export function createSemaphore(max: number): Semaphore {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The place passes directly to the next in the queue, so that work that starts at this moment cannot overtake it.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
