import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../src/lib/bytes/id.js'
import { type ClaimedJob, claimJobs, finishJobs, type PutBack, putJobsBack } from '../../src/storage/jobs/queue.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { FIRST, jobs, nameOf, registerAs, request, SECOND } from './support.js'

let database: TestDatabase

beforeAll(async () => {
  database = await createTestDatabase()
  await registerAs(database, PROCESS)
})

afterAll(() => database.drop())

beforeEach(async () => {
  await database.pool.query('DELETE FROM jobs')
})

const PROCESS = 7
const TASK = { task: 'sync_orders', key: 'one' } as const
const HOUR = "now() + interval '1 hour'"

async function claim(): Promise<ClaimedJob> {
  const wanted = {
    class: 'sync',
    processId: PROCESS,
    after: NIL_UUID,
    since: NIL_UUID,
    places: 4,
    free: 4,
    share: 2,
  } as const
  const { jobs: claimed } = await claimJobs(database, { ...wanted, taken: new Map() })
  expect(claimed).toHaveLength(1)
  return claimed[0] as ClaimedJob
}

const putBack = (job: ClaimedJob, change: Partial<PutBack>) =>
  putJobsBack(database, PROCESS, [
    { job, inMs: 0, attempts: 0, deaths: 0, payload: null, error: null, hasFailed: false, ...change },
  ])

async function isDue(): Promise<boolean> {
  const { rows } = await database.pool.query('SELECT run_at <= now() AS due FROM jobs')
  return rows[0].due
}

describe('a job with a key that is requested while it waits', () => {
  it('stays one job, with its payload', async () => {
    await request(database, FIRST, { ...TASK, name: 'first' })
    await request(database, FIRST, { ...TASK, name: 'second' })
    expect(await jobs(database)).toMatchObject([{ name: 'first', running: false, repeat: false }])
  })

  it('gets the new payload if it is to be replaced', async () => {
    await request(database, FIRST, { ...TASK, name: 'first' })
    await request(database, FIRST, { ...TASK, name: 'second', ifThere: 'replace' })
    expect(await jobs(database)).toMatchObject([{ name: 'second' }])
  })

  it('runs at the earlier of both times', async () => {
    await request(database, FIRST, { ...TASK, runAt: HOUR })
    expect(await isDue()).toBe(false)
    await request(database, FIRST, TASK)
    expect(await isDue()).toBe(true)
    await request(database, FIRST, { ...TASK, runAt: HOUR })
    expect(await isDue()).toBe(true)
  })

  it('is not the one of another organization, task or key', async () => {
    await request(database, FIRST, TASK)
    await request(database, SECOND, TASK)
    await request(database, FIRST, { ...TASK, task: 'sync_templates' })
    await request(database, FIRST, { ...TASK, key: 'two' })
    expect(await jobs(database)).toHaveLength(4)
  })
})

describe('a job with a key that is requested while it runs', () => {
  it('runs once more when it has finished', async () => {
    await request(database, FIRST, { ...TASK, name: 'first' })
    const job = await claim()
    await request(database, FIRST, TASK)
    await request(database, FIRST, TASK)
    expect(await jobs(database)).toMatchObject([{ running: true, repeat: true }])
    expect(await finishJobs(database, PROCESS, [job])).toEqual(new Map([[job.id, true]]))
    expect(await jobs(database)).toMatchObject([{ name: 'first', running: false, repeat: false, attempts: 0 }])
    expect(await finishJobs(database, PROCESS, [await claim()])).toEqual(new Map([[job.id, false]]))
    expect(await jobs(database)).toEqual([])
  })

  it('runs once more at the requested time, with the replaced payload', async () => {
    await request(database, FIRST, { ...TASK, name: 'first' })
    const job = await claim()
    await request(database, FIRST, { ...TASK, name: 'second', ifThere: 'replace', runAt: HOUR })
    await finishJobs(database, PROCESS, [job])
    expect(await isDue()).toBe(false)
    expect(await jobs(database)).toMatchObject([{ name: 'second' }])
  })

  it('starts over instead of continuing', async () => {
    await request(database, FIRST, { ...TASK, name: 'first' })
    const job = await claim()
    await request(database, FIRST, { ...TASK, name: 'second', ifThere: 'replace' })
    await putBack(job, { inMs: 60_000, payload: { name: 'continued' } })
    expect(nameOf((await claim()).payload)).toBe('second')
  })

  it('keeps its back-off if it fails, and is not given up', async () => {
    await request(database, FIRST, TASK)
    let job = await claim()
    await request(database, FIRST, TASK)
    await putBack(job, { inMs: 60_000, attempts: 1, error: 'broken' })
    expect(await isDue()).toBe(false)
    await database.pool.query('UPDATE jobs SET run_at = now()')
    job = await claim()
    await request(database, FIRST, TASK)
    await putBack(job, { attempts: 25, error: 'broken', hasFailed: true })
    expect(await jobs(database)).toMatchObject([{ failed: false, attempts: 0 }])
  })
})

it('a job with a key that has failed for good starts over when it is requested', async () => {
  await request(database, FIRST, { ...TASK, name: 'first' })
  await putBack(await claim(), { attempts: 25, error: 'broken', hasFailed: true })
  expect(await jobs(database)).toMatchObject([{ failed: true, error: 'broken' }])
  await request(database, FIRST, { ...TASK, name: 'second' })
  expect(await jobs(database)).toMatchObject([{ name: 'first', failed: false, attempts: 0, error: null }])
  await claim()
})

it('a job that runs again keeps its payload unless it gets a new one', async () => {
  await request(database, FIRST, { ...TASK, name: 'first' })
  await putBack(await claim(), {})
  const job = await claim()
  expect(job).toMatchObject({ attempts: 1, payload: { name: 'first' } })
  await putBack(job, { payload: { name: 'second' } })
  expect(await claim()).toMatchObject({ attempts: 1, payload: { name: 'second' } })
})
