import pg from 'pg'
import type { AnyStatement, EventStatement, Statement } from './statement.js'

/** Runs the statements of storage functions: the pool or one of its transactions. */
export interface Queryable {
  /** Runs a named statement and returns its rows. Throws node-postgres's errors. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
  /** Runs a statement that can insert events of these organizations; listeners are called after the commit. */
  raise<Row>(
    statement: EventStatement<Row>,
    values: readonly unknown[],
    organizationIds: readonly string[],
  ): Promise<Row[]>
}

/** Called with the organizations that may have new events. Must not throw. */
export type EventsListener = (organizationIds: readonly string[]) => void

/** The service's connections to PostgreSQL. */
export interface Database extends Queryable {
  /** Runs `work` in one transaction; rolls back if it throws. */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /**
   * Runs `work` with one connection, for locks that belong to a connection. It must not use the session for two things
   * at the same time. If `work` throws, the connection is closed, which releases its locks.
   */
  session<Result>(work: (session: Database) => Promise<Result>): Promise<Result>
  /** Calls the listener each time a statement that can insert events has been committed, until the result is called. */
  onEvents(listener: EventsListener): () => void
  /** For LISTEN and the registry's lock, which need a connection of their own. */
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** A PostgreSQL URL, or the embedded server's socket. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const CONNECT_TIMEOUT_MS = 5_000

/**
 * Session settings that do not depend on the server's. The statements are short and many, so the JIT compiler costs
 * more than it saves. They use indexes; the default random_page_cost of 4 (for rotating disks) makes an index scan on a
 * table without statistics look more expensive than a full scan. Locks rely on read committed. A session ended for
 * idleness would make a process look dead.
 */
const SESSION = {
  jit: 'off',
  plan_cache_mode: 'auto',
  random_page_cost: '1.1',
  default_transaction_isolation: "'read committed'",
  TimeZone: "'UTC'",
  DateStyle: "'ISO'",
  statement_timeout: '0',
  lock_timeout: '0',
  idle_in_transaction_session_timeout: '0',
  idle_session_timeout: '0',
}

/** Answered writes must survive a crash of the server. If commits wait for more than that (replicas), they still do. */
const COMMIT_TO_DISK = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`

/** Statements instead of start-up parameters, which poolers refuse and the URL may contain already. */
const setSession = {
  text: [...Object.entries(SESSION).map(([name, value]) => `SET ${name} = ${value}`), COMMIT_TO_DISK].join('; '),
  query_timeout: CONNECT_TIMEOUT_MS,
}

/** Opens a pool. `onError` gets errors of idle connections, which the pool replaces. */
export function openDatabase(connection: Connection, size: number, onError: (error: Error) => void): Database {
  const pool = new pg.Pool({
    ...connection,
    max: size,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    idleTimeoutMillis: 60_000,
    keepAlive: true,
    application_name: 'parley',
    types: { getTypeParser },
    onConnect: (client) => client.query(setSession),
  })
  pool.on('error', onError)
  // A broken client reports to its query; without a listener its event would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  const listeners = new Set<EventsListener>()
  const notify: EventsListener = (organizationIds) => {
    for (const listener of listeners) listener(organizationIds)
  }
  const database: Database = {
    pool,
    ...queryable(pool, notify),
    transaction: (work) => borrow(pool, (client, discard) => transaction(client, work, notify, discard)),
    session: (work) =>
      borrow(pool, async (client, discard) => {
        try {
          return await work({
            ...database,
            ...queryable(client, notify),
            transaction: (inner) => transaction(client, inner, notify, discard),
          })
        } catch (error) {
          discard(error as Error)
          throw error
        }
      }),
    onEvents: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => pool.end(),
  }
  return database
}

function queryable(client: pg.Pool | pg.PoolClient, onEvents: EventsListener): Queryable {
  async function run<Row>({ name, text }: AnyStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    return (await client.query({ name, text, values: values as unknown[] })).rows
  }
  return {
    run,
    raise: async (statement, values, organizationIds) => {
      const rows = await run(statement, values)
      onEvents(organizationIds)
      return rows
    },
  }
}

/** Closes a connection when it is given back. */
type Discard = (reason: Error) => void

async function borrow<Result>(
  pool: pg.Pool,
  work: (client: pg.PoolClient, discard: Discard) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  let reason: Error | undefined
  try {
    return await work(client, (given) => {
      reason = given
    })
  } finally {
    client.release(reason)
  }
}

async function transaction<Result>(
  client: pg.PoolClient,
  work: (transaction: Queryable) => Promise<Result>,
  onEvents: EventsListener,
  discard: Discard,
): Promise<Result> {
  const raised = new Set<string>()
  const collect: EventsListener = (organizationIds) => {
    for (const id of organizationIds) raised.add(id)
  }
  const result = await commit(client, () => work(queryable(client, collect)), discard)
  if (raised.size > 0) onEvents([...raised])
  return result
}

async function commit<Result>(client: pg.PoolClient, work: () => Promise<Result>, discard: Discard): Promise<Result> {
  try {
    await client.query('BEGIN')
    const result = await work()
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch(discard)
    throw error
  }
}

const INT8 = 20

/** 64-bit integers as numbers: the counts and sequence numbers here stay far below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
