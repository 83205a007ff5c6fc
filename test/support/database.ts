import { inject } from 'vitest'
import { type Connection, type Database, openDatabase } from '../../src/database/pool.js'
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
