/**
 * Creates a function that runs work one after the other if it shares a key, otherwise concurrently. A failure does not
 * block the queues of its keys.
 */
export function createSerialQueues(): <Result>(
  keys: readonly string[],
  work: () => Promise<Result>,
) => Promise<Result> {
  const tails = new Map<string, Promise<unknown>>()

  return async (keys, work) => {
    const before = new Set(keys.flatMap((key) => tails.get(key) ?? []))
    const mine = before.size === 0 ? work() : Promise.allSettled(before).then(work)
    for (const key of keys) tails.set(key, mine)
    try {
      return await mine
    } finally {
      for (const key of keys) if (tails.get(key) === mine) tails.delete(key)
    }
  }
}
