import type { JobHelpers } from 'graphile-worker'
import { pino } from 'pino'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { openDatabase } from '../../src/database/pool.js'
import { CRONTAB, TASK_NAMES, WORKER_POOLS } from '../../src/jobs/tasks.js'
import { createWake } from '../../src/jobs/wake.js'
import { drainJobs, startWorker, unlockJobs } from '../../src/jobs/worker.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { startProxy } from '../support/proxy.js'

const log = pino({ level: 'silent' })

const RECURRING = CRONTAB.split('\n').map((line) => line.split(' ').at(-1))

let database: TestDatabase

beforeEach(async () => {
  database = await createTestDatabase()
})

afterEach(async () => {
  vi.useRealTimers()
  await database.drop()
})

/** Inserts jobs as the service's statements do: without a notification. */
async function insertJobs(payloads: unknown[], task = 'receive_callback'): Promise<void> {
  await database.pool.query(
    `INSERT INTO graphile_worker._private_jobs (task_id, payload)
     SELECT t.id, given.payload
     FROM unnest($1::json[]) WITH ORDINALITY AS given (payload, place), graphile_worker._private_tasks t
     WHERE t.identifier = $2 ORDER BY place`,
    [payloads.map((payload) => JSON.stringify(payload)), task],
  )
}

/**
 * The same in a used table: the first job is stored behind the others, and such a small table is scanned in physical
 * order.
 */
async function insertJobsBackwards(first: unknown, others: unknown[]): Promise<void> {
  await insertJobs(Array.from({ length: 30 }, () => 'before'))
  await drainJobs(database, { receive_callback: async () => undefined }, log)
  await insertJobs([first])
  // Frees the space of finished jobs.
  await database.pool.query('VACUUM ANALYZE graphile_worker._private_jobs')
  await insertJobs(others)
}

/** The jobs inserted by a test: a new minute also adds its recurring ones. */
async function jobs(): Promise<{ attempts: number; last_error: string | null; locked: boolean }[]> {
  const { rows } = await database.pool.query(
    `SELECT j.attempts, j.last_error, j.locked_by IS NOT NULL AS locked
     FROM graphile_worker._private_jobs j JOIN graphile_worker._private_tasks t ON t.id = j.task_id
     WHERE t.identifier <> ALL ($1) ORDER BY j.id`,
    [RECURRING],
  )
  return rows
}

/** The backends that wait for rows locked by another transaction. */
async function waitingForRows(): Promise<number[]> {
  const { rows } = await database.pool.query<{ pid: number }>(
    'SELECT pid FROM pg_stat_activity WHERE datname = current_database() AND cardinality(pg_blocking_pids(pid)) > 0',
  )
  return rows.map(({ pid }) => pid)
}

/** A promise that the test resolves. */
function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

/** A task that only records its jobs. */
function recordPayloads() {
  const payloads: unknown[] = []
  const receive_callback = async (payload: unknown) => {
    payloads.push(payload)
  }
  return { payloads, tasks: { receive_callback } }
}

describe('draining', () => {
  it('runs every due job once in order, and ends when all have ended', async () => {
    const begun: unknown[] = []
    let ended = 0
    const tasks = {
      receive_callback: async (payload: unknown) => {
        begun.push(payload)
        await new Promise((resolve) => setImmediate(resolve))
        ended++
      },
    }
    const payloads = Array.from({ length: 500 }, (_, index) => ({ index }))
    await insertJobs(payloads)
    await drainJobs(database, tasks, log)
    expect(begun).toEqual(payloads)
    expect(ended).toBe(500)
    expect(await jobs()).toEqual([])
  })

  it('takes jobs in order even if the table holds them in another one', async () => {
    const { tasks, payloads: begun } = recordPayloads()
    await insertJobsBackwards('first', ['second', 'third', 'fourth'])
    await drainJobs(database, tasks, log)
    expect(begun).toEqual(['first', 'second', 'third', 'fourth'])
  })

  it('leaves a failed job for later, with its reason, and runs the others', async () => {
    const done: unknown[] = []
    const tasks = {
      receive_callback: async (payload: unknown) => {
        if (payload === 'bad') throw new Error('that was bad')
        done.push(payload)
      },
    }
    await insertJobs(['a', 'bad', 'b'])
    await drainJobs(database, tasks, log)
    expect(done.sort()).toEqual(['a', 'b'])
    expect(await jobs()).toEqual([{ attempts: 1, last_error: expect.stringContaining('that was bad'), locked: false }])
  })
})

