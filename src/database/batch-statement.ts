import { batch } from '../lib/async/batcher.js'
import { isDatabaseUnavailable, isStatementTimeout } from './errors.js'

const MAX_BATCH = 100

/**
 * Runs calls of the same moment in one statement. If it fails, runs them one by one, so that only the faulty ones fail.
 * Results are never null.
 */
export function batchStatement<Item, Result extends object | string>(
  run: (items: Item[]) => Promise<Result[]>,
): (item: Item) => Promise<Result> {
  const together = batch(async (items: Item[]): Promise<(Result | null)[]> => {
    try {
      return await run(items)
    } catch (error) {
      // Run one by one, each could take as long again.
      if (isDatabaseUnavailable(error) || isStatementTimeout(error)) throw error
      return items.map(() => null)
    }
  }, MAX_BATCH)
  return async (item) => (await together(item)) ?? ((await run([item])) as [Result])[0]
}
