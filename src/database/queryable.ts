import type { RunQuery } from './connections.js'
import { type AnyStatement, type EventStatement, organizationOf, type Statement } from './statement.js'

/** Runs the statements of storage functions: the pool or one of its transactions. */
export interface Queryable {
  /** Runs a named statement and returns its rows. Throws node-postgres's errors. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
  /** Runs a statement that can insert events of these organizations; listeners are called after the commit. */
  raise<Row>(
    statement: EventStatement<Row>,
    values: readonly unknown[],
    organizationIds: readonly string[],
  ): Promise<Row[]>
}

/** Called with the organizations that may have new events. Must not throw. */
export type EventsListener = (organizationIds: readonly string[]) => void

/** The methods of a database that run statements. */
export function queryable(query: RunQuery, onEvents: EventsListener): Queryable {
  async function run<Row>(statement: AnyStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const { name, text, isHeavy } = statement
    const organizationId = organizationOf(statement, values)
    return (await query({ name, text, values: values as unknown[] }, organizationId, isHeavy)).rows
  }
  return {
    run,
    raise: async (statement, values, organizationIds) => {
      const rows = await run(statement, values)
      onEvents(organizationIds)
      return rows
    },
  }
}
