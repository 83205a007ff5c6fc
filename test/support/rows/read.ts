import type { QueryResultRow } from 'pg'
import type { Database } from '../../../src/database/pool.js'

/** Where rows are read: a world, or the context of a service. */
export type Tables = { database: Pick<Database, 'pool'> }

/** Columns and the values that they have in the wanted rows; of a list, one of its values. */
export type Where<Row> = { [Column in keyof Row]?: Row[Column] | readonly Row[Column][] }

/** A table's rows with these values, in an order such as `contact_id, seq`. */
export async function readRows<Row extends QueryResultRow>(
  { database }: Tables,
  table: string,
  order: string,
  where: Where<Row>,
): Promise<Row[]> {
  const conditions = Object.entries(where).map(([column, value], index) =>
    Array.isArray(value) ? `${column} = ANY ($${index + 1})` : `${column} IS NOT DISTINCT FROM $${index + 1}`,
  )
  const { rows } = await database.pool.query<Row>(
    `SELECT * FROM ${table} WHERE ${['true', ...conditions].join(' AND ')} ORDER BY ${order}`,
    Object.values(where),
  )
  return rows
}

/** The only row. Throws if there is none, or another one. */
export function onlyRow<Row>([row, ...others]: Row[]): Row {
  if (row === undefined || others.length > 0)
    throw new Error(`${row === undefined ? 0 : others.length + 1} rows, not 1`)
  return row
}
