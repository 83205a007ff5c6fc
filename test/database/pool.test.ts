import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Queryable } from '../../src/database/pool.js'
import { statement } from '../../src/database/statement.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'

const raise = statement<never>(
  'test.raise',
  `INSERT INTO events (organization_id, id, type, data) VALUES ($1::uuid, $2, 'contact.updated', '{}')`,
)
const raiseShared = statement<never>(
  'test.raiseShared',
  `INSERT INTO events (organization_id, id, type, data)
   SELECT organization_id, gen_random_uuid(), 'contact.updated', '{}'
   FROM json_to_recordset($1) AS given (organization_id uuid)`,
)
const raiseUnnamed = statement<never>(
  'test.raiseUnnamed',
  `INSERT INTO events (organization_id, id, type, data)
   SELECT gen_random_uuid(), gen_random_uuid(), 'contact.updated', '{}' FROM generate_series(1, $1::int)`,
)
const count = statement<{ total: number }>(
  'test.count',
  'SELECT count(*) AS total FROM events WHERE organization_id = $1',
)

let database: TestDatabase
let heard: (string[] | null)[]
let stop: () => void
let one: string
let other: string

beforeEach(async () => {
  database = await createTestDatabase()
  heard = []
  stop = database.onEvents((organizationIds) => heard.push(organizationIds))
  one = randomUUID()
  other = randomUUID()
})

afterEach(() => database.drop())

const raiseFor = (db: Queryable, organizationId: string) => db.run(raise, [organizationId, randomUUID()])

describe('a connection', () => {
  it.each([
    ['off', 'on'],
    ['remote_apply', 'remote_apply'],
  ])('of a database with synchronous_commit = %s commits with %s', async (given, expected) => {
    await database.pool.query(
      `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET synchronous_commit = ${given}', current_database()); END $$`,
    )
    const fresh = openDatabase(database.connection, 1, () => undefined)
    const { rows } = await fresh.pool.query('SHOW synchronous_commit')
    await fresh.close()
    expect(rows).toEqual([{ synchronous_commit: expected }])
  })

  it('has the settings that the service needs, whatever its server and database are set to', async () => {
    const others = { jit: 'on', TimeZone: 'Asia/Tokyo', idle_session_timeout: '5min', statement_timeout: '1min' }
    for (const [name, value] of Object.entries(others)) {
      await database.pool.query(
        `DO $$ BEGIN EXECUTE format('ALTER DATABASE %I SET ${name} = %L', current_database(), '${value}'); END $$`,
      )
    }
    const fresh = openDatabase(database.connection, 1, () => undefined)
    const { rows } = await fresh.pool.query<{ name: string; setting: string }>(
      'SELECT name, setting FROM pg_settings WHERE name = ANY ($1)',
      [Object.keys(others)],
    )
    await fresh.close()
    expect(Object.fromEntries(rows.map(({ name, setting }) => [name, setting]))).toEqual({
      jit: 'off',
      TimeZone: 'UTC',
      idle_session_timeout: '0',
      statement_timeout: '0',
    })
  })
})

describe('listeners for events', () => {
  it('hear after a statement for which organization it was', async () => {
    await raiseFor(database, one)
    expect(heard).toEqual([[one]])
    await database.run(raiseShared, [JSON.stringify([{ organization_id: other }, { organization_id: one }])])
    expect(heard).toEqual([[one], [other, one]])
  })

  it('hear that it may be anybody where the statement does not tell', async () => {
    await database.run(raiseUnnamed, [1])
    await database.transaction(async (transaction) => {
      await raiseFor(transaction, one)
      await transaction.run(raiseUnnamed, [1])
    })
    expect(heard).toEqual([null, null])
  })

  it('hear of a transaction when it has been committed, once, and of each organization in it', async () => {
    await database.transaction(async (transaction) => {
      await raiseFor(transaction, one)
      await raiseFor(transaction, other)
      await raiseFor(transaction, one)
      expect(heard).toEqual([])
    })
    expect(heard).toEqual([[one, other]])
  })

  it('can read at once what they hear of', async () => {
    const reading: Promise<{ total: number }[]>[] = []
    database.onEvents(() => reading.push(database.run(count, [one])))
    await raiseFor(database, one)
    await database.transaction((transaction) => raiseFor(transaction, one))
    expect(await Promise.all(reading)).toEqual([[{ total: 1 }], [{ total: 2 }]])
  })

  it('hear nothing of what was rolled back, failed, or raises none', async () => {
    const ended = database.transaction(async (transaction) => {
      await raiseFor(transaction, one)
      throw new Error('the end')
    })
    await expect(ended).rejects.toThrow('the end')
    await expect(raiseFor(database, 'nobody')).rejects.toThrow('uuid')
    await database.run(count, [one])
    await database.transaction((transaction) => transaction.run(count, [one]))
    expect(heard).toEqual([])
  })

  it('hear nothing once they have stopped', async () => {
    stop()
    await raiseFor(database, one)
    expect(heard).toEqual([])
  })
})
