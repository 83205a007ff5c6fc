import { afterAll, afterEach, beforeAll, describe, expect, inject, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { preferReplica } from '../../src/database/replica.js'
import { sharedStatement, statement } from '../../src/database/statement.js'
import { onDatabase } from '../support/global-setup.js'

const NAME = `parley_replica_${process.pid}`
const whichDatabase = sharedStatement<{ name: string }>('test.whichDatabase', 'SELECT current_database() AS name')
const unknownTable = sharedStatement('test.unknownTable', 'SELECT FROM only_at_the_primary')
const failing = sharedStatement('test.failing', 'SELECT 1 / $1::int')
const asOrganization = statement<{ name: string }>(
  'test.heavy',
  'SELECT current_database() AS name FROM (SELECT $1::uuid) given',
  { isHeavy: true },
)

/** Another database stands for the replica, so that an answer tells where it is from. */
let admin: Database
let primary: Database
let replica: Database
const failures: string[] = []
const open: Database[] = []

const prefer = (database: Database) => preferReplica(database, primary, ({ message }) => failures.push(message))
const nameOn = async (database: Database) => (await database.run(whichDatabase, []))[0]?.name

beforeAll(async () => {
  const server = inject('server')
  admin = openDatabase(server, 1, () => undefined)
  await admin.pool.query(`CREATE DATABASE ${NAME}`)
  await admin.pool.query(`CREATE DATABASE ${NAME}_primary`)
  primary = openDatabase(onDatabase(server, `${NAME}_primary`), 2, () => undefined)
  await primary.pool.query('CREATE TABLE only_at_the_primary ()')
  replica = openDatabase(onDatabase(server, NAME), 2, () => undefined)
})

afterEach(() => failures.splice(0))

afterAll(async () => {
  await Promise.all([primary, replica, ...open].map((database) => database.close()))
  await admin.pool.query(`DROP DATABASE ${NAME} WITH (FORCE)`)
  await admin.pool.query(`DROP DATABASE ${NAME}_primary WITH (FORCE)`)
  await admin.close()
})

describe('a database that prefers a replica', () => {
  it('runs statements there, also with another timeout, and transactions at the primary', async () => {
    const database = prefer(replica)
    expect(await nameOn(database)).toBe(NAME)
    expect(await nameOn(database.withStatementTimeout(1_000))).toBe(NAME)
    await database.transaction(async (transaction) => {
      expect(await transaction.run(whichDatabase, [])).toEqual([{ name: `${NAME}_primary` }])
    })
  })

  it('asks the primary for what the replica does not have yet, and goes on with the replica', async () => {
    const database = prefer(replica)
    await database.run(unknownTable, [])
    expect(failures).toHaveLength(1)
    expect(await nameOn(database)).toBe(NAME)
  })

  it('asks the primary for a while after the replica did not answer', async () => {
    const away = openDatabase({ connectionString: 'postgres://nobody@127.0.0.1:1/none' }, 1, () => undefined)
    open.push(away)
    const database = prefer(away)
    expect(await nameOn(database)).toBe(`${NAME}_primary`)
    expect(await nameOn(database)).toBe(`${NAME}_primary`)
    expect(failures).toHaveLength(1)
  })

  it('asks the primary while the replica has not replayed what the primary wrote a minute ago', async () => {
    const MINUTE = 60_000
    const define = (name: string, type: string, value: string) =>
      replica.pool.query(
        `CREATE OR REPLACE FUNCTION standby.${name}() RETURNS ${type} LANGUAGE sql AS $$ SELECT ${value} $$`,
      )
    const replayed = (lsn: string) => define('pg_last_wal_replay_lsn', 'pg_lsn', lsn)
    // The functions stand for those of a standby.
    await replica.pool.query('CREATE SCHEMA standby')
    await define('pg_is_in_recovery', 'boolean', 'true')
    await replayed('pg_current_wal_lsn()')
    await replica.pool.query(`ALTER DATABASE ${NAME} SET search_path = standby, pg_catalog`)
    const behind = openDatabase(onDatabase(inject('server'), NAME), 1, () => undefined)
    open.push(behind)
    vi.useFakeTimers({ toFake: ['Date'] })
    try {
      const database = prefer(behind)
      expect(await nameOn(database)).toBe(NAME)
      await replayed(`'0/1'::pg_lsn`)
      vi.advanceTimersByTime(MINUTE - 1)
      expect(await nameOn(database)).toBe(NAME)
      vi.advanceTimersByTime(2)
      expect(await nameOn(database)).toBe(`${NAME}_primary`)
      expect(failures).toEqual([])
      vi.advanceTimersByTime(MINUTE)
      expect(await nameOn(database)).toBe(`${NAME}_primary`)
      expect(failures).toEqual(['the replica is more than a minute behind'])
      await replayed('pg_current_wal_lsn()')
      // What it has reached is too old to say that it is up to date; the next look does.
      vi.advanceTimersByTime(MINUTE)
      expect(await nameOn(database)).toBe(`${NAME}_primary`)
      vi.advanceTimersByTime(MINUTE)
      expect(await nameOn(database)).toBe(NAME)
      // As after its promotion, when it replays nothing more.
      await replayed(`'0/1'::pg_lsn`)
      await define('pg_is_in_recovery', 'boolean', 'false')
      vi.advanceTimersByTime(2 * MINUTE)
      expect(await nameOn(database)).toBe(NAME)
    } finally {
      vi.useRealTimers()
    }
  })

  it('reports errors of the statement itself', async () => {
    await expect(prefer(replica).run(failing, [0])).rejects.toThrow('division by zero')
    expect(failures).toEqual([])
  })

  it('does not give an organization that has used up its share at the replica another one at the primary', async () => {
    const limits = {
      ...{ ofOneOrganization: 1, ofOrganizations: 1, ofNoOrganization: 1, ofHeavyStatements: 1 },
      ...{ waitMs: 1, statementMs: 0, idleInTransactionMs: 0 },
    }
    const small = openDatabase(onDatabase(inject('server'), NAME), 1, () => undefined, { limits })
    open.push(small)
    const database = prefer(small)
    const id = '01a2000c-a89b-7e35-a598-5e0c0eac89b3'
    const borrowed = await small.borrow(id)
    await expect(database.run(asOrganization, [id])).rejects.toThrow()
    borrowed.giveBack()
    expect(failures).toEqual([])
    expect(await database.run(asOrganization, [id])).toEqual([{ name: NAME }])
  })
})
