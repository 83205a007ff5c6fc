import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'

/** A table with many dead rows, by PostgreSQL's own figures. */
export interface CrowdedTable {
  table: string
  live: number
  dead: number
}

const crowded = statement<CrowdedTable>(
  'tables.crowded',
  `SELECT relname AS table, n_live_tup::float8 AS live, n_dead_tup::float8 AS dead
   FROM pg_stat_user_tables
   WHERE n_dead_tup > 100000 AND n_dead_tup > n_live_tup / 2
   ORDER BY n_dead_tup DESC
   LIMIT 5`,
)

/** The tables in which at least a third of the rows, and more than 100,000, are dead; at most five. */
export function findCrowdedTables(db: Queryable): Promise<CrowdedTable[]> {
  return db.run(crowded, [])
}
