import type pg from 'pg'
import { sleep } from '../../lib/async/backoff.js'
import { isDeadlock, isLockTimeout } from '../errors.js'
import type { Migration } from './files.js'
import { readSchema } from './state.js'

/** The advisory lock of migrations. */
const MIGRATION_LOCK = 0x7061726c6d6967n
/** The pause between attempts to take the lock while another process holds it. */
const LOCK_PAUSE_MS = 50
/** For about two minutes: a dump or a long report may hold a table that long. */
const MAX_TRIES = 120
/** The pause before a blocked migration is retried; statements that waited behind it go first. */
const RETRY_PAUSE_MS = 500
/** The maximum wait for the lock of a table: meanwhile, all statements on the table queue behind the migration. */
const LOCK_TIMEOUT = '500ms'

/** The statements of a migration without a transaction. */
const BUILD = /^CREATE (?:UNIQUE )?INDEX CONCURRENTLY IF NOT EXISTS (\w+)\s/
const OTHERS = [/^DROP INDEX CONCURRENTLY IF EXISTS \w+$/, /^ALTER TABLE \w+ VALIDATE CONSTRAINT \w+$/]

/** How to migrate. */
export interface MigrateOptions {
  /** Default: those of this version. */
  migrations?: Migration[]
  /** Also removes what only the version before needs. */
  contract?: boolean
  /** Called before something is removed that versions of Parley before `version` need. Throws if it must stay. */
  beforeContract?: (version: string) => Promise<void>
}

/** Brings the database to this version. Waits while another process migrates. Returns the names of what was applied. */
export async function migrate(pool: pg.Pool, options: MigrateOptions = {}): Promise<string[]> {
  const client = await pool.connect()
  const applied: string[] = []
  try {
    await underLock(client, () => applyMigrations(client, options, applied))
    return applied
  } finally {
    // Ends the connection, which releases the lock in any state.
    client.release(true)
  }
}

/**
 * Runs work under the migration lock. If a migration does not get the lock of a table in time, or PostgreSQL ends it to
 * break a deadlock, the migration lock is released and all is tried again.
 */
async function underLock(client: pg.PoolClient, work: () => Promise<void>): Promise<void> {
  for (let attempt = 1; ; attempt++) {
    await takeLock(client)
    try {
      return await work()
    } catch (error) {
      const { cause } = error as Error
      const isBlocked = cause instanceof Error && (isDeadlock(cause) || isLockTimeout(cause))
      if (!isBlocked) throw error
      if (attempt === MAX_TRIES) throw await explainLock(client, error as Error)
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

/** Names the oldest open transaction, which most likely holds the lock that the migration did not get. */
async function explainLock(client: pg.PoolClient, error: Error): Promise<Error> {
  const { rows } = await client.query(
    `SELECT pid, application_name, extract(epoch FROM now() - xact_start)::int AS seconds FROM pg_stat_activity
     WHERE datname = current_database() AND pid <> pg_backend_pid() AND xact_start IS NOT NULL
     ORDER BY xact_start LIMIT 1`,
  )
  const [oldest] = rows
  if (!oldest) return error
  const { pid, application_name: name, seconds } = oldest
  return new Error(
    `${error.message}: a table is in use; the oldest open transaction (process ${pid} of the server, ${name || 'without an application name'}) has been running for ${seconds} s. Wait until it has ended and migrate again`,
    { cause: error.cause },
  )
}

async function applyMigrations(client: pg.PoolClient, options: MigrateOptions, applied: string[]): Promise<void> {
  const { state, missing, waiting } = await readSchema(client, options.migrations)
  // This version cannot serve the database: the callers say why.
  if (state === 'ahead' || state === 'unreleased') return
  await client.query(
    `CREATE TABLE IF NOT EXISTS migrations (
       version integer PRIMARY KEY, name text NOT NULL, is_contract boolean NOT NULL,
       applied_at timestamptz NOT NULL DEFAULT now()
     )`,
  )
  for (const migration of options.contract ? [...missing, ...waiting] : missing) {
    const { contractAfter } = migration
    if (contractAfter !== null && state !== 'empty') await options.beforeContract?.(contractAfter)
    await apply(client, migration)
    applied.push(migration.name)
  }
}

async function apply(client: pg.PoolClient, migration: Migration): Promise<void> {
  const { name, text } = migration
  try {
    if (migration.isTransaction) {
      await client.query('BEGIN')
      await client.query(`SET LOCAL lock_timeout = '${LOCK_TIMEOUT}'`)
      await client.query(text)
      await note(client, migration)
      await client.query('COMMIT')
    } else {
      await runOneByOne(client, text)
      await note(client, migration)
    }
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
}

async function note(client: pg.PoolClient, { version, name, contractAfter }: Migration): Promise<void> {
  const values = [version, name, contractAfter !== null]
  await client.query('INSERT INTO migrations (version, name, is_contract) VALUES ($1, $2, $3)', values)
}

/** Each statement can be repeated. */
async function runOneByOne(client: pg.PoolClient, text: string): Promise<void> {
  const statements = text
    .replaceAll(/^--.*$/gm, '')
    .split(';')
    .map((part) => part.trim())
  for (const statement of statements.filter((part) => part !== '')) {
    const built = BUILD.exec(statement)?.[1]
    if (built === undefined && !OTHERS.some((pattern) => pattern.test(statement))) {
      throw new Error(`it may only build, drop and validate, and says ${JSON.stringify(statement)}`)
    }
    if (built !== undefined) await dropUnfinished(client, built)
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
