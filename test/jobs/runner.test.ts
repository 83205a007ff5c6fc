import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MAX_ATTEMPTS } from '../../src/jobs/places.js'
import { RECURRING_TASKS, untilNextRun } from '../../src/jobs/recurring.js'
import { JOB_CLASSES, JOB_TASKS, type JobTask, type RunJob, type RunningJob } from '../../src/model/jobs.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { drainJobs, makeJobsDue } from '../support/jobs.js'
import {
  addJobs,
  addLaterJobs,
  FIRST,
  gate,
  type JobProcess,
  jobs,
  nameOf,
  request,
  SECOND,
  startProcess,
  withIdleTasks,
} from './support.js'

let database: TestDatabase
let mine: JobProcess

beforeEach(async () => {
  database = await createTestDatabase()
  mine = await startProcess(database)
})

afterEach(async () => {
  await mine.leave()
  await database.drop()
})

const wake = () => mine.ctx.notifications.send({ topic: 'jobs' })
const numbers = (count: number) => Array.from({ length: count }, (_, index) => index)

/** A task that only records the names of its jobs. */
function recorder(): { names: unknown[]; run: RunJob } {
  const names: unknown[] = []
  return { names, run: async ({ payload }) => void names.push(nameOf(payload)) }
}

describe('a runner', () => {
  it('runs the due jobs of every class, and deletes them', async () => {
    const { names, run } = recorder()
    const tasks = Object.keys(JOB_TASKS) as JobTask[]
    const runner = mine.start(Object.fromEntries(tasks.map((task) => [task, run])))
    expect(runner.isRunning()).toBe(true)
    for (const task of tasks) await addJobs(database, FIRST, task, [task])
    wake()
    await expect.poll(() => new Set(names.filter((name) => name !== undefined))).toEqual(new Set(tasks))
    await expect.poll(() => jobs(database)).toEqual([])
    await runner.stop()
    expect(runner.isRunning()).toBe(false)
    await runner.stop()
  })

  it('finds jobs without a notification, and those of another process by its notification', async () => {
    const { names, run } = recorder()
    mine.start({ fetch_media: run })
    await addJobs(database, FIRST, 'fetch_media', ['unannounced'])
    await expect.poll(() => names).toEqual(['unannounced'])
    const other = await startProcess(database)
    await addJobs(database, FIRST, 'fetch_media', ['announced'])
    other.ctx.notifications.send({ topic: 'jobs' })
    await expect.poll(() => names).toEqual(['unannounced', 'announced'])
    await other.leave()
  })

  it("runs an organization's job while another has a thousand due ones", async () => {
    const { names, run } = recorder()
    const { opened, open } = gate()
    const begun: RunningJob[] = []
    await addJobs(database, FIRST, 'fetch_media', numbers(1_000))
    const runner = mine.start({
      fetch_media: async (job) => {
        begun.push(job)
        if (job.organizationId === FIRST) await opened
        else await run(job)
      },
    })
    const { places } = JOB_CLASSES.media
    await expect.poll(() => begun.length).toBe(places / 2)
    await addJobs(database, SECOND, 'fetch_media', ['only'])
    wake()
    await expect.poll(() => names).toEqual(['only'])
    expect(begun).toHaveLength(places / 2 + 1)
    await expect.poll(() => runner.running()).toMatchObject({ media: places / 2 })
    open()
  })

  it('looks once at 600 organizations whose jobs are not due, and then again only when it is woken', async () => {
    await addLaterJobs(database, 600)
    const polled: number[] = []
    const { run } = mine.ctx.database
    mine.ctx.database.run = (statement, values) => {
      if (statement.name === 'jobs.poll') polled.push(0)
      if (statement.name === 'jobs.claim' && values[0] === 'media') polled.push((polled.pop() ?? 0) + 1)
      return run(statement, values)
    }
    mine.start({})
    await expect.poll(() => polled.length, { timeout: 20_000 }).toBeGreaterThan(7)
    // A round takes two claims; the poll before may have woken the class too.
    expect(Math.max(...polled)).toBeLessThanOrEqual(4)
    expect(Math.max(...polled)).toBeGreaterThanOrEqual(2)
  })

  it('runs classes while all places of others are taken', async () => {
    const { names, run } = recorder()
    const { opened, open } = gate()
    for (const id of [FIRST, SECOND]) await addJobs(database, id, 'transcribe_voice_note', numbers(10))
    const runner = mine.start({ transcribe_voice_note: () => opened, fetch_media: run })
    await expect.poll(() => runner.running()).toMatchObject({ transcription: 2 })
    await addJobs(database, FIRST, 'fetch_media', ['quick'])
    wake()
    await expect.poll(() => names).toEqual(['quick'])
    open()
    await expect.poll(() => jobs(database)).toEqual([])
  })

  it('runs a job again when it asks for it, with its new state', async () => {
    const seen: unknown[] = []
    await addJobs(database, FIRST, 'sync_orders', [0])
    mine.start({
      sync_orders: async ({ payload, attempt }) => {
        seen.push([nameOf(payload), attempt])
        const name = Number(nameOf(payload)) + 1
        return name === 3 ? null : { againInMs: name, payload: { name } }
      },
    })
    await expect.poll(() => jobs(database)).toEqual([])
    expect(seen).toEqual([
      [0, 1],
      [1, 1],
      [2, 1],
    ])
  })

  it('runs a job with a key once more if it is requested meanwhile, and never twice at the same time', async () => {
    const { opened, open } = gate()
    let running = 0
    const seen: number[] = []
    await request(database, FIRST, { task: 'sync_orders', key: 'one' })
    mine.start({
      sync_orders: async () => {
        seen.push(++running)
        await opened
        running--
      },
    })
    await expect.poll(() => seen).toEqual([1])
    await request(database, FIRST, { task: 'sync_orders', key: 'one' })
    wake()
    open()
    await expect.poll(() => seen).toEqual([1, 1])
    await expect.poll(() => jobs(database)).toEqual([])
  })

  it('puts a failed job off, with its reason, and gives it up after the last attempt', async () => {
    await addJobs(database, FIRST, 'remove_media', ['bad', 'good'])
    const { names, run } = recorder()
    mine.start({
      remove_media: async (job) => {
        if (nameOf(job.payload) === 'bad') throw new Error(`bad\0 ${'x'.repeat(1_000)}`)
        await run(job)
      },
    })
    const text = `bad\u{FFFD} ${'x'.repeat(495)}`
    const failed = { name: 'bad', running: false, repeat: false, error: text }
    await expect.poll(() => jobs(database)).toEqual([{ ...failed, attempts: 1, failed: false }])
    expect(names).toEqual(['good'])
    const { rows } = await database.pool.query(
      `SELECT run_at > now() + interval '1 second' AS later FROM jobs WHERE payload ->> 'name' = 'bad'`,
    )
    expect(rows).toEqual([{ later: true }])
    await database.pool.query(`UPDATE jobs SET attempts = $1, run_at = now() WHERE task = 'remove_media'`, [
      MAX_ATTEMPTS - 1,
    ])
    wake()
    await expect.poll(() => jobs(database)).toEqual([{ ...failed, attempts: MAX_ATTEMPTS, failed: true }])
  })

  it('never gives up a recurring task', async () => {
    let runs = 0
    const runner = mine.start({
      roll_up_counts: async () => {
        runs++
        throw new Error('broken')
      },
    })
    await expect.poll(() => runs).toBe(1)
    await database.pool.query(`UPDATE jobs SET attempts = 100, run_at = now() WHERE task = 'roll_up_counts'`)
    wake()
    await expect.poll(() => runs).toBe(2)
    await runner.stop()
    const { rows } = await database.pool.query(
      `SELECT failed_at, run_at <= now() + interval '1 minute' AS soon FROM jobs WHERE task = 'roll_up_counts'`,
    )
    expect(rows).toEqual([{ failed_at: null, soon: true }])
  })

  it('gives an interrupted job back when it stops, without counting the attempt', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['listens', 'does not listen'])
    let begun = 0
    const runner = mine.start({
      fetch_media: ({ payload, signal }) => {
        begun++
        if (nameOf(payload) === 'does not listen') return new Promise<null>(() => undefined)
        return new Promise<null>((_, reject) => signal.addEventListener('abort', () => reject(signal.reason)))
      },
    })
    await expect.poll(() => begun).toBe(2)
    await runner.stop()
    const returned = { attempts: 0, running: false, error: null }
    expect(await jobs(database)).toMatchObject([returned, returned])
  })

  it('reports a job again until that succeeds, without running it again', async () => {
    await database.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
       CREATE TRIGGER refuse BEFORE DELETE ON jobs EXECUTE FUNCTION refuse()`,
    )
    const { names, run } = recorder()
    mine.start({ fetch_media: run })
    await addJobs(database, FIRST, 'fetch_media', ['once'])
    wake()
    await expect.poll(() => names).toEqual(['once'])
    await database.pool.query('DROP FUNCTION refuse CASCADE')
    await expect.poll(() => jobs(database)).toEqual([])
    expect(names).toEqual(['once'])
  })

  it('continues after all its connections broke', async () => {
    const { names, run } = recorder()
    mine.start({ fetch_media: run })
    await addJobs(database, FIRST, 'fetch_media', ['before'])
    await expect.poll(() => names).toEqual(['before'])
    for (let round = 0; round < 3; round++) {
      await database.pool.query(
        `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
         WHERE datname = current_database() AND pid <> pg_backend_pid()`,
      )
      await addJobs(database, FIRST, 'fetch_media', [round])
      await expect.poll(() => new Set(names)).toContain(round)
    }
    await expect.poll(() => jobs(database)).toEqual([])
  })
})

describe('the jobs of a process that died', () => {
  it('run in another one', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['left'])
    await database.pool.query('UPDATE jobs SET process_id = 4711, claimed_at = now(), attempts = 1')
    const seen: unknown[] = []
    mine.start({
      fetch_media: async ({ payload, attempt, isAlone }) => void seen.push([nameOf(payload), attempt, isAlone]),
    })
    await expect.poll(() => seen).toEqual([['left', 2, true]])
    await expect.poll(() => jobs(database)).toEqual([])
  })

  it('run one after the other, and as usual when they have ended a slice', async () => {
    await addJobs(database, FIRST, 'fetch_media', ['a', 'b', 'c'])
    await database.pool.query('UPDATE jobs SET process_id = 4711, claimed_at = now(), attempts = 1')
    let running = 0
    const seen: unknown[] = []
    mine.start({
      fetch_media: async ({ payload, isAlone }) => {
        seen.push([nameOf(payload), ++running, isAlone])
        await mine.ctx.database.pool.query('SELECT')
        running--
        return isAlone ? { againInMs: 3_600_000 } : null
      },
    })
    await expect.poll(() => seen, { timeout: 15_000 }).toEqual(['a', 'b', 'c'].map((name) => [name, 1, true]))
    const ended = { running: false, attempts: 0, error: null }
    await expect.poll(() => jobs(database)).toMatchObject([ended, ended, ended])
    await makeJobsDue({ database })
    wake()
    await expect.poll(() => jobs(database)).toEqual([])
    expect(new Set(seen.slice(3).map((job) => (job as unknown[])[2]))).toEqual(new Set([false]))
  }, 30_000)

  it('stay with a process that only lost its connection for a moment', async () => {
    const other = await startProcess(database)
    await addJobs(database, FIRST, 'fetch_media', ['kept'])
    const { opened, open } = gate()
    const begun: unknown[] = []
    const run = async ({ payload }: RunningJob) => {
      begun.push(nameOf(payload))
      await opened
    }
    other.start({ fetch_media: run })
    await expect.poll(() => begun).toEqual(['kept'])
    const runner = mine.start({ fetch_media: run })
    await other.kill()
    const before = await database.pool.query('SELECT attempts FROM jobs WHERE task = $1', ['fetch_media'])
    // Two looks of this process.
    for (let looks = 0; looks < 2; looks++) {
      await addJobs(database, SECOND, 'remove_media', [looks])
      wake()
      await expect.poll(async () => (await jobs(database)).length).toBe(1)
    }
    expect(before.rows).toEqual([{ attempts: 1 }])
    open()
    await expect.poll(() => jobs(database)).toEqual([])
    expect(begun).toEqual(['kept'])
    await runner.stop()
    await other.leave()
  })
})

describe('draining', () => {
  it('runs every due job in order, leaves failed ones for later, and ends when none is due', async () => {
    const { names, run } = recorder()
    await addJobs(database, FIRST, 'fetch_media', [...numbers(100), 'bad'])
    const tasks = withIdleTasks({
      fetch_media: async (job) => {
        if (nameOf(job.payload) === 'bad') throw new Error('that was bad')
        await run(job)
      },
    })
    await drainJobs(mine.ctx, tasks)
    expect(names).toEqual(numbers(100))
    expect(await jobs(database)).toMatchObject([{ attempts: 1, error: 'that was bad' }])
  })
})

describe('recurring tasks', () => {
  it('get one job each, which is put back until its next run', async () => {
    const other = await startProcess(database)
    mine.start({})
    other.start({})
    const recurring = async () => {
      const { rows } = await database.pool.query<{ task: string }>(
        'SELECT task FROM jobs WHERE run_at > now() AND process_id IS NULL ORDER BY task',
      )
      return rows.map(({ task }) => task)
    }
    await expect.poll(recurring).toEqual([...RECURRING_TASKS].sort())
    await other.leave()
  })

  it.each([
    ['expire_outcomes', '2026-03-01T10:00:00.000Z', 60_000],
    ['expire_outcomes', '2026-03-01T10:00:59.999Z', 1],
    ['sync_all_templates', '2026-03-01T10:22:00.000Z', 60_000],
    ['sync_all_templates', '2026-03-01T10:23:00.000Z', 3_600_000],
    ['prune', '2026-03-01T03:16:00.000Z', 60_000],
    ['prune', '2026-03-01T03:18:00.000Z', 86_340_000],
  ] as const)('%s at %s waits %i ms', (task, now, expected) => {
    expect(untilNextRun(task, new Date(now))).toBe(expected)
  })
})

it('a job that has failed for the last time is logged as an error, with only the ids in its payload', async () => {
  const lines: Record<string, unknown>[] = []
  const write = (line: string) => void lines.push(JSON.parse(line))
  const other = await startProcess(database, pino({ level: 'error' }, { write }))
  await database.pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload, attempts)
     VALUES ($1, 'erasure', 'erase_traces', '{"contactId": "a contact", "addresses": ["5511987654321"]}', $2)`,
    [FIRST, MAX_ATTEMPTS - 1],
  )
  other.start({ erase_traces: () => Promise.reject<null>(new Error('it cannot be read')) })
  await expect
    .poll(() => lines)
    .toMatchObject([
      { task: 'erase_traces', organizationId: FIRST, contactId: 'a contact', msg: 'a job failed on its last attempt' },
    ])
  expect(JSON.stringify(lines)).not.toContain('5511987654321')
  await other.leave()
})
