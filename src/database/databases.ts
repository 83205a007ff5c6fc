import {
  type Connection,
  createAnnouncer,
  type Database,
  openDatabase,
  type PoolFigures,
  type PoolLimits,
} from './pool.js'
import { preferReplica } from './replica.js'

/** The connections of a process, by purpose, so that no purpose waits for another. */
export interface Databases {
  /** Answers requests. */
  requests: Database
  /** Callbacks, jobs, deliveries, and sessions of linked devices. */
  work: Database
  /** What must always get through: the process registry, notifications, probes, and the readers of live events. */
  live: Database
  /** Requests whose answers may show what was true a moment ago. The primary, if there is no replica. */
  replica: Database
}

/** What connections are for. */
export type Purpose = 'requests' | 'work' | 'live'

/** What a process needs connections for. */
export interface Purposes {
  /** Whether it has the role api. */
  servesRequests: boolean
  /** Whether it has the role worker or gateway. */
  works: boolean
}

/**
 * The process registry keeps one of them. Figures for metrics take one at most, and so do the readers of live events, so
 * probes and notifications wait for a moment at most.
 */
const LIVE = 3
/**
 * Limits of the connections for requests, as parts of all. Shared statements, such as look-ups of keys, go first: so
 * organizations leave some for them, and a flood of them stops no organization.
 */
const OF_ONE_ORGANIZATION = 1 / 3
const OF_ORGANIZATIONS = 3 / 4
const OF_NO_ORGANIZATION = 1 / 2
const OF_HEAVY_STATEMENTS = 1 / 2

const MAX_WAIT_MS = 5_000
/** The statement timeout of requests. */
export const REQUEST_STATEMENT_MS = 10_000
const WORK_STATEMENT_MS = 60_000
const IDLE_IN_TRANSACTION_MS = 30_000

/**
 * Opens the connections of a process: `total` at most, opened when they are needed, and as many for requests to a
 * replica as to the primary. A listener of one database gets the commits of all. `onError` gets errors of idle
 * connections, and those of the replica.
 */
export function openDatabases(
  { primary, replica }: { primary: Connection; replica: Connection | null },
  total: number,
  purposes: Purposes,
  onError: (error: Error) => void,
): Databases & { close(): Promise<void> } {
  const announcer = createAnnouncer()
  const open = (size: number, limits: PoolLimits, server = primary) =>
    openDatabase(server, size, onError, { limits, announcer, needsPrimary: server === primary })
  const sizes = divideConnections(total, purposes)
  const ofRequests: PoolLimits = {
    ofOneOrganization: part(sizes.requests, OF_ONE_ORGANIZATION),
    ofOrganizations: part(sizes.requests, OF_ORGANIZATIONS),
    ofNoOrganization: part(sizes.requests, OF_NO_ORGANIZATION),
    ofHeavyStatements: part(sizes.requests, OF_HEAVY_STATEMENTS),
    waitMs: MAX_WAIT_MS,
    statementMs: REQUEST_STATEMENT_MS,
    idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
  }
  const standby = replica && open(sizes.requests, ofRequests, replica)
  const databases = {
    requests: open(sizes.requests, ofRequests),
    // Work that waits for a connection has not failed, so its wait has no maximum.
    work: open(sizes.work, {
      ofOneOrganization: sizes.work,
      ofOrganizations: sizes.work,
      ofNoOrganization: sizes.work,
      ofHeavyStatements: part(sizes.work, OF_HEAVY_STATEMENTS),
      waitMs: Number.POSITIVE_INFINITY,
      statementMs: WORK_STATEMENT_MS,
      idleInTransactionMs: WORK_STATEMENT_MS,
    }),
    live: open(sizes.live, {
      ofOneOrganization: 1,
      ofOrganizations: 1,
      ofNoOrganization: sizes.live,
      ofHeavyStatements: 1,
      waitMs: MAX_WAIT_MS,
      statementMs: REQUEST_STATEMENT_MS,
      idleInTransactionMs: IDLE_IN_TRANSACTION_MS,
    }),
  }
  return {
    ...databases,
    replica: standby ? preferReplica(standby, databases.requests, onError) : databases.requests,
    close: async () => {
      await Promise.all([...Object.values(databases), standby].map((database) => database?.close()))
    },
  }
}

function part(size: number, share: number): number {
  return Math.max(1, Math.floor(size * share))
}

/** How many connections each purpose gets. A purpose that the process does not have still gets one. */
export function divideConnections(total: number, { servesRequests, works }: Purposes): Record<Purpose, number> {
  const rest = total - LIVE
  if (!works) return { live: LIVE, requests: Math.max(rest, 1), work: 1 }
  if (!servesRequests) return { live: LIVE, requests: 1, work: rest }
  const requests = Math.floor(rest / 2)
  return { live: LIVE, requests, work: rest - requests }
}

/** The figures of all connections, for metrics. */
export function figuresOf({ requests, work, live }: Pick<Databases, Purpose>): Record<Purpose, PoolFigures> {
  return { requests: requests.figures(), work: work.figures(), live: live.figures() }
}
