import type { Loan, RunQuery } from './connections.js'
import { type CommitListener, type Queryable, queryable } from './queryable.js'
import type { Raised } from './statement.js'

/** How a transaction differs from others of its pool. */
export interface TransactionOptions {
  begin: string
  /** The maximum wait for the answer to each statement, in ms; undefined: that of the pool. */
  query_timeout?: number
}

/**
 * Runs work in a transaction on a loan's connection; rolls back if it throws. The listener is called after the commit.
 */
export async function transaction<Result>(
  loan: Loan,
  work: (transaction: Queryable) => Promise<Result>,
  onCommit: CommitListener,
  { begin, query_timeout }: TransactionOptions = { begin: 'BEGIN' },
): Promise<Result> {
  const raised: Record<Raised, Set<string>> = { events: new Set(), callbacks: new Set() }
  let hasJobs = false
  const collect: CommitListener = (committed) => {
    if (committed.topic === 'jobs') hasJobs = true
    else for (const id of committed.organizationIds) raised[committed.topic].add(id)
  }
  const announce = () => {
    for (const topic of ['events', 'callbacks'] as const) {
      if (raised[topic].size > 0) onCommit({ topic, organizationIds: [...raised[topic]] })
    }
    if (hasJobs) onCommit({ topic: 'jobs' })
  }
  let begun = null as Promise<unknown> | null
  const query: RunQuery = async (statement, organizationId) => {
    const client = await loan.connect(organizationId)
    begun ??= client.query(begin)
    await begun
    return client.query(query_timeout === undefined ? statement : { ...statement, query_timeout })
  }
  /** Nothing, if the work had no statement. */
  const end = async (command: 'COMMIT' | 'ROLLBACK') => {
    if (begun) await (await loan.connect(null)).query(command)
  }
  try {
    const result = await work(queryable(query, collect))
    await end('COMMIT')
    announce()
    return result
  } catch (error) {
    await end('ROLLBACK').catch(loan.discard)
    throw error
  }
}
