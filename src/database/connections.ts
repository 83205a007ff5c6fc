import type pg from 'pg'
import type { FairPlaces } from '../lib/async/fair-places.js'

/** A named statement with its values. */
export interface NamedQuery {
  name: string
  text: string
  values: unknown[]
  /** The maximum wait for its answer, in ms. */
  query_timeout?: number
}

/** Runs a statement of an organization, or a shared one (null); `isHeavy` as in Statement. */
export type RunQuery = (query: NamedQuery, organizationId: string | null, isHeavy: boolean) => Promise<pg.QueryResult>

/** A connection that only its borrower uses. */
export interface Borrowed {
  client: pg.PoolClient
  /** Returns the connection. Call it once; with an error, the connection is closed. */
  giveBack: (broken?: Error) => void
}

export type Borrow = (organizationId: string | null) => Promise<Borrowed>

/**
 * Runs each statement on a free connection of the pool, in a place of its organization; a heavy one in one of
 * `heavyPlaces`, too.
 */
export function onPool(pool: pg.Pool, places: FairPlaces, heavyPlaces: FairPlaces): RunQuery {
  return (query, organizationId, isHeavy) => {
    const run = () => places.run(organizationId, () => pool.query(query))
    return isHeavy ? heavyPlaces.run(organizationId, run) : run()
  }
}

/** Lends connections of the pool, each in a place of its organization. */
export function borrowFrom(pool: pg.Pool, places: FairPlaces): Borrow {
  return async (organizationId) => {
    const wait = places.acquire(organizationId)
    if (wait) await wait
    try {
      const client = await pool.connect()
      const giveBack = (broken?: Error) => {
        client.release(broken)
        places.release(organizationId)
      }
      return { client, giveBack }
    } catch (error) {
      places.release(organizationId)
      throw error
    }
  }
}

/** One connection for several statements. The first of them borrows it, in a place of its organization. */
export interface Loan {
  connect(organizationId: string | null): Promise<pg.PoolClient>
  /** Has the connection closed when it is given back. */
  discard(reason: Error): void
}

/** Runs work with a loan, and gives the connection back. */
export async function lend<Result>(borrow: Borrow, work: (loan: Loan) => Promise<Result>): Promise<Result> {
  let borrowed = null as Promise<Borrowed> | null
  let broken: Error | undefined
  const loan: Loan = {
    connect: async (organizationId) => {
      borrowed ??= borrow(organizationId)
      return (await borrowed).client
    },
    discard: (reason) => {
      broken = reason
    },
  }
  try {
    return await work(loan)
  } finally {
    await borrowed?.then(
      ({ giveBack }) => giveBack(broken),
      () => undefined,
    )
  }
}

/** Runs statements on a loan's connection. */
export function onLoan(loan: Loan): RunQuery {
  return async (query, organizationId) => (await loan.connect(organizationId)).query(query)
}
