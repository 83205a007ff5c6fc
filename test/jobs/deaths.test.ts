import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { LAST_UUID, NIL_UUID } from '../../src/lib/bytes/id.js'
import { JOB_CLASSES, type JobClassName, type JobTask } from '../../src/model/jobs.js'
import { listFailedJobs, retryFailedJobs } from '../../src/storage/jobs/failed.js'
import {
  type ClaimedJob,
  claimJobs,
  finishJobs,
  type PutBack,
  pollJobs,
  putJobsBack,
} from '../../src/storage/jobs/queue.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { makeJobsDue } from '../support/jobs.js'
import { addJobs, FIRST, jobs, nameOf, registerAs, request, SECOND } from './support.js'

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
const OTHER_PROCESS = 8
/** The server's time before and after the last death, in ms. */
let died = { from: 0, to: 0 }
const TASK = { task: 'sync_orders', key: 'one' } as const

/** What a process with all places of a class free gets. */
async function claim(name: JobClassName): Promise<ClaimedJob[]> {
  const { places } = JOB_CLASSES[name]
  const ids = { class: name, processId: PROCESS, after: NIL_UUID, since: LAST_UUID }
  const share = Math.max(1, Math.floor(places / 2))
  const claimed = await claimJobs(database, { ...ids, places, free: places, share, taken: new Map() })
  return claimed.jobs
}

/** The process that has claimed the jobs is found dead and removed. Then another one has its id. */
async function die() {
  await database.pool.query('DELETE FROM processes WHERE id = $1', [PROCESS])
  const from = await serverTime()
  const found = await pollJobs(database, OTHER_PROCESS, [])
  died = { from, to: await serverTime() }
  await registerAs(database, PROCESS)
  return found
}

async function serverTime(): Promise<number> {
  const { rows } = await database.pool.query('SELECT extract(epoch FROM clock_timestamp())::float8 * 1000 AS now')
  return rows[0].now
}

/** All jobs run again so many ms after the last death. */
async function expectWait(ms: number): Promise<void> {
  const { rows } = await database.pool.query('SELECT extract(epoch FROM run_at)::float8 * 1000 AS due FROM jobs')
  for (const { due } of rows) {
    expect(due - ms).toBeGreaterThanOrEqual(died.from - 1)
    expect(due - ms).toBeLessThanOrEqual(died.to + 1)
  }
}

async function stateOf(task: JobTask) {
  const { rows } = await database.pool.query(
    'SELECT class, deaths, attempts, failed_at IS NOT NULL AS failed, error FROM jobs WHERE task = $1 ORDER BY id',
    [task],
  )
  return rows
}

/** Runs the job, and lets its process die, so many times in a row. */
async function dieWith(first: JobClassName, times: number): Promise<void> {
  for (let n = 0; n < times; n++) {
    await makeJobsDue({ database })
    expect(await claim(n === 0 ? first : 'alone')).toHaveLength(1)
    await die()
  }
}

const put = (job: ClaimedJob, change: Partial<PutBack> = {}) =>
  putJobsBack(database, PROCESS, [
    { job, inMs: 0, attempts: 0, deaths: 0, payload: null, error: null, hasFailed: false, ...change },
  ])

