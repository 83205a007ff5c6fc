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

/** The transaction whose work makes this call. A connection that was opened in one makes calls after its end, too. */
const inTransaction = new AsyncLocalStorage<{ isRunning: boolean }>()

/**
 * The database, with checks that statements raise events only for organizations in their values, and that transactions
 * use no second connection: if all connections were in use by such transactions, all would wait for ever.
 */
export function withChecks<Base extends Database>(database: Base): Base {
  const transaction: Database['transaction'] = (work) => {
    requireNoTransaction('a transaction')
    const state = { isRunning: true }
    return database
      .transaction((inner) => inTransaction.run(state, () => work({ ...inner, raise: checkedRaise(inner) })))
      .finally(() => {
        state.isRunning = false
      })
  }
  const session: Database['session'] = (work) => {
    requireNoTransaction('a session')
    return database.session((inner) => work(withChecks(inner)))
  }
  const run: Database['run'] = (statement, values) => {
    requireNoTransaction(statement.name)
    return database.run(statement, values)
  }
  const raise: Database['raise'] = (statement, values, organizationIds) => {
    requireNoTransaction(statement.name)
    return checkedRaise(database)(statement, values, organizationIds)
  }
  return { ...database, transaction, session, run, raise, patient: () => withChecks(database) }
}

/** Makes a call within the work of a transaction as if another request made it. */
export function besides<Result>(call: () => Result): Result {
  return inTransaction.exit(call)
}

function requireNoTransaction(what: string): void {
  if (inTransaction.getStore()?.isRunning) throw new Error(`${what}: takes a second connection within a transaction`)
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
  return { requests: database, work: database, live: database }
}
