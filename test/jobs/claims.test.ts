import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { NIL_UUID } from '../../src/lib/bytes/id.js'
import { type Claimed, claimJobs, finishJobs, MAX_WALK, pollJobs } from '../../src/storage/jobs/queue.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { makeJobsDue } from '../support/jobs.js'
import { watchPlans } from '../support/plans.js'
import { addJobs, addLaterJobs, FIRST, jobs, nameOf, newOrganizations, registerAs, SECOND } from './support.js'

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

/** One claim of a class with eight places. */
function claim({
  free = 8,
  after = NIL_UUID,
  since = after,
  taken = {},
}: {
  free?: number
  after?: string
  since?: string
  taken?: Record<string, number>
}): Promise<Claimed> {
  const wanted = { class: 'media', processId: PROCESS, after, since, places: 8, free, share: 4 } as const
  return claimJobs(database, { ...wanted, taken: new Map(Object.entries(taken)) })
}

const namesOf = ({ jobs: claimed }: Claimed) => claimed.map(({ payload }) => nameOf(payload))
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

describe('a claim', () => {
  it('takes the jobs of an organization in order, even if the table holds them in another one', async () => {
    await addJobs(database, FIRST, 'fetch_media', numbers(10))
    await database.pool.query(`UPDATE jobs SET run_at = run_at - interval '1 hour' WHERE payload ->> 'name' = '9'`)
    expect(namesOf(await claim({}))).toEqual([9, 0, 1, 2])
  })

  it('gives each organization a turn before one gets another', async () => {
    await addJobs(database, FIRST, 'fetch_media', numbers(1_000))
    await addJobs(database, SECOND, 'fetch_media', ['only'])
    expect(namesOf(await claim({ free: 2 }))).toEqual([0, 'only'])
  })

  it('begins with the organization after the one that was served last, and goes round', async () => {
    const organizations = newOrganizations(5).sort()
    for (const id of organizations) await addJobs(database, id, 'fetch_media', [id, id])
    const turns: string[] = []
    let after = NIL_UUID
    for (let turn = 0; turn < 10; turn++) {
      const claimed = await claim({ free: 1, after })
      turns.push(...claimed.jobs.map(({ organizationId }) => organizationId))
      after = claimed.reached
    }
    expect(turns).toEqual([...organizations, ...organizations])
  })

  it('gives one organization no more than its share, alone or not', async () => {
    await addJobs(database, FIRST, 'fetch_media', numbers(20))
    const alone = await claim({})
    expect(namesOf(alone)).toEqual([0, 1, 2, 3])
    expect(await claim({ free: 4, taken: { [FIRST]: 4 } })).toMatchObject({ jobs: [], hasMore: false })
    expect(namesOf(await claim({ free: 5, taken: { [FIRST]: 3 } }))).toEqual([4])
  })

  it('gives the service itself all places', async () => {
    await addJobs(database, NIL_UUID, 'fetch_media', numbers(20))
    expect(namesOf(await claim({}))).toEqual(numbers(8))
  })

  it('says that there may be more while places are left', async () => {
    await addJobs(database, FIRST, 'fetch_media', numbers(20))
    for (const id of newOrganizations(2)) await addJobs(database, id, 'fetch_media', [0])
    const first = await claim({})
    expect(first).toMatchObject({ hasMore: true })
    expect(first.jobs).toHaveLength(4)
    const second = await claim({ free: 4, taken: { [FIRST]: 2 } })
    expect(namesOf(second)).toEqual([2, 3])
    expect(second.hasMore).toBe(false)
  })

  it('takes nothing for a process that was removed, until it is registered again', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['due'])
    await database.pool.query('DELETE FROM processes WHERE id = $1', [PROCESS])
    const refused = await claim({ after: SECOND })
    await registerAs(database, PROCESS)
    expect(refused).toEqual({ jobs: [], reached: SECOND, hasMore: false })
    expect(namesOf(await claim({}))).toEqual(['due'])
  })

  it('leaves jobs of later, of other classes, claimed and failed ones', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['later', 'claimed', 'failed'])
    await database.pool.query(
      `UPDATE jobs SET run_at = CASE payload ->> 'name' WHEN 'later' THEN now() + interval '1 hour' ELSE run_at END,
         process_id = CASE payload ->> 'name' WHEN 'claimed' THEN 1 END,
         failed_at = CASE payload ->> 'name' WHEN 'failed' THEN now() END`,
    )
    await addJobs(database, FIRST, 'sync_orders', ['other class'])
    expect(namesOf(await claim({}))).toEqual([])
  })

  it('shares the jobs with claims at the same moment', async () => {
    for (const id of newOrganizations(10)) await addJobs(database, id, 'fetch_media', numbers(4))
    const claims = await Promise.all(numbers(10).map(() => claim({})))
    const ids = claims.flatMap(({ jobs: claimed }) => claimed.map(({ id }) => id))
    expect(new Set(ids).size).toBe(ids.length)
  })

  it('goes on after many organizations without due jobs', async () => {
    await addLaterJobs(database, MAX_WALK + 10)
    await addJobs(database, SECOND, 'fetch_media', ['due'])
    const first = await claim({})
    expect(first).toMatchObject({ jobs: [], hasMore: true })
    expect(namesOf(await claim({ after: first.reached, since: NIL_UUID }))).toEqual(['due'])
    const found = await pollJobs(database, PROCESS, [])
    expect(found.due).toContain('media')
  })

  it.each([1, 2])(
    'says that there are no more after a full round without a due job, from organization %i on',
    async (n) => {
      await addLaterJobs(database, MAX_WALK + 10)
      const since = `11111111-1111-7111-8111-${String(n * 250).padStart(12, '0')}`
      const first = await claim({ after: since })
      expect(first).toMatchObject({ jobs: [], hasMore: true })
      const second = await claim({ after: first.reached, since })
      expect(second).toMatchObject({ jobs: [], hasMore: false })
      // A job found meanwhile begins another round.
      await addJobs(database, SECOND, 'fetch_media', ['due'])
      const third = await claim({ after: second.reached })
      expect([...namesOf(first), ...namesOf(second), ...namesOf(third)]).toEqual(['due'])
      expect(third.hasMore).toBe(true)
    },
  )

  it('reads few rows while one organization has 100,000 due jobs', async () => {
    await database.pool.query(
      `INSERT INTO jobs (organization_id, class, task, payload)
       SELECT $1, 'media', 'fetch_media', '{"name": null}' FROM generate_series(1, 100000)`,
      [FIRST],
    )
    await addJobs(database, SECOND, 'fetch_media', ['due'])
    const explain = await watchPlans(database)
    const plans = await explain(async () => {
      expect(namesOf(await claim({ free: 2 }))).toEqual([null, 'due'])
      await pollJobs(database, PROCESS, [])
    })
    expect(plans).toHaveLength(2)
    for (const { rows, nodes } of plans) expect(rows, nodes).toBeLessThan(50)
  })
})

