import { randomUUID } from 'node:crypto'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase, type Queryable } from '../../src/database/pool.js'
import type { Committed } from '../../src/database/queryable.js'
import { sharedStatement, statement } from '../../src/database/statement.js'
import { enqueueJobs } from '../../src/storage/jobs/enqueue.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'

const insertEvents = sharedStatement<never>(
  'test.insertEvents',
  `INSERT INTO events (organization_id, id, type, data)
   SELECT organization_id, gen_random_uuid(), 'contact.updated', '{}' FROM unnest($1::uuid[]) AS organization_id`,
  { raises: 'events' },
)
const JOB = { task: 'fetch_media' } as const
const enqueue = statement<never>('test.enqueue', enqueueJobs(JOB), { enqueues: 'now' })
const enqueueLater = statement<never>('test.enqueueLater', enqueueJobs(JOB), { enqueues: 'later' })
const enqueueSome = statement<{ isUrgent: boolean }>(
  'test.enqueueSome',
  `WITH enqueued AS (${enqueueJobs(JOB)}) SELECT unnest($2::boolean[]) AS "isUrgent"`,
  { enqueues: ({ isUrgent }) => isUrgent },
)
const count = statement<{ total: number }>(
  'test.count',
  'SELECT count(*) AS total FROM events WHERE organization_id = $1',
)

let database: TestDatabase
let heard: Committed[]
let stop: () => void
let one: string
let other: string

beforeEach(async () => {
  database = await createTestDatabase()
  heard = []
  stop = database.onCommit((committed) => heard.push(committed))
  one = randomUUID()
  other = randomUUID()
})

afterEach(() => database.drop())

const raiseFor = (db: Queryable, ...organizationIds: string[]) =>
  db.raise(insertEvents, [organizationIds], organizationIds)
const eventsOf = (...organizationIds: string[]): Committed => ({ topic: 'events', organizationIds })

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

  it('has the settings that the service needs, even if the server and the database have others', async () => {
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

describe('a statement', () => {
  it('is not run without the id of its organization, unless it is shared', async () => {
    await expect(database.run(count, [null])).rejects.toThrow('test.count: its first value is not the id')
    await expect(database.transaction(({ run }) => run(count, []))).rejects.toThrow('test.count: its first value')
    expect(await database.run(count, [one])).toEqual([{ total: 0 }])
    expect(await raiseFor(database, one)).toEqual([])
  })
})

describe('listeners of commits', () => {
  it('are called after a statement with the organizations of that statement', async () => {
    await raiseFor(database, one)
    expect(heard).toEqual([eventsOf(one)])
    await raiseFor(database, other, one)
    expect(heard).toEqual([eventsOf(one), eventsOf(other, one)])
  })

  it('are called once for a transaction, after its commit, with each of its organizations', async () => {
    await database.transaction(async (transaction) => {
      await raiseFor(transaction, one)
      await raiseFor(transaction, other)
      await raiseFor(transaction, one)
      expect(heard).toEqual([])
    })
    expect(heard).toEqual([eventsOf(one, other)])
  })

  it('can read the events at once', async () => {
    const reading: Promise<{ total: number }[]>[] = []
    database.onCommit(() => reading.push(database.run(count, [one])))
    await raiseFor(database, one)
    await database.transaction((transaction) => raiseFor(transaction, one))
    expect(await Promise.all(reading)).toEqual([[{ total: 1 }], [{ total: 2 }]])
  })

  it('are not called after a rollback, a failure, or a statement without events', async () => {
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

  it('are called for jobs after the commit of a statement that enqueues them for now', async () => {
    await database.run(enqueueLater, [one])
    await database.run(enqueueSome, [one, [false, false]])
    expect(heard).toEqual([])
    await database.run(enqueue, [one])
    await database.run(enqueueSome, [one, [false, true, true]])
    expect(heard).toEqual([{ topic: 'jobs' }, { topic: 'jobs' }])
  })

  it('are called once for the jobs of a transaction, after its commit, and not after a rollback', async () => {
    const enqueueTwice = async (transaction: Queryable) => {
      await transaction.run(enqueue, [one])
      await transaction.run(enqueue, [other])
      expect(heard).toEqual([])
    }
    const ended = database.transaction(async (transaction) => {
      await enqueueTwice(transaction)
      throw new Error('the end')
    })
    await expect(ended).rejects.toThrow('the end')
    expect(heard).toEqual([])
    await database.transaction(enqueueTwice)
    expect(heard).toEqual([{ topic: 'jobs' }])
  })

  it('are not called after they were removed', async () => {
    stop()
    await raiseFor(database, one)
    expect(heard).toEqual([])
  })
})

describe('a session', () => {
  const lock = sharedStatement<{ taken: boolean }>('test.lock', 'SELECT pg_try_advisory_lock(1, $1) AS taken')
  const find = sharedStatement<{ taken: boolean }>(
    'test.isLocked',
    `SELECT EXISTS (SELECT FROM pg_locks WHERE locktype = 'advisory' AND objid = $1 AND classid = 1) AS taken`,
  )
  const isLocked = async (key: number) => (await database.run(find, [key]))[0]?.taken

  it('runs all statements and transactions on one connection, and keeps its locks until it fails', async () => {
    const failed = database.session(async (session) => {
      await session.run(lock, [7])
      await session.transaction((transaction) => raiseFor(transaction, one))
      expect(heard).toEqual([eventsOf(one)])
      await expect(session.transaction((transaction) => raiseFor(transaction, 'nobody'))).rejects.toThrow('uuid')
      expect(await session.run(lock, [7])).toEqual([{ taken: true }])
      expect(await database.run(lock, [7])).toEqual([{ taken: false }])
      throw new Error('the end')
    })
    await expect(failed).rejects.toThrow('the end')
    await expect.poll(() => isLocked(7)).toBe(false)
  })
})
