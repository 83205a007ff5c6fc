import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run, useFolder } from '../../support/cli.js'
import { jobRows } from '../../support/rows/jobs.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const folder = useFolder()
const world = useWorld()
let env: Record<string, string>
let one: TestOrganization
let other: TestOrganization

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_DATA_DIR: folder.path }
  one = await world.createOrganization()
  other = await world.createOrganization()
})

beforeEach(async () => {
  await world.database.pool.query('DELETE FROM jobs')
  await world.database.pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload, attempts, failed_at, error)
     SELECT id, 'erasure', 'remove_media', '{"mediaIds": []}', 25, '2026-01-02T03:04:05Z', 'the disk is full'
     FROM unnest($1::uuid[]) AS id`,
    [[one.id, other.id, other.id]],
  )
})

const work = (...args: string[]) => run(['work', ...args], env)

async function idsOf({ id }: TestOrganization): Promise<string[]> {
  return (await jobRows(world, { organization_id: id })).map((job) => String(job.id))
}

const failed = async () => Number((await work('list', '--json')).json().length)

describe('work list', () => {
  it('prints the failed jobs of all organizations, or of one, with the reason', async () => {
    const listed = await work('list', '--org', one.slug)
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.out.split('\n')[1]?.split(/ {2,}/)).toEqual([
      ...(await idsOf(one)),
      one.slug,
      'remove_media',
      '25',
      '2026-01-02T03:04:05.000Z',
      'the disk is full',
    ])
    expect(await failed()).toBe(3)
  })
})

describe('work retry', () => {
  it('runs the named jobs again, and no others', async () => {
    const [first = ''] = await idsOf(other)
    expect(await work('retry', first)).toMatchObject({ code: 0, out: '1 will be retried\n' })
    expect(await failed()).toBe(2)
    await world.drain()
    expect(await idsOf(other)).toHaveLength(1)
  })

  it('runs all of one organization again', async () => {
    expect((await work('retry', '--all', '--org', other.slug)).code).toBe(0)
    await world.drain()
    expect(await idsOf(other)).toEqual([])
    expect(await idsOf(one)).toHaveLength(1)
  })

  it('refuses ids of other organizations, unknown ones, and neither ids nor --all', async () => {
    const [foreign = ''] = await idsOf(other)
    expect(await work('retry', foreign, '--org', one.slug)).toMatchObject({
      code: 2,
      err: expect.stringContaining(`Nothing that failed has the id ${foreign} in ${one.slug}`),
    })
    expect(await work('retry', '999999999')).toMatchObject({ code: 2 })
    expect(await work('retry', 'x')).toMatchObject({ code: 2 })
    expect(await work('retry')).toMatchObject({ code: 2, err: expect.stringContaining('--all') })
    expect(await failed()).toBe(3)
  })
})

describe('a failed callback', () => {
  it('is listed with its organization, and retried by its id', async () => {
    const { rows } = await world.database.pool.query<{ id: string }>(
      `WITH stored AS (
         INSERT INTO callbacks (organization_id, id, body) VALUES ($1, gen_random_uuid(), '{}') RETURNING organization_id, id
       )
       INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, error, failed_at)
       SELECT organization_id, id, '{}', 8, now(), 'no contact', now() FROM stored
       RETURNING callback_id AS id`,
      [one.id],
    )
    const id = rows[0]?.id as string
    expect((await work('list', '--json', '--org', one.slug)).json()).toMatchObject([
      { id, organization: one.slug, task: 'callback', attempts: 8, error: 'no contact' },
      { task: 'remove_media' },
    ])
    expect((await work('list', '--json', '--org', other.slug)).json()).toHaveLength(2)
    expect((await work('retry', id, '--org', other.slug)).code).toBe(2)
    expect(await work('retry', id)).toMatchObject({ code: 0, out: '1 will be retried\n' })
    await world.drain()
    expect((await work('list', '--json', '--org', one.slug)).json()).toMatchObject([{ task: 'remove_media' }])
  })
})

describe('work queues', () => {
  it('prints for which organizations most waits, the longest queue first', async () => {
    await world.database.pool.query(
      `INSERT INTO jobs (organization_id, class, task, payload, run_at)
       SELECT id, 'erasure', 'remove_media', '{"mediaIds": []}', now() - interval '1 hour' FROM unnest($1::uuid[]) AS id`,
      [[one.id, other.id, other.id]],
    )
    const listed = await work('queues', '--json')
    const rows = listed.json().filter(({ queue }: { queue: string }) => queue === 'jobs')
    const ofTheirs = rows.filter((row: { organization: string | null }) => row.organization !== null)
    expect(ofTheirs.map((row: Record<string, unknown>) => [row.organization, row.waiting])).toEqual([
      [other.slug, 2],
      [one.slug, 1],
    ])
    expect(ofTheirs[0].oldest_seconds).toBeGreaterThanOrEqual(3_600)
    expect((await work('queues')).out).toContain(other.slug)
    const { body } = await world.request('GET', '/metrics')
    expect(body).toMatch(/^parley_queue_longest\{queue="jobs"\} 2$/m)
    expect(body).not.toContain(other.slug)
  })
})

it('the metrics count due and failed jobs', async () => {
  await world.database.pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload) VALUES ($1, 'media', 'fetch_media', '{"messageId": "${one.id}"}')`,
    [one.id],
  )
  const { body } = await world.request('GET', '/metrics')
  expect(body).toMatch(/^parley_jobs_due\{class="media"\} 1$/m)
  expect(body).toMatch(/^parley_jobs_failed\{class="erasure"\} 3$/m)
  expect(body).toMatch(/^parley_jobs_oldest_seconds\{class="media"\} \d/m)
  expect(body).toMatch(/^parley_jobs_oldest_seconds\{class="erasure"\} 0$/m)
  expect(body).toMatch(/^parley_jobs_running\{class="media"\} 0$/m)
})
