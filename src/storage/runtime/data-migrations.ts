import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/** How far a data migration is. `position`: the row after which the next batch begins; null: at the first one. */
export interface DataMigrationProgress {
  name: string
  position: unknown
  /** The rows that this pass has changed. */
  done: number
  /** The rows to be changed, counted when the pass began. */
  total: number
  started_at: Date
  updated_at: Date
  /** When the pass ended; null: it has not. */
  finished_at: Date | null
}

const list = statement<DataMigrationProgress>(
  'dataMigrations.list',
  `SELECT name, position, done::float8 AS done, total::float8 AS total, started_at, updated_at, finished_at
   FROM data_migrations ORDER BY started_at, name`,
)

const start = statement<never>(
  'dataMigrations.start',
  `INSERT INTO data_migrations AS d (name, total) VALUES ($1, $2)
   ON CONFLICT (name) DO UPDATE
   SET position = NULL, done = 0, total = $2, started_at = now(), updated_at = now(), finished_at = NULL`,
)

const advance = statement<never>(
  'dataMigrations.advance',
  `UPDATE data_migrations
   SET position = $2, done = done + $3, updated_at = now(), finished_at = CASE WHEN $4 THEN now() END
   WHERE name = $1`,
)

/** The data migrations that were ever begun. */
export function listDataMigrations(db: Queryable): Promise<DataMigrationProgress[]> {
  return db.run(list, [])
}

/** Begins a pass over `total` rows. */
export async function startDataMigration(db: Queryable, name: string, total: number): Promise<void> {
  await db.run(start, [name, total])
}

/** Stores that a batch has changed `rows` rows, up to `position`; null: it was the last batch of the pass. */
export async function advanceDataMigration(
  db: Queryable,
  name: string,
  position: unknown,
  rows: number,
): Promise<void> {
  await db.run(advance, [name, position === null ? null : JSON.stringify(position), rows, position === null])
}
