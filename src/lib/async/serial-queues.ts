/**
 * Runs work in lanes: what has a key in common runs one after the other in the order given, the rest side by side.
 * A failure does not stop its lanes.
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
