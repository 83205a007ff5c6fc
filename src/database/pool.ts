import pg from 'pg'
import { FairPlaces } from '../lib/async/fair-places.js'
import { type Borrowed, borrowFrom, lend, onLoan, onPool } from './connections.js'
import { StandbyError } from './errors.js'
import { type CommitListener, type Queryable, queryable } from './queryable.js'
import { transaction } from './transaction.js'

export type { CommitListener, Queryable }

/** Connections to PostgreSQL, shared by organizations. */
export interface Database extends Queryable {
  /**
   * Runs `work` in one transaction; rolls back if it throws. Its first statement takes the connection. `work` uses no
   * other one, since all others may wait for this one.
   */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` with one connection, for locks that belong to a connection. It must not use the session for two things
   * at the same time. If `work` throws, the connection is closed, which releases its locks.
   */
  session<Result>(work: (session: Database) => Promise<Result>): Promise<Result>
  /** Calls the listener after commits, with what the statements declare (statement.ts), until the result is called. */
  onCommit(listener: CommitListener): () => void
  /** The same connections, with a statement timeout of `ms`; each statement is a transaction of its own. */
  withStatementTimeout(ms: number): Database
  /** Borrows a connection for longer than a statement or transaction; null: for no organization. */
  borrow(organizationId: string | null): Promise<Borrowed>
  /** How many connections are in use, and how many statements and transactions wait for one. */
  figures(): PoolFigures
  /** For statements that are not named. They take no place. */
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** A PostgreSQL URL, or the embedded server's socket. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

export interface PoolFigures {
  size: number
  inUse: number
  waiting: number
}

/** How a pool's connections are shared, and the timeouts of their statements. */
export interface PoolLimits {
  /** The most connections that statements and transactions of one organization may use at a time. */
  ofOneOrganization: number
  /** The most that those of all organizations may use together. */
  ofOrganizations: number
  /** The most that shared statements may use; they go first. */
  ofNoOrganization: number
  /** The most that heavy statements may use; each of them belongs to another organization. */
  ofHeavyStatements: number
  /** The maximum wait for a free connection, in ms; Infinity: no maximum. */
  waitMs: number
  /** How long a statement may take, in ms; 0: without a limit. */
  statementMs: number
  /** How long a transaction may wait for its next statement, in ms; 0: without a limit. */
  idleInTransactionMs: number
}

/** Calls the listeners of commits; several pools may share it. */
export interface Announcer {
  announce: CommitListener
  onCommit: Database['onCommit']
}

const CONNECT_TIMEOUT_MS = 5_000
/** The server cancels a statement at its timeout. Without an answer this long after it, the connection is closed. */
const ANSWER_MARGIN_MS = 5_000
/**
 * An idle connection to a machine that is off ends 20 s later: the system probes it after this time, ten times. By
 * default it would wait for two hours, and a process would not know that it has lost the lock that shows it is alive.
 */
const KEEP_ALIVE_MS = 10_000

/**
 * Session settings that do not depend on the server's. The statements are short and many, so the JIT compiler costs
 * more than it saves, and each is planned once per connection, for any values (docs/decisions/plans.md). They use
 * indexes; the default random_page_cost of 4 (for rotating disks) makes an index scan on a table without statistics look
 * more expensive than a full scan. Locks rely on read committed. A session ended for idleness would make a process look
 * dead.
 */
const SESSION = {
  jit: 'off',
  plan_cache_mode: 'force_generic_plan',
  random_page_cost: '1.1',
  default_transaction_isolation: "'read committed'",
  TimeZone: "'UTC'",
  DateStyle: "'ISO'",
  lock_timeout: '0',
  idle_session_timeout: '0',
}

/** Acknowledged writes must survive a crash of the server. A stricter setting, such as waiting for replicas, stays. */
const COMMIT_TO_DISK = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`

const IS_STANDBY = { text: 'SELECT pg_is_in_recovery() AS standby', query_timeout: CONNECT_TIMEOUT_MS }

/** Statements instead of start-up parameters, which poolers refuse and the URL may contain already. */
function sessionSettings({ statementMs, idleInTransactionMs }: PoolLimits) {
  const settings = Object.entries({
    ...SESSION,
    statement_timeout: statementMs,
    idle_in_transaction_session_timeout: idleInTransactionMs,
  })
  return {
    text: [...settings.map(([name, value]) => `SET ${name} = ${value}`), COMMIT_TO_DISK].join('; '),
    query_timeout: CONNECT_TIMEOUT_MS,
  }
}

/** What a pool has besides its server and its size. */
export interface PoolOptions {
  /** By default, a connection can be used for anything, and is waited for 5 s. */
  limits?: PoolLimits
  /** Pools with the same one have the same listeners of commits. */
  announcer?: Announcer
  /** Whether new connections to a standby are refused with a StandbyError. */
  needsPrimary?: boolean
}

/** Opens a pool. `onError` gets errors of idle connections, which the pool replaces. */
export function openDatabase(
  connection: Connection,
  size: number,
  onError: (error: Error) => void,
  { limits = unlimited(size), announcer = createAnnouncer(), needsPrimary = false }: PoolOptions = {},
): Database {
  const setSession = sessionSettings(limits)
  const pool = new pg.Pool({
    ...connection,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    application_name: 'parley',
    types: { getTypeParser },
    ...(limits.statementMs > 0 ? { query_timeout: limits.statementMs + ANSWER_MARGIN_MS } : {}),
    onConnect: async (client) => {
      await client.query(setSession)
      if (needsPrimary) await requirePrimary(client)
    },
  })
  pool.on('error', onError)
  // A broken client reports to its query; without a listener its event would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  const { all, heavy } = createPlaces(size, limits)
  const borrow = borrowFrom(pool, all)
  const database: Database = {
    pool,
    ...queryable(onPool(pool, all, heavy), announcer.announce),
    transaction: (work) => lend(borrow, (loan) => transaction(loan, work, announcer.announce)),
    session: (work) =>
      lend(borrow, async (loan) => {
        const own = queryable(onLoan(loan), announcer.announce)
        try {
          return await work({
            ...database,
            ...own,
            transaction: (inner) => transaction(loan, inner, announcer.announce),
          })
        } catch (error) {
          loan.discard(error as Error)
          throw error
        }
      }),
    withStatementTimeout: (ms) => withStatementTimeout(database, announcer.announce, ms),
    borrow,
    onCommit: announcer.onCommit,
    figures: () => {
      const { taken, waiting } = all.figures()
      return { size, inUse: taken, waiting: waiting + heavy.figures().waiting }
    },
    close: () => pool.end(),
  }
  return database
}

/**
 * After a failover, an address may still lead to the old primary, which is a standby by then. Its connections would be
 * kept, show old data, and fail to write.
 */
async function requirePrimary(client: pg.ClientBase): Promise<void> {
  const { rows } = await client.query<{ standby: boolean }>(IS_STANDBY)
  if (rows[0]?.standby) throw new StandbyError()
}

/** Places for all statements and transactions, and those that a heavy statement needs, too. */
function createPlaces(size: number, limits: PoolLimits): { all: FairPlaces; heavy: FairPlaces } {
  const { ofOneOrganization, ofOrganizations, ofNoOrganization, ofHeavyStatements, waitMs } = limits
  return {
    all: new FairPlaces({
      places: size,
      ofOneKey: ofOneOrganization,
      ofAllKeys: ofOrganizations,
      ofNoKey: ofNoOrganization,
      waitMs,
    }),
    heavy: new FairPlaces({ places: ofHeavyStatements, ofOneKey: 1, ofNoKey: 1, waitMs }),
  }
}

function withStatementTimeout(database: Database, announce: CommitListener, ms: number): Database {
  const options = {
    begin: `BEGIN; SET LOCAL statement_timeout = ${ms}`,
    query_timeout: ms + ANSWER_MARGIN_MS,
  }
  const transactionWithTimeout: Database['transaction'] = (work) =>
    lend(database.borrow, (loan) => transaction(loan, work, announce, options))
  return {
    ...database,
    transaction: transactionWithTimeout,
    run: (statement, values) => transactionWithTimeout((alone) => alone.run(statement, values)),
    raise: (statement, values, organizationIds) =>
      transactionWithTimeout((alone) => alone.raise(statement, values, organizationIds)),
  }
}

function unlimited(size: number): PoolLimits {
  return {
    ofOneOrganization: size,
    ofOrganizations: size,
    ofNoOrganization: size,
    ofHeavyStatements: size,
    waitMs: CONNECT_TIMEOUT_MS,
    statementMs: 0,
    idleInTransactionMs: 0,
  }
}

export function createAnnouncer(): Announcer {
  const listeners = new Set<CommitListener>()
  return {
    announce: (committed) => {
      for (const listener of listeners) listener(committed)
    },
    onCommit: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
  }
}

const INT8 = 20

/** 64-bit integers as numbers: the counts and sequence numbers here stay far below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
