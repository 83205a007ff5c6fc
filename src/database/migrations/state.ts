import type pg from 'pg'
import { packageVersion } from '../../lib/files/package-version.js'
import { isOlder, listMigrations, type Migration } from './files.js'

/**
 * The state of a database's schema for this version. `behind`: migrations are missing; `ahead`: a newer version removed
 * what this one needs; `empty`: never migrated.
 */
export type SchemaState = 'current' | 'behind' | 'ahead' | 'empty'

/** The schema of a database, compared with the migrations of this version. */
export interface Schema {
  state: SchemaState
  applied: AppliedMigration[]
  /** Migrations to be applied now. */
  missing: Migration[]
  /** Contracting migrations that wait until the version before is no longer needed. */
  waiting: Migration[]
  /** Applied migrations of newer versions. */
  newer: AppliedMigration[]
}

export interface AppliedMigration {
  version: number
  name: string
  /** Whether it removed what older versions need. */
  is_contract: boolean
  applied_at: Date
}

/** Versions before 0.2 refuse a database in which they find a later migration in schema_migrations. */
export const LAST_OF_FIRST_TABLE = 26

/** Compares the applied migrations with those of this version, or with other ones. */
export async function readSchema(db: pg.Pool | pg.PoolClient, migrations?: Migration[]): Promise<Schema> {
  const applied = await readApplied(db)
  const all = migrations ?? (await listMigrations())
  const done = new Set(applied.map(({ version }) => version))
  const known = new Set(all.map(({ version }) => version))
  const left = all.filter(({ version }) => !done.has(version))
  const waiting = done.size === 0 ? [] : left.filter(mustWait)
  const missing = left.filter((migration) => !waiting.includes(migration))
  const newer = applied.filter(({ version }) => !known.has(version))
  return { state: stateOf(applied, missing, newer), applied, missing, waiting, newer }
}

function stateOf(applied: AppliedMigration[], missing: Migration[], newer: AppliedMigration[]): SchemaState {
  if (applied.length === 0) return 'empty'
  if (newer.some(({ is_contract }) => is_contract)) return 'ahead'
  return missing.length > 0 ? 'behind' : 'current'
}

/** Whether the version before this one may still need what the migration removes. */
function mustWait({ contractAfter }: Migration): boolean {
  return contractAfter !== null && !isOlder(contractAfter, packageVersion)
}

async function readApplied(db: pg.Pool | pg.PoolClient): Promise<AppliedMigration[]> {
  const tables = await db.query(
    `SELECT to_regclass('schema_migrations') IS NOT NULL AS first, to_regclass('migrations') IS NOT NULL AS second`,
  )
  const { first, second } = tables.rows[0]
  if (!first) return []
  const { rows } = await db.query<AppliedMigration>(
    `SELECT version, name, version > ${LAST_OF_FIRST_TABLE} AS is_contract, applied_at FROM schema_migrations
     ${second ? 'UNION ALL SELECT version, name, is_contract, applied_at FROM migrations' : ''}
     ORDER BY version`,
  )
  return rows
}
