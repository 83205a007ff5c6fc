/**
 * Runs work in lanes: what has the same key runs one after the other in the order given, different keys side by side.
 * A failure does not stop its lane.
 */
export function createLanes(): <Result>(key: string, work: () => Promise<Result>) => Promise<Result> {
  const tails = new Map<string, Promise<unknown>>()

  return async (key, work) => {
    const before = tails.get(key)
    const mine = before === undefined ? work() : before.then(work, work)
    tails.set(key, mine)
    try {
      return await mine
    } finally {
      if (tails.get(key) === mine) tails.delete(key)
    }
  }
}
