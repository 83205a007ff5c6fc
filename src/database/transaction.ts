import type { Loan, RunQuery } from './connections.js'
import { type EventsListener, type Queryable, queryable } from './queryable.js'

/** How a transaction differs from others of its pool. */
export interface TransactionOptions {
  begin: string
  /** The maximum wait for the answer to each statement, in ms; undefined: that of the pool. */
  query_timeout?: number
}

/**
 * Runs work in a transaction on a loan's connection; rolls back if it throws. Events are announced after the commit.
 */
export async function transaction<Result>(
  loan: Loan,
  work: (transaction: Queryable) => Promise<Result>,
  onEvents: EventsListener,
  { begin, query_timeout }: TransactionOptions = { begin: 'BEGIN' },
): Promise<Result> {
  const raised = new Set<string>()
  const collect: EventsListener = (organizationIds) => {
    for (const id of organizationIds) raised.add(id)
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
    if (raised.size > 0) onEvents([...raised])
    return result
  } catch (error) {
    await end('ROLLBACK').catch(loan.discard)
    throw error
  }
}
