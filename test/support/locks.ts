import type { PoolClient } from 'pg'
import { expect } from 'vitest'
import type { TestDatabase } from './database.js'

/** What a test holds in PostgreSQL, so that the service's statements wait for it. */
export interface Held {
  /** Goes on with another statement. */
  run(sql: string, values: readonly unknown[]): Promise<unknown>
  /** Keeps what was written, and lets go. */
  commit(): Promise<void>
  /** Lets go; a second time it does nothing. */
  release(): Promise<void>
}

/** Runs a statement in a transaction of its own, which stays open. */
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

/** Resolves when so many statements wait for a lock; `part`: only those that hold this text. */
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
