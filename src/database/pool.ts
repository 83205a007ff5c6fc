import pg from 'pg'
import type { Statement } from './statement.js'

/** What a storage function needs to run its statements: the pool, or one transaction of it. */
export interface Queryable {
  /** Runs a named statement; resolves to its rows. Errors are node-postgres's own. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
}

/** The service's connections to PostgreSQL. */
export interface Database extends Queryable {
  /** Runs `work` in one transaction: commits what it did, or rolls back when it throws. */
  transaction<Result>(work: (transaction: Queryable) => Promise<Result>): Promise<Result>
  /** For graphile-worker and for LISTEN, which bring their own statements. */
  readonly pool: pg.Pool
  close(): Promise<void>
}

/** How to reach PostgreSQL: a URL, or the embedded server's socket. */
export type Connection = { connectionString: string } | { host: string; port: number; user: string; database: string }

const CONNECT_TIMEOUT_MS = 5_000

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
  })
  pool.on('error', onError)
  // A client that breaks while it is lent out reports to its query; without a listener its event would end the process.
  pool.on('connect', (client) => client.on('error', onError))
  return {
    pool,
    run: (statement, values) => run(pool, statement, values),
    transaction: (work) => transaction(pool, work),
    close: () => pool.end(),
  }
}

async function run<Row>(
  client: pg.Pool | pg.PoolClient,
  { name, text }: Statement<Row>,
  values: readonly unknown[],
): Promise<Row[]> {
  const result = await client.query({ name, text, values: values as unknown[] })
  return result.rows
}

async function transaction<Result>(pool: pg.Pool, work: (transaction: Queryable) => Promise<Result>): Promise<Result> {
  const client = await pool.connect()
  let broken: Error | undefined
  try {
    await client.query('BEGIN')
    const result = await work({ run: (statement, values) => run(client, statement, values) })
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
