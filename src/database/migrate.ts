import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type pg from 'pg'
import { sleep } from '../lib/async/backoff.js'
import { packageRoot } from '../lib/files/package-root.js'
import { isDeadlock, isLockTimeout } from './errors.js'

/** The state of a database's schema. `empty`: never migrated; `ahead`: migrated by a newer version. */
export type SchemaState = 'current' | 'behind' | 'ahead' | 'empty'

/** The advisory lock of migrations. */
const MIGRATION_LOCK = 0x7061726c6d6967n
/** The pause between attempts to take the lock while another process holds it. */
const LOCK_PAUSE_MS = 50
const MAX_TRIES = 20
/** The pause before a blocked migration is retried. */
const RETRY_PAUSE_MS = 500
/** The maximum wait for the lock of a table: meanwhile, all statements on the table queue behind the migration. */
const LOCK_TIMEOUT = '3s'

/** The first line of a migration that builds indexes without blocking writes. */
const NO_TRANSACTION = '-- no transaction\n'
const BUILD = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)\s/

interface Migration {
  version: number
  name: string
  read: () => Promise<string>
}

/** Brings the database to this version. Waits while another process migrates. Returns the names of what was applied. */
export async function migrate(pool: pg.Pool): Promise<string[]> {
  const client = await pool.connect()
  try {
    return await underLock(client, () => applyMigrations(client))
  } finally {
    // Ends the connection, which releases the lock in any state.
    client.release(true)
  }
}

/** Compares the applied migrations with those of this version. */
export async function schemaState(pool: pg.Pool): Promise<SchemaState> {
  const exists = await pool.query(`SELECT to_regclass('schema_migrations') IS NOT NULL AS yes`)
  if (!exists.rows[0].yes) return 'empty'
  const done = await appliedVersions(pool)
  const known = (await listMigrations()).map((migration) => migration.version)
  if (known.some((version) => !done.has(version))) return 'behind'
  return done.size > known.length ? 'ahead' : 'current'
}

/**
 * Runs work under the migration lock. A process of an older version waits for the lock in a statement, and building an
 * index waits for that statement: PostgreSQL breaks this deadlock, and the lock is released here so that the other
 * process goes first. A migration that did not get a lock in time is retried too.
 */
async function underLock(client: pg.PoolClient, work: () => Promise<string[]>): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    await takeLock(client)
    try {
      return await work()
    } catch (error) {
      const { cause } = error as Error
      if (attempt === MAX_TRIES || !(isDeadlock(cause) || isLockTimeout(cause))) throw error
      await client.query(`SELECT pg_advisory_unlock(${MIGRATION_LOCK})`)
      await sleep(RETRY_PAUSE_MS)
    }
  }
}

/** Polls: a statement that waits for the lock would hold a snapshot, which blocks the building of an index. */
async function takeLock(client: pg.PoolClient): Promise<void> {
  for (;;) {
    const { rows } = await client.query(`SELECT pg_try_advisory_lock(${MIGRATION_LOCK}) AS taken`)
    if (rows[0].taken) return
    await sleep(LOCK_PAUSE_MS)
  }
}

async function applyMigrations(client: pg.PoolClient): Promise<string[]> {
  await client.query(
    `CREATE TABLE IF NOT EXISTS schema_migrations (
       version integer PRIMARY KEY, name text NOT NULL, applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  )
  const done = await appliedVersions(client)
  const pending = (await listMigrations()).filter(({ version }) => !done.has(version))
  for (const migration of pending) await apply(client, migration)
  return pending.map(({ name }) => name)
}

async function apply(client: pg.PoolClient, { version, name, read }: Migration): Promise<void> {
  const text = await read()
  const note = () => client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, name])
  try {
    if (text.startsWith(NO_TRANSACTION)) {
      await buildIndexes(client, text)
      await note()
    } else {
      await client.query('BEGIN')
      await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
      await client.query(text)
      await note()
      await client.query('COMMIT')
    }
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

/** Each statement builds one index and can be repeated. */
async function buildIndexes(client: pg.PoolClient, text: string): Promise<void> {
  const statements = text
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .map((part) => part.trim())
  for (const statement of statements.filter((part) => part !== '')) {
    const name = BUILD.exec(statement)?.[1]
    if (name === undefined) throw new Error(`it may only build indexes, and says ${JSON.stringify(statement)}`)
    await dropUnfinished(client, name)
    await client.query(statement)
  }
}

/** An interrupted build leaves an invalid index, which IF NOT EXISTS would take for a valid one. */
async function dropUnfinished(client: pg.PoolClient, name: string): Promise<void> {
  const { rowCount } = await client.query(
    'SELECT FROM pg_index WHERE indexrelid = to_regclass($1) AND NOT (indisvalid AND indisready)',
    [name],
  )
  if (rowCount) await client.query(`DROP INDEX CONCURRENTLY IF EXISTS ${name}`)
}

async function appliedVersions(client: pg.Pool | pg.PoolClient): Promise<Set<number>> {
  const result = await client.query<{ version: number }>('SELECT version FROM schema_migrations')
  return new Set(result.rows.map((row) => row.version))
}

/** The files of migrations/, such as 0001_foundation.sql, in order. */
async function listMigrations(): Promise<Migration[]> {
  const folder = join(packageRoot(), 'migrations')
  const files = (await readdir(folder)).filter((file) => /^\d{4}_\w+\.sql$/.test(file)).sort()
  return files.map((file) => ({
    version: Number(file.slice(0, 4)),
    name: file.replace('.sql', ''),
    read: () => readFile(join(folder, file), 'utf8'),
  }))
}
