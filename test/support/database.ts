import { inject } from 'vitest'
import { type Connection, type Database, openDatabase, type Queryable } from '../../src/database/pool.js'
import { onDatabase } from './global-setup.js'

/** As many connections as a process of the service has. */
const POOL_SIZE = 20

/** A database of its own, copied from the migrated template. */
export interface TestDatabase extends Database {
  connection: Connection
  drop(): Promise<void>
}

let copies = 0

/** Copies the template; `drop` it when the test file is done. */
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

/** The database, which refuses to raise events of an organization that the statement's values do not name. */
export function withCheckedRaises<Base extends Database>(database: Base): Base {
  const transaction: Database['transaction'] = (work) =>
    database.transaction((inner) => work({ ...inner, raise: checkedRaise(inner) }))
  return { ...database, transaction, raise: checkedRaise(database) }
}

function checkedRaise({ raise }: Queryable): Queryable['raise'] {
  return async (statement, values, organizationIds) => {
    const given = JSON.stringify(values)
    const foreign = organizationIds.find((id) => !given.includes(id))
    if (foreign === undefined) return raise(statement, values, organizationIds)
    throw new Error(`${statement.name}: raised for ${foreign}, which its values do not name`)
  }
}
