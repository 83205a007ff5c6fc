import type pg from 'pg'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { migrate } from '../../../src/database/migrations/apply.js'
import { listMigrations, type Migration } from '../../../src/database/migrations/files.js'
import { readSchema } from '../../../src/database/migrations/state.js'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase
const opened: Database[] = []
const holding: (() => Promise<void>)[] = []

/** The last of them waits for transactions that have written contacts. */
const INDEXES = ['sample_orders', 'sample_media', 'sample_contacts']
const BUILD = 'CREATE INDEX CONCURRENTLY IF NOT EXISTS sample_contacts'
const SAMPLE: Migration = {
  version: 9_001,
  name: '9001_indexes',
  text: `
    CREATE INDEX CONCURRENTLY IF NOT EXISTS sample_orders ON storefront_orders (organization_id, ordered_at);
    CREATE INDEX CONCURRENTLY IF NOT EXISTS sample_media ON media (organization_id, size);
    ${BUILD} ON contacts (organization_id, created_at);`,
  isTransaction: false,
  contractAfter: null,
}
const ALTERATION: Migration = {
  version: 9_002,
  name: '9002_alteration',
  text: 'ALTER TABLE organization_rows ADD COLUMN sample text',
  isTransaction: true,
  contractAfter: null,
}

beforeAll(async () => {
  database = await createTestDatabase()
})

/** The state of a database that a version without the samples has migrated. */
beforeEach(async () => {
  await database.pool.query(
    `DROP INDEX IF EXISTS ${INDEXES.join(', ')};
     ALTER TABLE organization_rows DROP COLUMN IF EXISTS sample;
     DELETE FROM migrations WHERE version > 9000`,
  )
})
afterEach(async () => {
  for (const letGo of holding.splice(0)) await letGo()
  for (const process of opened.splice(0)) await process.close()
})
afterAll(() => database.drop())

/** Migrates as another process does. */
async function startMigration(sample = SAMPLE): Promise<string[]> {
  const process = openDatabase(database.connection, 4, () => undefined)
  opened.push(process)
  return migrate(process.pool, { migrations: [...(await listMigrations()), sample] })
}

/**
 * A transaction that has written contacts: no index of contacts can be finished before it ends. Returns a function that
 * ends it.
 */
async function holdContacts(): Promise<() => Promise<void>> {
  let client: pg.PoolClient | null = await database.pool.connect()
  await client.query('BEGIN')
  await insertContact(client)
  const letGo = async () => {
    const ended = client
    client = null
    await ended?.query('COMMIT')
    ended?.release()
  }
  holding.push(letGo)
  return letGo
}

async function insertContact(db: pg.Pool | pg.PoolClient): Promise<void> {
  const id = newId()
  await db.query(
    `INSERT INTO organizations (id, name, slug, default_country, timezone, currency, language)
     VALUES ($1, 'Shop', 'shop', 'BR', 'UTC', 'BRL', 'pt_BR')`,
    [id],
  )
  await db.query(
    `INSERT INTO contacts (organization_id, id, chat_id, email) VALUES ($1, $1, '5511987654321', 'ana@example.com')`,
    [id],
  )
}

/**
 * Resolves to the process that builds the index of contacts, once it waits for others. The ones before may wait for the
 * statement that looks.
 */
async function untilBuilderWaits(): Promise<number> {
  let pid = 0
  await expect
    .poll(async () => {
      const { rows } = await database.pool.query(
        `SELECT pid FROM pg_stat_activity
         WHERE datname = current_database() AND wait_event_type = 'Lock' AND query LIKE $1`,
        [`${BUILD}%`],
      )
      pid = rows[0]?.pid
      return rows.length
    })
    .toBe(1)
  return pid
}

async function indexes(): Promise<Record<string, boolean>> {
  const { rows } = await database.pool.query<{ name: string; valid: boolean }>(
    `SELECT c.relname AS name, i.indisvalid AS valid FROM pg_index i JOIN pg_class c ON c.oid = i.indexrelid
     WHERE c.relname = ANY ($1) ORDER BY c.relname`,
    [INDEXES],
  )
  return Object.fromEntries(rows.map(({ name, valid }) => [name, valid]))
}

const ALL_VALID = Object.fromEntries(INDEXES.map((name) => [name, true]))
const APPLIED = ['9001_indexes']

