import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** The space that a table takes on disk, with its indexes, and how many rows it has by PostgreSQL's estimate. */
export interface TableSize {
  name: string
  bytes: number
  rows: number
}

// Reads sizes of files and statistics, no table. A table that was never analyzed has -1 rows.
const measure = sharedStatement<TableSize>(
  'tables.measure',
  `SELECT relname AS name, pg_total_relation_size(oid)::float8 AS bytes, greatest(reltuples, 0)::float8 AS rows
   FROM pg_class
   WHERE relkind = 'r' AND oid = ANY (SELECT to_regclass(name) FROM unnest($1::text[]) AS name)`,
)

/** The tables that grow with the traffic of all organizations together. */
const GROWING = [
  ...['messages', 'media', 'callbacks', 'events', 'webhook_deliveries', 'contacts', 'contact_addresses'],
  ...['broadcast_recipients', 'idempotency_keys', 'storefront_orders', 'short_link_visits', 'message_search', 'jobs'],
]

/** The sizes of the tables that grow with traffic, of all organizations. */
export function measureTables(db: Queryable): Promise<TableSize[]> {
  return db.run(measure, [GROWING])
}