describe('a job whose process died', () => {
  it('waits for its back-off, and then runs alone', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['one', 'two'])
    await addJobs(database, SECOND, 'fetch_media', ['three'])
    expect(await claim('media')).toHaveLength(3)
    expect(await die()).toMatchObject({ due: [], setAside: [] })
    await expectWait(2_718)
    await makeJobsDue({ database })
    expect(await claim('media')).toEqual([])
    expect((await claim('alone')).map(({ payload, deaths }) => [nameOf(payload), deaths])).toEqual([['one', 1]])
  })

  it('is set aside, with the reason, if the next one dies with it, and takes no other along', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['deadly', 'harmless'])
    await addJobs(database, SECOND, 'fetch_media', ['harmless'])
    await claim('media')
    await die()
    await makeJobsDue({ database })
    const [deadly] = await claim('alone')
    const aside = { organizationId: FIRST, task: 'fetch_media', jobId: deadly?.id }
    expect(await die()).toMatchObject({ setAside: [aside] })
    expect(await listFailedJobs(database, SECOND, 10)).toEqual([])
    expect(await listFailedJobs(database, FIRST, 10)).toMatchObject([
      { id: String(deadly?.id), task: 'fetch_media', attempts: 2, error: 'its process died twice' },
    ])
    await makeJobsDue({ database })
    for (const organizationId of [FIRST, SECOND]) {
      const [harmless] = await claim('alone')
      expect(harmless).toMatchObject({ organizationId, payload: { name: 'harmless' } })
      await finishJobs(database, PROCESS, [harmless as ClaimedJob])
    }
    expect(await claim('alone')).toEqual([])
  })

  it('is repeated later and later, without being asked', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['deadly'])
    await dieWith('media', 2)
    for (const [index, seconds] of [60, 300, 1_500, 7_500, 22_026, 22_026].entries()) {
      await expectWait(seconds * 1_000)
      expect(await pollJobs(database, OTHER_PROCESS, [])).toMatchObject({ due: [] })
      expect(await stateOf('fetch_media')).toMatchObject([{ failed: true }])
      await database.pool.query('UPDATE jobs SET run_at = now()')
      expect(await pollJobs(database, OTHER_PROCESS, [])).toMatchObject({ due: ['alone'] })
      await dieWith('alone', 1)
      expect(await stateOf('fetch_media')).toMatchObject([
        { failed: true, error: `its process died ${index + 3} times` },
      ])
    }
  })

  it('runs again at once if it is retried, and is set aside again after the next death', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['deadly'])
    await dieWith('media', 2)
    expect(await retryFailedJobs(database, SECOND, null)).toEqual([])
    expect(await retryFailedJobs(database, FIRST, null)).toHaveLength(1)
    expect(await claim('alone')).toHaveLength(1)
    expect(await die()).toMatchObject({ setAside: [{ organizationId: FIRST }] })
  })

  it('counts as usual again when it has ended a slice, or has failed', async () => {
    await request(database, FIRST, TASK)
    for (const change of [{}, { attempts: 2, error: 'refused' }]) {
      await dieWith('sync', 1)
      await makeJobsDue({ database })
      const [job] = await claim('alone')
      await put(job as ClaimedJob, change)
      expect(await stateOf('sync_orders')).toMatchObject([{ class: 'sync', deaths: 0, failed: false }])
    }
    await dieWith('sync', 1)
    await makeJobsDue({ database })
    const [job] = await claim('alone')
    await request(database, FIRST, TASK)
    await finishJobs(database, PROCESS, [job as ClaimedJob])
    expect(await stateOf('sync_orders')).toMatchObject([{ class: 'sync', deaths: 0, attempts: 0, failed: false }])
  })

  it('stays suspected if a shutdown interrupts it', async () => {
    await request(database, FIRST, TASK)
    await dieWith('sync', 1)
    await makeJobsDue({ database })
    const [job] = await claim('alone')
    await put(job as ClaimedJob, { attempts: 1, deaths: 1 })
    expect(await stateOf('sync_orders')).toMatchObject([{ class: 'alone', deaths: 1, attempts: 1, failed: false }])
  })

  it('does not run sooner because it is requested again', async () => {
    await request(database, FIRST, TASK)
    await dieWith('sync', 1)
    await request(database, FIRST, TASK)
    await expectWait(2_718)
    await dieWith('alone', 1)
    await request(database, FIRST, TASK)
    await expectWait(60_000)
    expect(await stateOf('sync_orders')).toMatchObject([{ failed: true, error: 'its process died twice' }])
  })
})

it('a recurring job whose processes die waits longer and longer, and is never set aside', async () => {
  await addJobs(database, NIL_UUID, 'roll_up_counts', ['deadly'])
  for (let n = 1; n <= 12; n++) {
    await makeJobsDue({ database })
    expect(await claim('maintenance')).toHaveLength(1)
    expect(await die()).toMatchObject({ setAside: [] })
    await expectWait(Math.min(22_026_000, 2_718 * Math.exp(n - 1)))
  }
  await database.pool.query('UPDATE jobs SET attempts = 100000')
  await makeJobsDue({ database })
  await claim('maintenance')
  await die()
  expect(await stateOf('roll_up_counts')).toMatchObject([{ class: 'maintenance', failed: false }])
})

it('the end of a slice counts only for the claim that began it, also in the same process', async () => {
  await addJobs(database, FIRST, 'fetch_media', ['sliced'])
  const [first] = (await claim('media')) as [ClaimedJob]
  await put(first)
  const [second] = (await claim('media')) as [ClaimedJob]
  expect([second.id, second.attempts]).toEqual([first.id, first.attempts])
  expect(await finishJobs(database, PROCESS, [first])).toEqual(new Map())
  expect(await put(first, { inMs: 1_000 })).toEqual(new Map())
  expect(await jobs(database)).toMatchObject([{ running: true }])
  expect(await finishJobs(database, PROCESS, [second])).toEqual(new Map([[second.id, false]]))
})
