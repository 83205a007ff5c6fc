import { AsyncLocalStorage } from 'node:async_hooks'
import { inject } from 'vitest'
import type { Databases } from '../../src/database/databases.js'
import { type Connection, type Database, openDatabase, type Queryable } from '../../src/database/pool.js'
import { onDatabase } from './global-setup.js'

/** The number of connections of a service process. */
const POOL_SIZE = 20

/** A separate database, copied from the migrated template. */
export interface TestDatabase extends Database {
  connection: Connection
  drop(): Promise<void>
}

let copies = 0

/** Copies the template; call `drop` at the end of the test file. */
export async function createTestDatabase(): Promise<TestDatabase> {
  const server = inject('server')
  const name = `parley_test_${process.pid}_${++copies}`
  const admin = openDatabase(server, 1, () => undefined)
  await admin.pool.query(`CREATE DATABASE ${name} TEMPLATE ${inject('template')} STRATEGY FILE_COPY`)
  const connection = onDatabase(server, name)
  const database = openDatabase(connection, POOL_SIZE, () => undefined)
  return {
    ...database,
    connection,
    drop: async () => {
      await database.close()
      await admin.pool.query(`DROP DATABASE ${name} WITH (FORCE)`)
      await admin.close()
    },
  }
}

/**
 * The transaction or session whose work makes this call. A connection that was opened in one makes calls after its end,
 * too.
 */
const inTransaction = new AsyncLocalStorage<{ isRunning: boolean }>()
const inSession = new AsyncLocalStorage<{ isRunning: boolean }>()

/**
 * The database, with checks that statements raise events only for organizations in their values, and that transactions
 * and sessions use no second connection: if all connections were in use by such work, all would wait for ever.
 */
export function withChecks<Base extends Database>(database: Base, isSession = false): Base {
  const requireNoOther = (what: string) => {
    const isOther = !isSession && inSession.getStore()?.isRunning
    if (isOther || inTransaction.getStore()?.isRunning) throw new Error(`${what}: takes a second connection`)
  }
  const transaction: Database['transaction'] = (work) => {
    requireNoOther('a transaction')
    return whileRunning((state) =>
      database.transaction((inner) => inTransaction.run(state, () => work({ ...inner, raise: checkedRaise(inner) }))),
    )
  }
  const session: Database['session'] = (work) => {
    requireNoOther('a session')
    return whileRunning((state) =>
      database.session((inner) => inSession.run(state, () => work(withChecks(inner, true)))),
    )
  }
  const run: Database['run'] = (statement, values) => {
    requireNoOther(statement.name)
    return database.run(statement, values)
  }
  const raise: Database['raise'] = (statement, values, organizationIds) => {
    requireNoOther(statement.name)
    return checkedRaise(database)(statement, values, organizationIds)
  }
  return { ...database, transaction, session, run, raise, withStatementTimeout: () => withChecks(database) }
}

/** Makes a call within the work of a transaction as if another request made it. */
export function besides<Result>(call: () => Result): Result {
  return inSession.exit(() => inTransaction.exit(call))
}

async function whileRunning<Result>(run: (state: { isRunning: boolean }) => Promise<Result>): Promise<Result> {
  const state = { isRunning: true }
  try {
    return await run(state)
  } finally {
    state.isRunning = false
  }
}

function checkedRaise({ raise }: Queryable): Queryable['raise'] {
  return async (statement, values, organizationIds) => {
    const given = JSON.stringify(values)
    const foreign = organizationIds.find((id) => !given.includes(id))
    if (foreign === undefined) return raise(statement, values, organizationIds)
    throw new Error(`${statement.name}: raised for ${foreign}, which its values do not name`)
  }
}

/** One pool for all purposes. */
export function forAllPurposes(database: Database): Databases {
  return { requests: database, work: database, live: database, replica: database }
}
