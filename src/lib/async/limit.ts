/** Lets at most `max` pieces of work run at a time; the others wait for their turn in the order given. */
export function createSemaphore(max: number): <Result>(work: () => Promise<Result>) => Promise<Result> {
  const waiting: (() => void)[] = []
  let running = 0

  return async (work) => {
    if (running < max) running++
    else await new Promise<void>((resolve) => waiting.push(resolve))
    try {
      return await work()
    } finally {
      // Who ends hands its place to the one who waits longest.
      const next = waiting.shift()
      if (next) next()
      else running--
    }
  }
}
