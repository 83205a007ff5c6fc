/** Runs at most `max` pieces of work at the same time; the others wait, first come first served. */
export function createSemaphore(max: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // The place passes directly to the next in line, so that work that starts at this moment cannot overtake it.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
