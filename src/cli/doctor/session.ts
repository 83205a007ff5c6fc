import type { PoolClient } from 'pg'
import type { Database } from '../../database/pool.js'

const STATEMENT_MS = 6_000

/** Gives `work` a connection of its own, which is closed afterwards. Statements have a time limit. */
export async function withSession<Result>(
  { pool }: Pick<Database, 'pool'>,
  work: (client: PoolClient) => Promise<Result>,
): Promise<Result> {
  const client = await pool.connect()
  try {
    await client.query(`SET statement_timeout = ${STATEMENT_MS}`)
    return await work(client)
  } finally {
    client.release(true)
  }
}

/** Rolls back all that `work` did, so that nothing of it stays, even if this process is killed. */
export async function rolledBack<Result>(client: PoolClient, work: () => Promise<Result>): Promise<Result> {
  await client.query('BEGIN')
  try {
    return await work()
  } finally {
    await client.query('ROLLBACK')
  }
}
