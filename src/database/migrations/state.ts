import type pg from 'pg'
import { packageVersion } from '../../lib/files/package-version.js'
import { isOlder, listMigrations, type Migration } from './files.js'

/**
 * The state of a database's schema for this version. `behind`: migrations are missing; `ahead`: a newer version removed
 * what this one needs; `empty`: never migrated; `unreleased`: made before 1.0.0, the first release.
 */
export type SchemaState = 'current' | 'behind' | 'ahead' | 'empty' | 'unreleased'

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

/** Compares the applied migrations with those of this version, or with other ones. */
export async function readSchema(db: pg.Pool | pg.PoolClient, migrations?: Migration[]): Promise<Schema> {
  const { applied, isUnreleased } = await readApplied(db)
  const all = migrations ?? (await listMigrations())
  const done = new Set(applied.map(({ version }) => version))
  const known = new Set(all.map(({ version }) => version))
  const left = all.filter(({ version }) => !done.has(version))
  const waiting = done.size === 0 ? [] : left.filter(mustWait)
  const missing = left.filter((migration) => !waiting.includes(migration))
  const newer = applied.filter(({ version }) => !known.has(version))
  const state = isUnreleased ? 'unreleased' : stateOf(applied, missing, newer)
  return { state, applied, missing, waiting, newer }
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

/**
 * The version, such as 1.1, to which one can go back without a restore: the minor version before this one, unless a
 * migration has removed what it needs; null: to none.
 */
export function findWayBack(
  { applied, newer }: Schema,
  migrations: readonly Migration[],
  own = packageVersion,
): string | null {
  const [major, minor = 0] = own.split('.').map(Number)
  // Nothing is known here of what came before the first version of a series.
  if (minor === 0 || applied.length === 0 || newer.some(({ is_contract }) => is_contract)) return null
  const before = `${major}.${minor - 1}`
  const done = new Set(applied.map(({ version }) => version))
  const isShut = migrations.some(
    ({ version, contractAfter }) => done.has(version) && contractAfter !== null && isOlder(before, contractAfter),
  )
  return isShut ? null : before
}

/** Only states of Parley before its first release have a table schema_migrations. */
async function readApplied(
  db: pg.Pool | pg.PoolClient,
): Promise<{ applied: AppliedMigration[]; isUnreleased: boolean }> {
  const tables = await db.query(
    `SELECT to_regclass('migrations') IS NOT NULL AS has_table,
       to_regclass('schema_migrations') IS NOT NULL AS is_unreleased`,
  )
  const { has_table: hasTable, is_unreleased: isUnreleased } = tables.rows[0]
  if (!hasTable) return { applied: [], isUnreleased }
  const { rows } = await db.query<AppliedMigration>(
    'SELECT version, name, is_contract, applied_at FROM migrations ORDER BY version',
  )
  return { applied: rows, isUnreleased }
}
