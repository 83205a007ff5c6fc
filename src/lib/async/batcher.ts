interface Waiting<Item, Result> {
  item: Item
  resolve: (result: Result) => void
  reject: (error: unknown) => void
}

/**
 * Turns a function of many items into a function of one. Calls made during a run wait for the next one, so every item
 * is handled by a run that began after its call. `run` returns results in the order of the items; if it throws, all of
 * its items fail.
 */
export function batch<Item, Result>(
  run: (items: Item[]) => Promise<Result[]>,
  maxItems: number,
): (item: Item) => Promise<Result> {
  let waiting: Waiting<Item, Result>[] = []
  let running = false

  async function drain(): Promise<void> {
    running = true
    while (waiting.length > 0) {
      const batch = waiting.slice(0, maxItems)
      waiting = waiting.slice(maxItems)
      try {
        const results = await run(batch.map(({ item }) => item))
        batch.forEach(({ resolve }, index) => {
          resolve(results[index] as Result)
        })
      } catch (error) {
        for (const { reject } of batch) reject(error)
      }
    }
    running = false
  }

  return (item) =>
    new Promise((resolve, reject) => {
      waiting.push({ item, resolve, reject })
      // In a microtask, so that all calls of the same turn share a run.
      if (!running) {
        running = true
        queueMicrotask(drain)
      }
    })
}
