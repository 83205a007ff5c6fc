import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Logger, runMigrations } from 'graphile-worker'
import type pg from 'pg'
import { packageRoot } from '../lib/package-root.js'

/** How a database stands to this version of the service. `ahead`: a newer version migrated it. */
export type SchemaState = 'current' | 'behind' | 'ahead'

/** Everybody who migrates this database waits for this lock. */
const MIGRATION_LOCK = 0x7061726c6d6967n

interface Migration {
  version: number
  name: string
  read: () => Promise<string>
}

/**
 * Brings the database to this version: our migrations, the job queue's own, and the names of our tasks, without which
 * a job cannot be inserted. Waits while another process does the same. Resolves to the names of what was applied.
 */
export async function migrate(pool: pg.Pool, taskNames: readonly string[]): Promise<string[]> {
  const client = await pool.connect()
  try {
    await client.query(`SELECT pg_advisory_lock(${MIGRATION_LOCK})`)
    const applied = await applyMigrations(client)
    await runMigrations({ pgPool: pool, logger: silentLogger })
    await client.query(
      `INSERT INTO graphile_worker._private_tasks (identifier) SELECT unnest($1::text[]) ON CONFLICT DO NOTHING`,
      [taskNames],
    )
    return applied
  } finally {
    // Ending the connection lets go of the lock, whatever state it is in.
    client.release(true)
  }
}

/** Compares the migrations that the database has seen with those of this version. */
export async function schemaState(pool: pg.Pool): Promise<SchemaState> {
  const exists = await pool.query(`SELECT to_regclass('schema_migrations') IS NOT NULL AS yes`)
  if (!exists.rows[0].yes) return 'behind'
  const done = await appliedVersions(pool)
  const known = (await listMigrations()).map((migration) => migration.version)
  if (known.some((version) => !done.has(version))) return 'behind'
  return done.size > known.length ? 'ahead' : 'current'
}

const silentLogger = new Logger(() => () => undefined)

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
  await client.query('BEGIN')
  try {
    await client.query(await read())
    await client.query('INSERT INTO schema_migrations (version, name) VALUES ($1, $2)', [version, name])
    await client.query('COMMIT')
  } catch (error) {
    await client.query('ROLLBACK')
    throw new Error(`migration ${name} failed: ${(error as Error).message}`, { cause: error })
  }
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