describe('a worker', () => {
  it('runs jobs that it is notified of, and returns none that it has started', async () => {
    const { tasks, payloads: done } = recordPayloads()
    const ids: string[] = []
    const worker = await startWorker(database, tasks, log, async (id) => {
      ids.push(id)
    })
    expect(worker.isRunning()).toBe(true)
    expect(ids).toEqual(Array.from({ length: 1 + WORKER_POOLS.length }, () => expect.stringMatching(/./)))
    await insertJobs([1, 2, 3])
    createWake(database, log)()
    await expect.poll(() => done.length).toBe(3)
    await worker.stop()
    expect(worker.isRunning()).toBe(false)
    expect(await jobs()).toEqual([])
    await worker.stop()
  })

  it('runs the jobs of every pool without a notification', async () => {
    const { tasks, payloads: done } = recordPayloads()
    const slow = WORKER_POOLS.map((line) => line.tasks[0] as string)
    const lines = Object.fromEntries(slow.map((task) => [task, tasks.receive_callback]))
    const worker = await startWorker(database, { ...tasks, ...lines }, log, async () => undefined)
    for (const task of ['receive_callback', ...slow]) await insertJobs([task], task)
    await expect.poll(() => done.length, { timeout: 10_000 }).toBe(1 + slow.length)
    await worker.stop()
  })

  it('reports the ids under which it locks jobs before it locks the first', async () => {
    const told: string[] = []
    const lockers: unknown[] = []
    const tasks = {
      receive_callback: async (_payload: unknown, { job }: JobHelpers) => {
        lockers.push(told.includes(String(job.locked_by)))
      },
    }
    await insertJobs([1, 2])
    const worker = await startWorker(database, tasks, log, async (id) => {
      // Long enough for an early worker to have started.
      for (let pause = 0; pause < 50; pause++) await database.pool.query('SELECT')
      told.push(id)
    })
    await expect.poll(() => lockers).toEqual([true, true])
    await worker.stop()
  })

  it('takes jobs in order even if the table holds them in another one', async () => {
    const { tasks, payloads: begun } = recordPayloads()
    await insertJobsBackwards('first', ['second', 'third', 'fourth'])
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await expect.poll(() => begun.length).toBe(4)
    await worker.stop()
    expect(begun).toEqual(['first', 'second', 'third', 'fourth'])
  })

  it('runs quick jobs while all slots for slow ones are taken', async () => {
    const quick: unknown[] = []
    const begun: unknown[] = []
    const { opened: released, open: release } = gate()
    const tasks = {
      receive_callback: async (payload: unknown) => {
        quick.push(payload)
      },
      fetch_media: async (payload: unknown) => {
        begun.push(payload)
        await released
      },
    }
    await insertJobs([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'fetch_media')
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await expect.poll(() => begun.length).toBe(8)
    await insertJobs(['a', 'b'])
    createWake(database, log)()
    await expect.poll(() => quick.length).toBe(2)
    expect(begun).toHaveLength(8)
    release()
    await expect.poll(() => begun.length).toBe(10)
    await worker.stop()
    expect(await jobs()).toEqual([])
  })

  it('fetches files while voice notes wait for a hanging service', async () => {
    const fetched: unknown[] = []
    const { opened: released, open: release } = gate()
    const tasks = {
      transcribe_voice_note: () => released,
      fetch_media: async (payload: unknown) => {
        fetched.push(payload)
      },
    }
    await insertJobs([1, 2, 3, 4, 5, 6, 7, 8, 9, 10], 'transcribe_voice_note')
    await insertJobs(['a', 'b'], 'fetch_media')
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await expect.poll(() => fetched.length).toBe(2)
    release()
    await expect.poll(jobs).toEqual([])
    await worker.stop()
  })

  it('returns a slow job that its stop interrupts to the queue', async () => {
    let begun = 0
    const tasks = {
      fetch_media: async (_payload: unknown, { abortSignal }: JobHelpers) => {
        begun++
        await new Promise((_, reject) => {
          abortSignal.addEventListener('abort', () => reject(new Error('cut short')))
        })
      },
    }
    await insertJobs([1], 'fetch_media')
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await expect.poll(() => begun).toBe(1)
    await worker.stop()
    expect(await jobs()).toEqual([{ attempts: 1, last_error: 'cut short', locked: false }])
  })

  it('continues after it could not report a job, which runs once more', async () => {
    await database.pool.query(
      `CREATE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN RAISE 'not now'; END $$;
       CREATE TRIGGER refuse BEFORE DELETE ON graphile_worker._private_jobs EXECUTE FUNCTION refuse()`,
    )
    const { tasks, payloads: done } = recordPayloads()
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await insertJobs(['once more'])
    createWake(database, log)()
    await expect.poll(() => done).toEqual(['once more', 'once more'])
    await database.pool.query('DROP FUNCTION refuse CASCADE')
    await expect.poll(jobs).toEqual([])
    await expect.poll(() => worker.isRunning()).toBe(true)
    await insertJobs(['another'])
    createWake(database, log)()
    await expect.poll(() => done.at(-1)).toBe('another')
    await worker.stop()
    expect(await jobs()).toEqual([])
  })

  it('continues after two reports of jobs failed together', async () => {
    const done: unknown[] = []
    const gates = { one: gate(), two: gate(), three: gate() }
    const tasks = {
      receive_callback: async (payload: unknown) => {
        await gates[payload as keyof typeof gates].opened
        done.push(payload)
      },
    }
    const worker = await startWorker(database, tasks, log, async () => undefined)
    await insertJobs(['one', 'two'])
    createWake(database, log)()
    await expect.poll(async () => (await jobs()).map(({ locked }) => locked)).toEqual([true, true])
    const holder = await database.pool.connect()
    await holder.query('BEGIN')
    await holder.query('SELECT FROM graphile_worker._private_jobs FOR UPDATE')
    gates.one.open()
    await expect.poll(waitingForRows).toHaveLength(1)
    gates.two.open()
    await expect.poll(waitingForRows).toHaveLength(2)
    await holder.query('SELECT pg_terminate_backend(pid) FROM unnest($1::int[]) AS pid', [await waitingForRows()])
    await holder.query('ROLLBACK')
    holder.release()
    await expect.poll(jobs).toEqual([])
    expect(done).toEqual(['one', 'two', 'one', 'two'])
    await insertJobs(['three'])
    createWake(database, log)()
    gates.three.open()
    await expect.poll(jobs).toEqual([])
    await worker.stop()
    expect(done.at(-1)).toBe('three')
  })

  it('can be stopped while it cannot continue', async () => {
    const proxy = await startProxy(database.connection)
    const own = openDatabase(proxy.connection, 10, () => undefined)
    const { opened: released, open: release } = gate()
    let begun = false
    const receive_callback = async () => {
      begun = true
      await released
    }
    const worker = await startWorker(own, { receive_callback }, log, async () => undefined)
    await insertJobs([1])
    await expect.poll(() => begun).toBe(true)
    await proxy.cut()
    release()
    await expect.poll(() => worker.isRunning()).toBe(false)
    await worker.stop()
    await own.close()
    await proxy.close()
  })

  it('runs jobs that are locked for it but unknown to it, and not those that it is running', async () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] })
    const ids: string[] = []
    const begun: unknown[] = []
    const { opened: released, open: release } = gate()
    const tasks = {
      receive_callback: async (payload: unknown) => {
        begun.push(payload)
        if (payload === 'long') await released
      },
    }
    const worker = await startWorker(database, tasks, log, async (id) => {
      ids.push(id)
    })
    await insertJobs(['long'])
    createWake(database, log)()
    await expect.poll(() => begun).toEqual(['long'])
    await insertJobs(['lost'])
    await database.pool.query(
      `UPDATE graphile_worker._private_jobs SET locked_by = $1, locked_at = now() - interval '1 minute', attempts = 1`,
      [ids[0]],
    )
    vi.advanceTimersByTime(15_000)
    await expect.poll(() => begun).toEqual(['long', 'lost'])
    release()
    await expect.poll(jobs).toEqual([])
    await worker.stop()
    expect(begun).toEqual(['long', 'lost'])
  })

  it('that died leaves its jobs locked until they are unlocked for another', async () => {
    await insertJobs([1, 2])
    await database.pool.query(
      `UPDATE graphile_worker._private_jobs SET locked_by = 'dead-worker', locked_at = now() - interval '1 minute', attempts = 1`,
    )
    const done: unknown[] = []
    const tasks = {
      receive_callback: async (payload: unknown) => {
        done.push(payload)
      },
    }
    await drainJobs(database, tasks, log)
    expect(done).toEqual([])
    await unlockJobs(database, [])
    await unlockJobs(database, ['another-worker'])
    await drainJobs(database, tasks, log)
    expect(done).toEqual([])
    await unlockJobs(database, ['dead-worker'])
    await drainJobs(database, tasks, log)
    expect(done).toEqual([1, 2])
  })
})

