import { batch } from '../lib/async/batcher.js'
import { isDatabaseUnavailable } from './errors.js'

const MAX_BATCH = 100

/**
 * Runs what is asked for in the same moment together, in one statement, and what fell together one by one: it shows then whose
 * fault it was. A result is never null.
 */
export function batchStatement<Item, Result extends object | string>(
  run: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const together = batch(async (items: Item[]): Promise<(Result | null)[]> => {
    try {
      return await run(items)
    } catch (error) {
      if (isDatabaseUnavailable(error)) throw error
      return items.map(() => null)
    }
  }, MAX_BATCH)
  return async (item) => (await together(item)) ?? ((await run([item])) as [Result])[0]
}
