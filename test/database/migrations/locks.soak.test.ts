import type pg from 'pg'
import { afterAll, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { migrate } from '../../../src/database/migrations/apply.js'
import { listMigrations, type Migration } from '../../../src/database/migrations/files.js'
import { readSchema } from '../../../src/database/migrations/state.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { onDatabase } from '../../support/global-setup.js'
import { patience } from '../../support/patience.js'

const MESSAGES = 1_000_000
/** The schema of 1.0.0. */
const BASE = 1
/** A writer that waits longer for a lock fails. */
const PATIENCE = '1s'
/** The tables that grow with traffic. */
const TABLES = ['messages', 'contacts', 'contact_addresses', 'events', 'callbacks', 'webhook_deliveries', 'jobs']

/** What a migration may do to a large table, after the migrations of later versions. */
const SAMPLES: Migration[] = [
  {
    version: 9_001,
    name: '9001_expand',
    text: `
      ALTER TABLE messages ADD COLUMN sample jsonb, ADD COLUMN sample_text text NOT NULL DEFAULT 'x',
        ADD CONSTRAINT sample_check CHECK (sample_text <> '') NOT VALID;
      ALTER TABLE webhook_deliveries SET (fillfactor = 70);
      CREATE TABLE samples (contact_id uuid, text text);
      CREATE INDEX samples_contact ON samples (contact_id);`,
    isTransaction: true,
    contractAfter: null,
  },
  {
    version: 9_002,
    name: '9002_build',
    text: `
      CREATE INDEX CONCURRENTLY IF NOT EXISTS messages_sample ON messages (organization_id, recorded_at, id);
      CREATE INDEX CONCURRENTLY IF NOT EXISTS events_sample ON events (organization_id, id);
      ALTER TABLE messages VALIDATE CONSTRAINT sample_check;`,
    isTransaction: false,
    contractAfter: null,
  },
  {
    version: 9_003,
    name: '9003_contract',
    text: 'ALTER TABLE messages DROP COLUMN sample; ALTER TABLE contacts DROP CONSTRAINT contacts_bot_status_check;',
    isTransaction: true,
    contractAfter: '0.9',
  },
]

const name = `parley_locks_${process.pid}`
let admin: Database
let database: Database

beforeAll(async () => {
  const server = inject('server')
  admin = openDatabase(server, 1, () => undefined)
  await admin.pool.query(`CREATE DATABASE ${name}`)
  database = openDatabase(onDatabase(server, name), TABLES.length + 4, () => undefined)
  await migrate(database.pool, { migrations: (await listMigrations()).filter(({ version }) => version <= BASE) })
  await fill(database.pool)
})

afterAll(async () => {
  await database?.close()
  await admin?.pool.query(`DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
  await admin?.close()
})

/** A million messages of a thousand contacts; of a tenth of them events, callbacks and deliveries. */
async function fill(pool: pg.Pool): Promise<void> {
  const client = await pool.connect()
  await client.query('SET synchronous_commit = off')
  await client.query(`INSERT INTO organizations (id, name, slug, default_country, timezone, currency, language)
    VALUES (gen_random_uuid(), 'Shop', 'shop', 'BR', 'UTC', 'BRL', 'pt_BR')`)
  await client.query(`INSERT INTO contacts (organization_id, id, chat_id, last_seq)
    SELECT o.id, gen_random_uuid(), '5511' || 900000000 + n, ${MESSAGES} / 1000
    FROM organizations o, generate_series(1, 1000) n`)
  await client.query(`INSERT INTO contact_addresses (organization_id, address, contact_id)
    SELECT organization_id, chat_id, id FROM contacts`)
  await client.query(`INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status,
      created_at, recorded_at)
    SELECT organization_id, gen_random_uuid(), id, n, 'user-chat', 'text', 'message ' || n, 'read', now(), now()
    FROM contacts, generate_series(1, ${MESSAGES} / 1000) n`)
  await client.query(`INSERT INTO events (organization_id, id, type, data)
    SELECT organization_id, id, 'message.received', '{}' FROM messages WHERE seq % 10 = 0`)
  await client.query(`INSERT INTO callbacks (organization_id, id, body)
    SELECT organization_id, id, 'x' FROM messages WHERE seq % 10 = 0`)
  await client.query(`INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order)
    SELECT organization_id, id, organization_id, seq, id, type, false FROM events`)
  await client.query('ANALYZE')
  client.release()
}

/** Writes to one row of the table again and again; the function that it returns ends it and resolves to the rounds. */
function startWriter(table: string): { stop(): Promise<number> } {
  let isStopped = false
  let rounds = 0
  const write = async () => {
    const client = await database.pool.connect()
    try {
      await client.query(`SET lock_timeout = '${PATIENCE}'`)
      const { rows } = await client.query(`SELECT ctid FROM ${table} LIMIT 1`)
      while (!isStopped) {
        await client.query('BEGIN')
        await client.query(`SELECT FROM ${table} WHERE ctid = $1 FOR UPDATE`, [rows[0]?.ctid ?? '(0,1)'])
        await client.query(`LOCK TABLE ${table} IN ROW EXCLUSIVE MODE`)
        await client.query('COMMIT')
        rounds++
      }
    } finally {
      client.release(true)
    }
  }
  const failure = write().then(
    () => null,
    (error: Error) => error,
  )
  return {
    stop: async () => {
      isStopped = true
      const error = await failure
      if (error) throw new Error(`${table}: ${error.message}`)
      return rounds
    },
  }
}

describe('migrating a database with a million messages', () => {
  it('keeps no writer waiting for a second, even if a table is in use for long', async () => {
    const migrations = [...(await listMigrations()), ...SAMPLES]
    const { missing } = await readSchema(database.pool, migrations)
    // Somebody reads a table, such as a dump; a migration that needs it exclusively must step back meanwhile.
    const reader = await database.pool.connect()
    await reader.query('BEGIN; SELECT FROM messages LIMIT 1; SELECT FROM processes')
    const writers = TABLES.map(startWriter)
    const migrating = migrate(database.pool, { migrations })
    const isBlocked = `SELECT FROM pg_locks WHERE NOT granted AND mode = 'AccessExclusiveLock' AND pid <> pg_backend_pid()`
    await vi.waitFor(async () => expect((await database.pool.query(isBlocked)).rowCount).toBe(1), patience)
    await reader.query('COMMIT')
    reader.release()
    const applied = await migrating
    const rounds = await Promise.all(writers.map((writer) => writer.stop()))
    expect(applied).toEqual(missing.map((migration) => migration.name))
    expect(applied).toEqual(expect.arrayContaining(SAMPLES.map((migration) => migration.name)))
    for (const [index, table] of TABLES.entries()) expect({ [table]: rounds[index] }).not.toEqual({ [table]: 0 })
  })

  it('would notice a migration that locks a table for long', async () => {
    const writer = startWriter('messages')
    const bad = { version: 9_999, name: '9999_bad', isTransaction: true, contractAfter: null }
    // Stands for a statement that reads the whole table under its lock.
    const text = 'LOCK TABLE messages; SELECT pg_sleep(1.5)'
    await migrate(database.pool, { migrations: [...(await listMigrations()), ...SAMPLES, { ...bad, text }] })
    await expect(writer.stop()).rejects.toThrow('messages: canceling statement due to lock timeout')
  })
})
