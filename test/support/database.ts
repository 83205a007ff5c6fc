import { inject } from 'vitest'
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

/** The database, with a check that statements raise events only for organizations in their values. */
export function withCheckedRaises<Base extends Database>(database: Base): Base {
  const transaction: Database['transaction'] = (work) =>
    database.transaction((inner) => work({ ...inner, raise: checkedRaise(inner) }))
  const session: Database['session'] = (work) => database.session((inner) => work(withCheckedRaises(inner)))
  return { ...database, transaction, session, raise: checkedRaise(database) }
}

function checkedRaise({ raise }: Queryable): Queryable['raise'] {
  return async (statement, values, organizationIds) => {
    const given = JSON.stringify(values)
    const foreign = organizationIds.find((id) => !given.includes(id))
    if (foreign === undefined) return raise(statement, values, organizationIds)
    throw new Error(`${statement.name}: raised for ${foreign}, which its values do not name`)
  }
}
