import type { RunQuery } from './connections.js'
import { type AnyStatement, organizationOf, type Raised, type RaisingStatement, type Statement } from './statement.js'

/**
 * Runs the statements of storage functions: the pool or one of its transactions. After the commit, listeners are called
 * for what the statements declare.
 */
export interface Queryable {
  /** Runs a named statement and returns its rows. Throws node-postgres's errors. */
  run<Row>(statement: Statement<Row>, values: readonly unknown[]): Promise<Row[]>
  /** Runs a statement that can insert what others wait for, of these organizations. */
  raise<Row>(
    statement: RaisingStatement<Row>,
    values: readonly unknown[],
    organizationIds: readonly string[],
  ): Promise<Row[]>
}

/** What may be there since a commit: events or callbacks of these organizations, or jobs that are due. */
export type Committed = { topic: Raised; organizationIds: readonly string[] } | { topic: 'jobs' }

/** Must not throw. */
export type CommitListener = (committed: Committed) => void

/** The methods of a database that run statements. */
export function queryable(query: RunQuery, onCommit: CommitListener): Queryable {
  async function run<Row>(statement: AnyStatement<Row>, values: readonly unknown[]): Promise<Row[]> {
    const { name, text, isHeavy } = statement
    const organizationId = organizationOf(statement, values)
    const { rows } = await query({ name, text, values: values as unknown[] }, organizationId, isHeavy)
    if (hasDueJobs(statement, rows)) onCommit({ topic: 'jobs' })
    return rows
  }
  return {
    run,
    raise: async (statement, values, organizationIds) => {
      const rows = await run(statement, values)
      onCommit({ topic: statement.raises, organizationIds })
      return rows
    },
  }
}

function hasDueJobs<Row>({ enqueues }: AnyStatement<Row>, rows: readonly Row[]): boolean {
  return typeof enqueues === 'function' ? rows.some((row) => enqueues(row as never)) : enqueues === 'now'
}