describe('the tasks', () => {
  it('are all known to the queue, and the recurring ones are tasks', async () => {
    const { rows } = await database.pool.query<{ identifier: string }>(
      'SELECT identifier FROM graphile_worker._private_tasks',
    )
    expect(rows.map((row) => row.identifier)).toEqual(expect.arrayContaining([...TASK_NAMES]))
    expect(
      WORKER_POOLS.flatMap(({ tasks }) => tasks).filter((name) => !TASK_NAMES.some((task) => task === name)),
    ).toEqual([])
    expect(RECURRING.filter((name) => !TASK_NAMES.some((task) => task === name))).toEqual([])
  })
})

it('a job that has failed for the last time is logged as an error, with only the ids in its payload', async () => {
  const lines: Record<string, unknown>[] = []
  const { opened: logged, open } = gate()
  const write = (line: string) => {
    lines.push(JSON.parse(line))
    open()
  }
  const receive_callback = () => Promise.reject(new Error('it cannot be read'))
  await insertJobs([{ organizationId: 'an organization', callbackId: 'a callback', addresses: ['5511987654321'] }])
  await database.pool.query('UPDATE graphile_worker._private_jobs SET max_attempts = 1')
  const worker = await startWorker(
    database,
    { receive_callback },
    pino({ level: 'error' }, { write }),
    async () => undefined,
  )
  await logged
  await worker.stop()
  expect(lines).toMatchObject([
    {
      task: 'receive_callback',
      organizationId: 'an organization',
      callbackId: 'a callback',
      msg: 'a job failed on its last attempt',
    },
  ])
  expect(JSON.stringify(lines)).not.toContain('5511987654321')
})
