import { afterAll, beforeAll, expect, it } from 'vitest'
import { countInProgress } from '../../../src/storage/maintenance/moved-tables.js'
import { addJobs, FIRST, registerAs, SECOND } from '../../jobs/support.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

it('the work of a process is in progress until it was removed, even if it seems dead', async () => {
  const { pool } = database
  await registerAs(database, 4711)
  await addJobs(database, FIRST, 'fetch_media', ['waiting', 'claimed'])
  await pool.query(`UPDATE jobs SET process_id = 4711, claimed_at = now() WHERE payload ->> 'name' = 'claimed'`)
  expect(await countInProgress(pool, FIRST)).toBe(1)
  expect(await countInProgress(pool, SECOND)).toBe(0)
  await pool.query('DELETE FROM processes WHERE id = 4711')
  expect(await countInProgress(pool, FIRST)).toBe(0)
})
