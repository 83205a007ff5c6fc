import type { PoolClient } from 'pg'
import { expect, vi } from 'vitest'
import type { Database } from '../../../src/database/pool.js'
import { patience } from '../../support/patience.js'

/** What a test holds in PostgreSQL, so that the service's statements wait for it. */
export interface Lock {
  release(): Promise<void>
}

/**
 * The statements of a send that can be made to wait, by what stands in their beginnings only (PostgreSQL shows no
 * more).
 */
const BEGINNINGS = {
  record: 'addresses text[]',
  keepAcceptance: 'accepted_at timestamptz',
  keepAnswer: 'UPDATE idempotency_keys SET status',
} as const

const open = new Set<Lock>()

/**
 * Lets no message be written. A whole table, for the statements of a send pass over single rows that somebody holds.
 */
export function lockMessages(database: Database): Promise<Lock> {
  return hold(database, async (client) => {
    await client.query('LOCK TABLE messages IN SHARE MODE')
  })
}

/** Takes the rows of these idempotency keys, all of which have to be there. */
export function lockKeys(database: Database, keys: readonly string[]): Promise<Lock> {
  return hold(database, async (client) => {
    const { rowCount } = await client.query('SELECT FROM idempotency_keys WHERE key = ANY ($1) FOR UPDATE', [keys])
    expect(rowCount).toBe(keys.length)
  })
}

async function hold({ pool }: Database, take: (client: PoolClient) => Promise<void>): Promise<Lock> {
  const client = await pool.connect()
  await client.query('BEGIN')
  await take(client)
  const lock: Lock = {
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

/** Resolves when as many statements of this kind wait. */
export async function untilWaiting(database: Database, kind: keyof typeof BEGINNINGS, count: number): Promise<void> {
  await vi.waitFor(async () => expect(await waiting(database, BEGINNINGS[kind])).toHaveLength(count), patience)
}

/** What a process left waiting in PostgreSQL when it died: lets it come through, which it does without the process. */
export async function comeThrough(database: Database, lock: Lock): Promise<void> {
  const left = await waiting(database)
  await lock.release()
  await untilGone(database, left)
}

/** The same, but as if its connections had been seen to be broken: what waited comes to nothing. */
export async function comeToNothing(database: Database, lock: Lock): Promise<void> {
  const left = await waiting(database)
  await database.pool.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) pid', [left])
  await untilGone(database, left)
  await lock.release()
}

/** The backends whose statements wait and have this in their beginnings. */
async function waiting({ pool }: Database, beginning = ''): Promise<number[]> {
  const { rows } = await pool.query<{ pid: number }>(
    `SELECT pid FROM pg_stat_activity
     WHERE datname = current_database() AND wait_event_type = 'Lock' AND position($1 IN query) > 0`,
    [beginning],
  )
  return rows.map(({ pid }) => pid)
}

/** A backend whose process is dead goes; one of a process that lives is idle then. */
async function untilGone({ pool }: Database, backends: number[]): Promise<void> {
  await vi.waitFor(async () => {
    const busy = `SELECT FROM pg_stat_activity WHERE pid = ANY ($1) AND state <> 'idle'`
    const { rowCount } = await pool.query(busy, [backends])
    expect(rowCount).toBe(0)
  }, patience)
}
