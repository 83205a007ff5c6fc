import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { registerThisProcess } from '../../src/core/runtime/process-registry.js'
import { newId } from '../../src/lib/bytes/id.js'
import { carryOverJobs } from '../../src/storage/jobs/queue.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { FIRST, SECOND, startProcess } from './support.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
})

afterAll(() => database.drop())

/** The columns that older versions use. */
const OLD_TABLES = `
  CREATE SCHEMA graphile_worker;
  CREATE TABLE graphile_worker._private_tasks (id integer GENERATED ALWAYS AS IDENTITY PRIMARY KEY, identifier text UNIQUE);
  CREATE TABLE graphile_worker._private_jobs (
    id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY, task_id integer NOT NULL, payload json NOT NULL DEFAULT '{}',
    run_at timestamptz NOT NULL DEFAULT now(), attempts smallint NOT NULL DEFAULT 0, max_attempts smallint NOT NULL DEFAULT 25,
    last_error text, created_at timestamptz NOT NULL DEFAULT now(), key text UNIQUE, locked_at timestamptz, locked_by text
  )`

async function addOld(task: string, payload: object, columns: Record<string, unknown> = {}): Promise<void> {
  const { attempts = 0, last_error = null, locked_by = null } = columns
  await database.pool.query(
    `WITH task AS (
       INSERT INTO graphile_worker._private_tasks (identifier) VALUES ($1)
       ON CONFLICT (identifier) DO UPDATE SET identifier = $1 RETURNING id
     )
     INSERT INTO graphile_worker._private_jobs (task_id, payload, attempts, last_error, locked_by)
     SELECT id, $2, $3, $4, $5 FROM task`,
    [task, payload, attempts, last_error, locked_by],
  )
}

async function carried() {
  const { rows } = await database.pool.query(
    `SELECT organization_id, class, task, key, payload, attempts, failed_at IS NOT NULL AS failed, error FROM jobs
     ORDER BY organization_id, task, key, id`,
  )
  return rows
}

describe('jobs of an older version', () => {
  it('are none in a new database', async () => {
    expect(await carryOverJobs(database)).toBe(0)
  })

  it('are carried over with their organization, key, attempts and failure', async () => {
    await database.pool.query(OLD_TABLES)
    const file = { organizationId: FIRST, messageId: 'm' }
    const shard = { organizationId: FIRST, broadcastId: 'b', lane: 2, after: 7 }
    await addOld('fetch_media', file, { attempts: 3, last_error: 'gone' })
    await addOld('fetch_media', { ...file, messageId: 'n' }, { attempts: 25, last_error: 'x'.repeat(600) })
    await addOld('send_broadcast', { ...shard, generation: 1 })
    await addOld('send_broadcast', { ...shard, generation: 2 })
    await addOld('sweep_organization', { organizationId: SECOND })
    await addOld('sync_orders', { organizationId: SECOND })
    await addOld('sync_orders', { organizationId: SECOND })
    await addOld('settle_outcomes', {})
    expect(await carryOverJobs(database)).toBe(8)
    const base = { attempts: 0, failed: false, error: null, key: null }
    expect(await carried()).toEqual([
      {
        ...base,
        ...{ organization_id: FIRST, class: 'media', task: 'fetch_media', payload: { messageId: 'm' } },
        ...{ attempts: 3, error: 'gone' },
      },
      {
        ...base,
        ...{ organization_id: FIRST, class: 'media', task: 'fetch_media', payload: { messageId: 'n' } },
        ...{ attempts: 25, failed: true, error: 'x'.repeat(500) },
      },
      {
        ...base,
        ...{ organization_id: FIRST, class: 'broadcasts', task: 'send_broadcast', key: 'b 2' },
        payload: { broadcastId: 'b', lane: 2, lanes: 4, after: 7, generation: 2 },
      },
      {
        ...base,
        ...{ organization_id: SECOND, class: 'erasure', task: 'delete_organization', key: 'all' },
        payload: { isLast: true },
      },
      { ...base, organization_id: SECOND, class: 'sync', task: 'sync_orders', key: 'all', payload: {} },
    ])
    expect(await carryOverJobs(database)).toBe(0)
  })

  it('of callbacks make them wait, or list them as failed', async () => {
    const [waiting, failed] = [newId(), newId()] as const
    const insert = `INSERT INTO callbacks (organization_id, id, body) SELECT $1, id, '' FROM unnest($2::uuid[]) AS given (id)`
    await database.pool.query(insert, [FIRST, [waiting, failed]])
    await addOld('receive_callback', { organizationId: FIRST, callbackId: waiting }, { attempts: 2 })
    await addOld('receive_callback', { organizationId: FIRST, callbackId: failed }, { attempts: 25, last_error: 'why' })
    await addOld('receive_callback', { organizationId: FIRST, callbackId: newId() })
    expect(await carryOverJobs(database)).toBe(3)
    const { rows } = await database.pool.query('SELECT id FROM callbacks WHERE organization_id = $1 AND waiting', [
      FIRST,
    ])
    expect(rows).toEqual([{ id: waiting }])
    const listed = await database.pool.query(
      'SELECT callback_id, attempts, error FROM set_aside_callbacks WHERE organization_id = $1 AND failed_at IS NOT NULL',
      [FIRST],
    )
    expect(listed.rows).toEqual([{ callback_id: failed, attempts: 25, error: 'why' }])
  })

  it('stay with a living process that runs them, and come over when it has died', async () => {
    await database.pool.query('DELETE FROM jobs')
    const older = await startProcess(database)
    const registration = await registerThisProcess(older.ctx.database, older.ctx.log)
    await older.ctx.database.pool.query('UPDATE processes SET worker_ids = $2 WHERE id = $1', [
      registration.processId,
      ['worker-of-the-living'],
    ])
    await addOld('fetch_media', { organizationId: FIRST, messageId: 'm' }, { locked_by: 'worker-of-the-living' })
    await addOld('fetch_media', { organizationId: FIRST, messageId: 'n' }, { locked_by: 'worker-of-the-dead' })
    expect(await carryOverJobs(database)).toBe(1)
    expect(await carried()).toMatchObject([{ payload: { messageId: 'n' } }])
    await registration.leave()
    await expect.poll(() => carryOverJobs(database)).toBe(1)
    await older.leave()
  })
})