describe('a poll', () => {
  const poll = (knownIds: number[] = []) => pollJobs(database, PROCESS, knownIds)

  it('finds the classes with due jobs, and when the next one becomes due', async () => {
    expect(await poll()).toEqual({ due: [], soonestMs: null, setAside: [] })
    await addJobs(database, FIRST, 'sync_orders', ['later'])
    await database.pool.query(`UPDATE jobs SET run_at = now() + interval '1 hour'`)
    await addJobs(database, SECOND, 'fetch_media', ['due'])
    const found = await poll()
    expect(found.due).toEqual(['media'])
    expect(found.soonestMs).toBeGreaterThan(3_500_000)
  })

  it('frees the jobs of a process that was removed, not of one that seems dead', async () => {
    await registerAs(database, 4711)
    await addJobs(database, FIRST, 'fetch_media', ['of the dead'])
    await database.pool.query('UPDATE jobs SET process_id = 4711, attempts = 1, claimed_at = now()')
    for (let polls = 0; polls < 2; polls++) expect(await poll()).toMatchObject({ due: [], setAside: [] })
    expect(await jobs(database)).toMatchObject([{ running: true }])
    await database.pool.query('DELETE FROM processes WHERE id = 4711')
    expect(await poll()).toMatchObject({ due: [], setAside: [] })
    expect(await jobs(database)).toMatchObject([{ running: false, attempts: 1, failed: false }])
    await makeJobsDue({ database })
    expect(await poll()).toMatchObject({ due: ['alone'] })
  })

  it('frees jobs that the process has claimed without knowing it, and none that it runs', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['running', 'lost'])
    const { jobs: claimed } = await claim({})
    expect(await poll()).toMatchObject({ due: [] })
    await database.pool.query(`UPDATE jobs SET claimed_at = now() - interval '1 minute'`)
    expect(await poll([claimed[0]?.id ?? 0])).toMatchObject({ due: ['media'] })
    expect(await jobs(database)).toMatchObject([
      { name: 'running', running: true },
      { name: 'lost', running: false },
    ])
  })
})

it('a job that another process has taken over is not finished by the first one', async () => {
  await addJobs(database, FIRST, 'fetch_media', ['taken over'])
  const { jobs: claimed } = await claim({})
  await database.pool.query('UPDATE jobs SET process_id = NULL')
  const again = await claim({})
  expect(await finishJobs(database, PROCESS, claimed)).toEqual(new Map())
  expect(await finishJobs(database, PROCESS + 1, again.jobs)).toEqual(new Map())
  expect(await jobs(database)).toMatchObject([{ attempts: 2, running: true }])
  expect(await finishJobs(database, PROCESS, again.jobs)).toEqual(new Map([[again.jobs[0]?.id, false]]))
  expect(await jobs(database)).toEqual([])
})

it('a job of another organization with the same id is not finished', async () => {
  await addJobs(database, FIRST, 'fetch_media', ['of the first'])
  const { jobs: claimed } = await claim({})
  await finishJobs(
    database,
    PROCESS,
    claimed.map((job) => ({ ...job, organizationId: SECOND })),
  )
  expect(await jobs(database)).toHaveLength(1)
})
