import { connectionShortage, isDatabaseUnavailable, isUnfitReplica } from './errors.js'
import type { Database } from './pool.js'

/** For so long after a failure, a replica is not asked: each attempt to reach it may take seconds. */
const PAUSE_MS = 5_000

/**
 * The primary's database, whose single statements run on the replica where that answers. So they may show what was true
 * a moment ago. Transactions, sessions and statements that raise events run on the primary. `onFailure` hears why a
 * statement ran there after all.
 */
export function preferReplica(
  replica: Database,
  primary: Database,
  onFailure: (error: Error) => void,
  pause: { until: number } = { until: 0 },
): Database {
  return {
    ...primary,
    run: async (statement, values) => {
      if (Date.now() < pause.until) return primary.run(statement, values)
      try {
        return await replica.run(statement, values)
      } catch (error) {
        const isAway = isDatabaseUnavailable(error) && connectionShortage(error) === null
        // The share of an organization is not larger because there are two servers.
        if (!isAway && !isUnfitReplica(error)) throw error
        if (isAway) pause.until = Date.now() + PAUSE_MS
        onFailure(error as Error)
        return primary.run(statement, values)
      }
    },
    withStatementTimeout: (ms) =>
      preferReplica(replica.withStatementTimeout(ms), primary.withStatementTimeout(ms), onFailure, pause),
  }
}
