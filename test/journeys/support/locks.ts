import { expect, vi } from 'vitest'
import type { Database } from '../../../src/database/pool.js'

/** Rows that a test holds, so that the service's statements wait for them. */
export interface RowLock {
  release(): Promise<void>
}

/** The statements of a send that can be made to wait, by what stands in their beginnings only (PostgreSQL shows no more). */
const BEGINNINGS = {
  record: 'addresses text[]',
  keepAcceptance: 'accepted_at timestamptz',
  keepAnswer: 'UPDATE idempotency_keys SET status',
} as const

const LOCKS = {
  contacts: 'SELECT FROM contacts WHERE id::text = ANY ($1) FOR UPDATE',
  messages: 'SELECT FROM messages WHERE id::text = ANY ($1) FOR UPDATE',
  idempotency_keys: 'SELECT FROM idempotency_keys WHERE key = ANY ($1) FOR UPDATE',
} as const

const open = new Set<RowLock>()
const patience = { timeout: 20_000, interval: 10 }

/** Takes the rows of these ids (of idempotency keys: these keys), all of which have to be there. */
export async function lockRows(
  { pool }: Database,
  table: keyof typeof LOCKS,
  ids: readonly string[],
): Promise<RowLock> {
  const client = await pool.connect()
  await client.query('BEGIN')
  const { rowCount } = await client.query(LOCKS[table], [ids])
  expect(rowCount).toBe(ids.length)
  const lock: RowLock = {
    release: async () => {
      open.delete(lock)
      await client.query('ROLLBACK')
      client.release()
    },
  }
  open.add(lock)
  return lock
}

/** Releases what a test that failed still holds. */
export async function releaseLocks(): Promise<void> {
  for (const lock of open) await lock.release()
}

/** Resolves when as many statements of this kind wait for rows. */
export async function untilWaiting(database: Database, kind: keyof typeof BEGINNINGS, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await waiting(database, BEGINNINGS[kind])).toHaveLength(count), patience)
}

/** What a process left waiting in PostgreSQL when it died: lets it come through, which it does without the process. */
export async function comeThrough(database: Database, lock: RowLock): Promise<void> {
  const left = await waiting(database)
  await lock.release()
  await untilGone(database, left)
}

/** The same, but as if its connections had been seen to be broken: what waited comes to nothing. */
export async function comeToNothing(database: Database, lock: RowLock): Promise<void> {
  const left = await waiting(database)
  await database.pool.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid', [left])
  await untilGone(database, left)
  await lock.release()
}

/** The backends whose statements wait for rows and have this in their beginnings. */
async function waiting({ pool }: Database, beginning = ''): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
    [beginning],
  )
  return rows.map(({ pid }) => pid)
}

async function untilGone({ pool }: Database, backends: number[]): Promise<void> {
  await vi.waitFor(async () => {
    const { rowCount } = await pool.query('SELECT FROM pg_stat_activity WHERE pid = ANY ($1)', [backends])
    expect(rowCount).toBe(0)
  }, patience)
}