describe('a migration that builds indexes', () => {
  it('allows writes while it waits for a long transaction', async () => {
    const letGo = await holdContacts()
    const migrating = startMigration()
    await untilBuilderWaits()
    await insertContact(database.pool)
    expect(await indexes()).toMatchObject({ sample_contacts: false })
    await letGo()
    expect(await migrating).toEqual(APPLIED)
    expect(await indexes()).toEqual(ALL_VALID)
  })

  it('rebuilds an index that an interrupted one left invalid', async () => {
    const letGo = await holdContacts()
    const interrupted = expect(startMigration()).rejects.toThrow('migration 9001_indexes failed')
    await database.pool.query('SELECT pg_cancel_backend($1)', [await untilBuilderWaits()])
    await interrupted
    await letGo()
    expect(await indexes()).toMatchObject({ sample_contacts: false })
    expect(await startMigration()).toEqual(APPLIED)
    expect(await indexes()).toEqual(ALL_VALID)
  })

  it('keeps existing indexes', async () => {
    await startMigration()
    const oid = async () => (await database.pool.query(`SELECT 'sample_contacts'::regclass::oid AS oid`)).rows
    const before = await oid()
    await database.pool.query('DELETE FROM migrations WHERE version = 9001')
    expect(await startMigration()).toEqual(APPLIED)
    expect(await oid()).toEqual(before)
  })

  it('is applied once by two processes that migrate at the same time', async () => {
    const letGo = await holdContacts()
    const both = [startMigration(), startMigration()]
    await untilBuilderWaits()
    await letGo()
    expect((await Promise.all(both)).sort()).toEqual([[], APPLIED])
    expect(await indexes()).toEqual(ALL_VALID)
  })

  it('ends if PostgreSQL breaks a deadlock with a statement that waits for the lock of migrations', async () => {
    const letGo = await holdContacts()
    const migrating = startMigration()
    await untilBuilderWaits()
    const other = await database.pool.connect()
    const { rows } = await database.pool.query(
      `SELECT objid, classid FROM pg_locks
       WHERE locktype = 'advisory' AND database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
    )
    const key = (BigInt(rows[0].classid) << 32n) | BigInt(rows[0].objid)
    const waiting = other.query('SELECT pg_advisory_lock($1)', [String(key)]).then(
      () => 'has it',
      (error) => error.code,
    )
    await letGo()
    // PostgreSQL aborts one of the two.
    expect(['has it', '40P01']).toContain(await waiting)
    other.release(true)
    expect(await migrating).toEqual(APPLIED)
    expect(await indexes()).toEqual(ALL_VALID)
  })
})

describe('a migration that changes a table', () => {
  it('does not block others for long while the table is in use, and is retried', async () => {
    const user = await database.pool.connect()
    await user.query('BEGIN; SELECT FROM organizations')
    const migrating = startMigration(ALTERATION)
    await expect
      .poll(async () => (await database.pool.query('SELECT FROM pg_locks WHERE NOT granted')).rowCount)
      .toBe(1)
    // It queues behind the migration, which gives up its place.
    await database.pool.query('SELECT FROM organizations')
    await user.query('COMMIT')
    user.release()
    expect(await migrating).toEqual(['9002_alteration'])
  })
})

describe('a migration that removes something', () => {
  const added = { ...ALTERATION, version: 9_003, name: '9003_added', text: 'CREATE TABLE shelf (old int, new int)' }
  const removed = { ...added, version: 9_004, name: '9004_removed', text: 'ALTER TABLE shelf DROP COLUMN old' }
  const known = async () => [...(await listMigrations()), added]
  const columns = async () => {
    const { rows } = await database.pool.query<{ column_name: string }>(
      `SELECT column_name FROM information_schema.columns WHERE table_name = 'shelf'`,
    )
    return rows.map((row) => row.column_name).sort()
  }

  beforeEach(() => database.pool.query('DROP TABLE IF EXISTS shelf'))

  it('waits while the version before may need it, until it is asked for', async () => {
    const migrations = [...(await known()), { ...removed, contractAfter: '999.0' }]
    expect(await migrate(database.pool, { migrations })).toEqual(['9003_added'])
    expect(await readSchema(database.pool, migrations)).toMatchObject({
      state: 'current',
      waiting: [{ version: 9_004 }],
    })
    expect(await columns()).toEqual(['new', 'old'])
    expect(await migrate(database.pool, { migrations, contract: true })).toEqual(['9004_removed'])
    expect(await columns()).toEqual(['new'])
  })

  it('is applied at once when a version before this one no longer needs it', async () => {
    const migrations = [...(await known()), { ...removed, contractAfter: '0.9' }]
    expect(await migrate(database.pool, { migrations })).toEqual(['9003_added', '9004_removed'])
  })

  it('is not applied if the caller finds that it is needed', async () => {
    const migrations = [...(await known()), { ...removed, contractAfter: '0.9' }]
    const beforeContract = (version: string) => Promise.reject(new Error(`needed by those before ${version}`))
    await expect(migrate(database.pool, { migrations, beforeContract })).rejects.toThrow('needed by those before 0.9')
    expect(await columns()).toEqual(['new', 'old'])
  })

  it('ends the service of versions that do not know it; one that only adds does not', async () => {
    const migrations = [...(await known()), { ...removed, contractAfter: '999.0' }]
    await migrate(database.pool, { migrations })
    expect(await readSchema(database.pool)).toMatchObject({ state: 'current', newer: [{ name: '9003_added' }] })
    expect(await migrate(database.pool)).toEqual([])
    await migrate(database.pool, { migrations, contract: true })
    expect(await readSchema(database.pool)).toMatchObject({ state: 'ahead' })
    expect(await migrate(database.pool)).toEqual([])
  })
})

it('leaves a database of a version before 1.0.0 as it is', async () => {
  await database.pool.query('CREATE TABLE schema_migrations (version integer)')
  try {
    expect(await readSchema(database.pool)).toMatchObject({ state: 'unreleased' })
    expect(await startMigration()).toEqual([])
  } finally {
    await database.pool.query('DROP TABLE schema_migrations')
  }
})
