import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type DataMigration, findDataMigrations, runDataMigrations } from '../../../src/core/runtime/data-migrations.js'
import { startWorld, type World } from '../../support/world.js'

let world: World
const never = new AbortController().signal

beforeAll(async () => {
  world = await startWorld()
  await world.database.pool.query('CREATE TABLE numbers (n int PRIMARY KEY, is_even boolean)')
})
beforeEach(async () => {
  await world.database.pool.query('TRUNCATE numbers, data_migrations')
  await world.database.pool.query('INSERT INTO numbers SELECT generate_series(1, 25)')
})
afterAll(() => world.close())

/** Tells which numbers are even, ten at a time; `failAt`: the batch after this number fails once. */
function evenNumbers(failAt?: number): DataMigration {
  let fails = failAt !== undefined
  const { pool } = world.database
  return {
    name: 'even_numbers',
    count: async () => (await pool.query('SELECT FROM numbers WHERE is_even IS NULL')).rowCount ?? 0,
    batch: async (_db, position) => {
      if (fails && position === failAt) {
        fails = false
        throw new Error('the process is killed')
      }
      const { rows } = await pool.query<{ n: number }>(
        `UPDATE numbers SET is_even = n % 2 = 0
         WHERE n IN (SELECT n FROM numbers WHERE is_even IS NULL AND n > $1 ORDER BY n LIMIT 10) RETURNING n`,
        [position ?? 0],
      )
      const last = rows.length === 10 ? Math.max(...rows.map(({ n }) => n)) : null
      return { position: last, rows: rows.length }
    },
  }
}

const run = (migration: DataMigration) => runDataMigrations(world.app.ctx, never, [migration])
const progress = async () => (await findDataMigrations(world.app.ctx))[0]
const incomplete = async () => (await world.database.pool.query('SELECT FROM numbers WHERE is_even IS NULL')).rowCount

describe('a data migration', () => {
  it('changes all rows in batches and shows how many', async () => {
    expect(await run(evenNumbers())).toBe(null)
    expect(await incomplete()).toBe(0)
    expect(await progress()).toMatchObject({ name: 'even_numbers', done: 25, total: 25, finished_at: expect.any(Date) })
  })

  it('continues after the last batch that was stored', async () => {
    const migration = evenNumbers(10)
    await expect(run(migration)).rejects.toThrow('killed')
    expect(await progress()).toMatchObject({ position: 10, done: 10, total: 25, finished_at: null })
    await world.database.pool.query('UPDATE numbers SET is_even = NULL WHERE n = 3')
    await run(migration)
    expect(await progress()).toMatchObject({ done: 25, finished_at: expect.any(Date) })
    expect(await incomplete()).toBe(1) // behind the position: the next pass finds it
  })

  it('looks again a day later for rows that an older process has written', async () => {
    const migration = evenNumbers()
    await run(migration)
    await world.database.pool.query('INSERT INTO numbers VALUES (26)')
    await run(migration)
    expect(await incomplete()).toBe(1)
    await world.database.pool.query(`UPDATE data_migrations SET finished_at = finished_at - interval '1 day'`)
    await run(migration)
    expect(await incomplete()).toBe(0)
    expect(await progress()).toMatchObject({ done: 1, total: 1 })
  })
})
