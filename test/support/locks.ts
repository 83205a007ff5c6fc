import type { PoolClient } from 'pg'
import { expect } from 'vitest'
import type { TestDatabase } from './database.js'

/** Locks that a test holds in PostgreSQL, so that the service's statements wait. */
export interface Held {
  /** Runs another statement in the transaction. */
  run(sql: string, values: readonly unknown[]): Promise<unknown>
  /** Commits, and so releases the locks. */
  commit(): Promise<void>
  /** Rolls back, and so releases the locks; a second call does nothing. */
  release(): Promise<void>
}

/** Runs a statement in a new transaction, which stays open. */
export async function hold({ pool }: TestDatabase, sql: string, values: readonly unknown[]): Promise<Held> {
  let client: PoolClient | null = await pool.connect()
  await client.query('BEGIN')
  const { rowCount } = await client.query(sql, [...values])
  expect(rowCount).toBeGreaterThan(0)
  const end = async (how: 'COMMIT' | 'ROLLBACK') => {
    const ended = client
    client = null
    await ended?.query(how)
    ended?.release()
  }
  const run = async (sql: string, values: readonly unknown[]) => client?.query(sql, [...values])
  return { run, commit: () => end('COMMIT'), release: () => end('ROLLBACK') }
}

/** Resolves when this number of statements wait for a lock; `part`: only those that contain this text. */
export async function untilWaiting({ pool }: TestDatabase, count: number, part = ''): Promise<void> {
  await expect
    .poll(async () => {
      const { rows } = await pool.query<{ waiting: number }>(
        `SELECT count(*) AS waiting FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
        [part],
      )
      return rows[0]?.waiting
    })
    .toBe(count)
}

/** Ends the connection with the lock that shows that a process is alive, as the process's death would. */
export async function cutOff({ pool }: Pick<TestDatabase, 'pool'>, processId: number): Promise<void> {
  await pool.query(
    `SELECT pg_terminate_backend(pid) FROM pg_locks
     WHERE locktype = 'advisory' AND objid = $1 AND objsubid = 2
       AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    [processId],
  )
}
