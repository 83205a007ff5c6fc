import { afterAll, beforeAll, expect, it } from 'vitest'
import { type Database, openDatabase } from '../../../src/database/pool.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { prepareRecipients } from '../../../src/storage/broadcasts/audiences.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

const RECIPIENTS = 20_000
const BATCH = 500
/** After so many runs, PostgreSQL keeps a plan. */
const RUNS_UNTIL_PLANNED = 6

let test: TestDatabase
/** One connection, so that the plan is that of the first runs. */
let database: Database

beforeAll(async () => {
  test = await createTestDatabase()
  database = openDatabase(test.connection, 1, () => undefined)
})

afterAll(async () => {
  await database?.close()
  await test?.drop()
})

/** The rows of recipients that the transaction has read so far. */
async function countRead(): Promise<number> {
  const { rows } = await database.pool.query(
    `SELECT idx_tup_fetch + seq_tup_read AS read FROM pg_stat_xact_user_tables WHERE relname = 'broadcast_recipients'`,
  )
  return Number(rows[0].read)
}

it('preparing a batch reads only its recipients, even if it was planned for an empty table', async () => {
  const organizationId = newId()
  const broadcastId = newId()
  const prepareFrom = (first: number) => {
    const batch = Array.from({ length: BATCH }, (_, index) => ({ n: first + index, contact_id: newId(), reason: null }))
    return prepareRecipients(database, organizationId, broadcastId, batch)
  }
  await database.pool.query('BEGIN')
  for (let run = 0; run < RUNS_UNTIL_PLANNED; run++) await prepareFrom(1)
  await database.pool.query(
    `INSERT INTO broadcast_recipients (organization_id, broadcast_id, campaign_id, n, number, message_id)
     SELECT $1, $2, $2, n, 5511900000000 + n, gen_random_uuid() FROM generate_series(1, $3::int) AS n`,
    [organizationId, broadcastId, RECIPIENTS],
  )
  const before = await countRead()
  await prepareFrom(1_001)
  expect((await countRead()) - before).toBeLessThanOrEqual(4 * BATCH)
  const { rowCount } = await database.pool.query(
    'SELECT FROM broadcast_recipients WHERE broadcast_id = $1 AND skip_reason IS NOT NULL',
    [broadcastId],
  )
  expect(rowCount).toBe(BATCH)
  await database.pool.query('COMMIT')
})
