import pg from 'pg'
import type { EventStatement, Statement } from './statement.js'

/** What a storage function needs to run its statements: the pool, or one transaction of it. */
export interface Queryable {
  /** Runs a named statement; resolves to its rows. Errors are node-postgres's own. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
  /** Runs a statement that can insert events of these organizations; listeners are told once it has been committed. */
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
  /** Runs `work` in one transaction: commits what it did, or rolls back when it throws. */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /** Calls the listener each time a statement that can insert events has been committed, until the result is called. */
  onEvents(listener: EventsListener): () => void
  /** For graphile-worker and for LISTEN, which bring their own statements. */
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** How to reach PostgreSQL: a URL, or the embedded server's socket. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const CONNECT_TIMEOUT_MS = 5_000

/**
 * What the service needs of every session, whatever the server, the database and the role are set to. The statements are short and
 * many: the JIT compiler would cost more than it spares. They look rows up by indexes; with the default random_page_cost of 4, made for
 * disks that turn, a look-up in a table without statistics seems to cost more than reading the whole table. Their locks count on read
 * committed. A session that the server ends because it is idle would be a process that the others take for dead.
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

/** What has been answered must outlive a crash of the server. Where commits wait for more than that (replicas), they go on doing so. */
const COMMIT_TO_DISK = `SELECT set_config('synchronous_commit', 'on', false) WHERE current_setting('synchronous_commit') = 'off'`

/** Statements, not a parameter of the start: poolers refuse that, and the URL may hold one of its own. */
const setSession = {
  text: [...Object.entries(SESSION).map(([name, value]) => `SET ${name} = ${value}`), COMMIT_TO_DISK].join('; '),
  query_timeout: CONNECT_TIMEOUT_MS,
}

/** Opens a pool. `onError` hears of idle connections that break (the pool replaces them by itself). */
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
  // A client that breaks while it is lent out reports to its query; without a listener its event would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  const listeners = new Set<EventsListener>()
  const notify: EventsListener = (organizationIds) => {
    for (const listener of listeners) listener(organizationIds)
  }
  return {
    pool,
    ...queryable(pool, notify),
    transaction: (work) => transaction(pool, work, notify),
    onEvents: (listener) => {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    close: () => pool.end(),
  }
}

function queryable(client: pg.Pool | pg.PoolClient, onEvents: EventsListener): Queryable {
  async function run<Row>(
    { name, text }: Statement<Row> | EventStatement<Row>,
    values: readonly unknown[],
  ): Promise<Row[]> {
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

async function transaction<Result>(
  pool: pg.Pool,
  work: (transaction: Queryable) => Promise<Result>,
  onEvents: EventsListener,
): Promise<Result> {
  const raised = new Set<string>()
  const collect: EventsListener = (organizationIds) => {
    for (const id of organizationIds) raised.add(id)
  }
  const result = await commit(pool, (client) => work(queryable(client, collect)))
  if (raised.size > 0) onEvents([...raised])
  return result
}

async function commit<Result>(pool: pg.Pool, work: (client: pg.PoolClient) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work(client)
    await client.query('COMMIT')
    return result
  } catch (error) {
    await client.query('ROLLBACK').catch((rollbackError: Error) => {
      broken = rollbackError
    })
    throw error
  } finally {
    client.release(broken)
  }
}

const INT8 = 20

/** 64-bit integers as numbers: the counts and sequence numbers here stay far below 2^53. */
function getTypeParser(oid: number, format?: 'text' | 'binary') {
  if (oid === INT8 && format !== 'binary') return Number
  return pg.types.getTypeParser(oid, format as 'text')
}
