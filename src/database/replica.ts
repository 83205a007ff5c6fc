import { connectionShortage, isDatabaseUnavailable, isUnfitReplica } from './errors.js'
import type { Database } from './pool.js'
import { sharedStatement } from './statement.js'

const endOfLog = sharedStatement<{ lsn: string }>('replica.endOfLog', 'SELECT pg_current_wal_lsn()::text AS lsn')

const hasReplayed = sharedStatement<{ reached: boolean }>(
  'replica.hasReplayed',
  'SELECT NOT pg_is_in_recovery() OR coalesce(pg_last_wal_replay_lsn() >= $1::pg_lsn, false) AS reached',
)

/** For so long after a failure, a replica is not asked: each attempt to reach it may take seconds. */
const PAUSE_MS = 5_000
/** How far the replica may be behind, and for how long it is not asked again. */
const MAX_LAG_MS = 60_000
const LOOK_MS = 5_000

/** What is known about the replica. */
interface ReplicaState {
  /** The time (Date.now) until which it is not asked. */
  pausedUntil: number
  /** A time at which it had everything of the primary; it cannot be older than that. */
  upToDateAt: number
  /** Where the primary's log ended at a time, which the replica had not reached yet. */
  awaited: { lsn: string; at: number } | null
}

/**
 * The primary's database, whose single statements run on the replica where that answers and is less than a minute
 * behind. So they may show what was true a moment ago. Transactions, sessions and statements that raise events run on
 * the primary. `onFailure` hears why a statement ran there after all.
 */
export function preferReplica(
  replica: Database,
  primary: Database,
  onFailure: (error: Error) => void,
  state: ReplicaState = { pausedUntil: 0, upToDateAt: Number.NEGATIVE_INFINITY, awaited: null },
): Database {
  return {
    ...primary,
    run: async (statement, values) => {
      if (Date.now() < state.pausedUntil) return primary.run(statement, values)
      if (!(await isUpToDate(replica, primary, onFailure, state))) {
        state.pausedUntil = Date.now() + PAUSE_MS
        return primary.run(statement, values)
      }
      try {
        return await replica.run(statement, values)
      } catch (error) {
        const isAway = isDatabaseUnavailable(error) && connectionShortage(error) === null
        // The share of an organization is not larger because there are two servers.
        if (!isAway && !isUnfitReplica(error)) throw error
        if (isAway) state.pausedUntil = Date.now() + PAUSE_MS
        onFailure(error as Error)
        return primary.run(statement, values)
      }
    },
    withStatementTimeout: (ms) =>
      preferReplica(replica.withStatementTimeout(ms), primary.withStatementTimeout(ms), onFailure, state),
  }
}

/**
 * Whether the replica has what the primary wrote until a minute ago. Time says nothing about that: a replica that
 * stopped, and one of a primary at rest, have both received nothing for a while. So the end of the primary's log is
 * remembered until the replica has reached it. A server that replays no log, such as a promoted one, has no lag.
 */
async function isUpToDate(
  replica: Database,
  primary: Database,
  onFailure: (error: Error) => void,
  state: ReplicaState,
): Promise<boolean> {
  const now = Date.now()
  if (now - state.upToDateAt < LOOK_MS) return true
  try {
    const awaited = state.awaited ?? { lsn: (await primary.run(endOfLog, []))[0]?.lsn ?? '0/0', at: now }
    const [replay] = await replica.run(hasReplayed, [awaited.lsn])
    state.awaited = replay?.reached ? null : awaited
    if (state.awaited === null) state.upToDateAt = awaited.at
    else if (now - awaited.at > MAX_LAG_MS) onFailure(new Error('the replica is more than a minute behind'))
    return now - state.upToDateAt <= MAX_LAG_MS
  } catch (error) {
    // The statement itself is refused then, and does not go to the primary.
    if (connectionShortage(error) !== null) return true
    onFailure(error as Error)
    return false
  }
}
