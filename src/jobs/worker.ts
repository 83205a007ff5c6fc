import { EventEmitter } from 'node:events'
import {
  type Job,
  makeWorkerUtils,
  Logger as QueueLogger,
  type RunnerOptions,
  run,
  runOnce,
  type TaskList,
  type WorkerPool,
} from 'graphile-worker'
import type { Logger } from 'pino'
import type { Database } from '../database/pool.js'
import { statement } from '../database/statement.js'
import { backoffDelay, sleep } from '../lib/async/backoff.js'
import { startLoop } from '../lib/async/loop.js'
import { newId } from '../lib/bytes/id.js'
import { asObject } from '../lib/text/json.js'
import { CRONTAB, WORKER_POOLS } from './tasks.js'

/** A running worker. */
export interface Worker {
  isRunning(): boolean
  /** Lets running jobs finish, aborts slow ones after a while, and returns fetched jobs that have not started. */
  stop(): Promise<void>
}

const CONCURRENCY = 10
/** Slow jobs can start again in another process, so a stop waits for them no longer than this. */
const SLOW_GRACE_MS = 3_000

/** Waits before a failed queue is restarted. */
const RESTART_BACKOFF = { baseMs: 100, maxMs: 2_000, jitter: 0.5 }
/** How long a stopped queue waits to report its last jobs. */
const REPORT_TIMEOUT_MS = 2_000
/** How often the worker looks for jobs that are locked and that no process works on. */
const STRAYS_INTERVAL_MS = 15_000
/** How often it looks for due jobs without a notification: scheduled jobs, and those whose notification was lost. */
const POLL_MS = 2_000
/** How often each library worker polls on its own. A short interval would be the largest cost of an idle process. */
const WORKER_POLL_MS = 60_000
/** Maximum number of library workers woken at once. */
const MAX_WOKEN = 32

const preset = {
  worker: {
    // Finished jobs are reported in batches. A job whose report is lost in a crash runs again, which changes nothing.
    completeJobBatchDelay: 10,
    failJobBatchDelay: 10,
    gracefulShutdownAbortTimeout: 10_000,
  },
}
const localQueue = { size: 200 }

/**
 * Starts processing jobs, slow ones in separate pools. `onId` gets the ids under which jobs are locked, before any is.
 */
export async function startWorker(
  database: Database,
  tasks: TaskList,
  log: Logger,
  onId: (workerId: string) => Promise<void>,
): Promise<Worker> {
  const slow = WORKER_POOLS.flatMap((pool) => pool.tasks)
  const only = (isWanted: (name: string) => boolean) =>
    Object.fromEntries(Object.entries(tasks).filter(([name]) => isWanted(name)))
  const workers = [
    await runQueue(database, log, onId, {
      taskList: only((name) => !slow.includes(name)),
      crontab: CRONTAB,
      concurrency: CONCURRENCY,
      preset: { worker: { ...preset.worker, localQueue } },
    }),
  ]
  for (const pool of WORKER_POOLS) {
    // Without a local queue, so that other processes can take jobs that this one is too busy for.
    const worker = await runQueue(database, log, onId, {
      taskList: only((name) => pool.tasks.includes(name)),
      crontab: '',
      concurrency: pool.concurrency,
      preset: { worker: { ...preset.worker, gracefulShutdownAbortTimeout: SLOW_GRACE_MS } },
    })
    workers.push(worker)
  }
  const look = startLoop({
    round: async () => {
      const [row] = await database.run(countDue, [MAX_WOKEN])
      for (const worker of workers) worker.wake(row?.due ?? 0)
      return false
    },
    pauseMs: () => POLL_MS,
    onFailure: (error) => log.warn({ err: error }, 'due jobs could not be looked up; trying again'),
  })
  return {
    isRunning: () => workers.every((worker) => worker.isRunning()),
    stop: async () => {
      await look.stop()
      await Promise.all(workers.map((worker) => worker.stop()))
    },
  }
}

const countDue = statement<{ due: number }>(
  'jobs.countDue',
  `SELECT count(*) AS due FROM (
     SELECT FROM graphile_worker._private_jobs WHERE is_available AND run_at <= now() LIMIT $1
   ) due`,
)

/** A queue that is restarted if it ends unexpectedly. */
interface RestartingQueue extends Worker {
  /** Makes this many of its workers look for jobs now. */
  wake(count: number): void
}

type QueueOptions = Pick<RunnerOptions, 'taskList' | 'crontab' | 'concurrency' | 'preset'>

/**
 * Runs a queue until it is stopped. If it ends unexpectedly, its jobs are unlocked and it is restarted: the library
 * gives up when a single report of a finished job fails, as during a restart of PostgreSQL.
 */
async function runQueue(
  database: Database,
  log: Logger,
  onId: (workerId: string) => Promise<void>,
  options: QueueOptions,
): Promise<RestartingQueue> {
  const workerId = newId()
  await onId(workerId)
  const stopping = new AbortController()
  let queue: Queue | null = await startQueue(database, log, workerId, options)
  const kept = run(queue)
  const reaper = setInterval(() => {
    queue?.unlockStrays().catch((error) => log.warn({ err: error }, 'lost jobs could not be looked up'))
  }, STRAYS_INTERVAL_MS)

  async function run(first: Queue): Promise<void> {
    for (let running: Queue | null = first; running; running = await restart()) {
      queue = running
      // The stop was requested during the start.
      if (stopping.signal.aborted) await running.stop()
      const ended = await running.ended
      queue = null
      if (!stopping.signal.aborted) log.warn({ err: ended }, 'the worker ended and is restarted')
    }
  }

  async function restart(): Promise<Queue | null> {
    for (let attempt = 1; ; attempt++) {
      await sleep(backoffDelay(attempt, RESTART_BACKOFF), stopping.signal).catch(() => undefined)
      if (stopping.signal.aborted) return null
      try {
        await unlockJobs(database, [workerId])
        return await startQueue(database, log, workerId, options)
      } catch (error) {
        log.warn({ err: error }, 'the worker could not be restarted; trying again')
      }
    }
  }

  return {
    isRunning: () => queue !== null,
    wake: (count) => queue?.wake(count),
    stop: async () => {
      stopping.abort()
      clearInterval(reaper)
      await queue?.stop()
      await kept
    },
  }
}

/** A queue of the library, from its start to its end. */
interface Queue {
  /** Resolves when the queue has ended, to the error that ended it. */
  ended: Promise<unknown>
  /** Unlocks jobs that are locked for the queue but unknown to it, because the answer with them was lost. */
  unlockStrays(): Promise<void>
  /** Makes this many of its workers look for jobs now. */
  wake(count: number): void
  stop(): Promise<void>
}

const unlockStrays = statement<never>(
  'jobs.freeStrays',
  `UPDATE graphile_worker._private_jobs SET locked_by = NULL, locked_at = NULL
   WHERE locked_by = $1 AND locked_at < now() - interval '10 seconds' AND NOT id = ANY ($2::bigint[])`,
)

async function startQueue(database: Database, log: Logger, workerId: string, options: QueueOptions): Promise<Queue> {
  const events = createOrderedEvents()
  logFailedJobs(events, log)
  const held = trackFetchedJobs(events)
  const stuck = onStuck(events)
  // The queue's own id is known only after its first jobs are locked; if the process died in between, they would stay
  // locked.
  let pool: WorkerPool | null = null
  events.on('pool:create', ({ workerPool }: { workerPool: WorkerPool }) => {
    workerPool.id = workerId
    pool = workerPool
  })
  // Ended workers throw when they are woken.
  const release = () => {
    pool = null
  }
  events.on('pool:gracefulShutdown', release).on('pool:forcefulShutdown', release)
  const runner = await run({
    ...options,
    pgPool: database.pool,
    pollInterval: WORKER_POLL_MS,
    noHandleSignals: true,
    events,
    logger: queueLogger(log),
  })
  // A queue that has ended throws when it is stopped.
  const tryToStop = () => runner.stop().catch(() => undefined)
  const ended = Promise.race([runner.promise.catch((error: unknown) => error), stuck]).finally(tryToStop)
  return {
    ended,
    unlockStrays: async () => {
      await database.run(unlockStrays, [workerId, [...held]])
    },
    wake: (count) => {
      if (count > 0) pool?.nudge(count)
    },
    stop: async () => {
      void tryToStop()
      await ended
    },
  }
}

/**
 * Resolves to an error if a stopping queue does not finish its last reports in time. The library loses count of its
 * reports if two fail together, and then waits forever.
 */
function onStuck(events: EventEmitter): Promise<Error> {
  return new Promise((resolve) => {
    const giveUp = () => resolve(new Error('the last job reports did not complete'))
    for (const name of [
      'pool:gracefulShutdown:complete',
      'pool:forcefulShutdown:complete',
      'pool:forcefulShutdown:error',
    ]) {
      events.on(name, () => setTimeout(giveUp, REPORT_TIMEOUT_MS).unref())
    }
  })
}

/** Logs jobs that have failed for the last time, with the ids in their payload only; the rest may be personal data. */
function logFailedJobs(events: EventEmitter, log: Logger): void {
  events.on('job:failed', ({ job, error }: { job: Job; error: unknown }) => {
    const { organizationId, callbackId } = asObject(job.payload)
    log.error({ err: error, task: job.task_identifier, organizationId, callbackId }, 'a job failed on its last attempt')
  })
}

/** The ids of the jobs that the queue has fetched and not finished. */
function trackFetchedJobs(events: EventEmitter): ReadonlySet<string> {
  const held = new Set<string>()
  events.on('localQueue:getJobs:complete', ({ jobs }: { jobs: Job[] }) => {
    for (const { id } of jobs) held.add(id)
  })
  events.on('job:start', ({ job }: { job: Job }) => held.add(job.id))
  events.on('job:complete', ({ job }: { job: Job }) => held.delete(job.id))
  return held
}

const hasWork = statement<{ waiting: boolean }>(
  'jobs.hasWork',
  `SELECT EXISTS (
     SELECT FROM graphile_worker._private_jobs
     WHERE (is_available AND run_at <= now()) OR locked_at >= $1
   ) AS waiting`,
)

const readClock = statement<{ now: Date }>('jobs.clock', 'SELECT now() AS now')

/** Runs every due job, in the order in which a worker takes them, and resolves when all have finished. */
export async function drainJobs(database: Database, tasks: TaskList, log: Logger): Promise<void> {
  const [clock] = await database.run(readClock, [])
  for (;;) {
    await runOnce({
      pgPool: database.pool,
      taskList: tasks,
      concurrency: CONCURRENCY,
      noHandleSignals: true,
      events: createOrderedEvents(),
      logger: queueLogger(log),
      preset: { worker: { localQueue } },
    })
    // The queue may resolve before the last jobs of this run are reported.
    const [left] = await database.run(hasWork, [clock?.now])
    if (!left?.waiting) return
  }
}

/**
 * Makes a queue start its jobs in insertion order. The queue's statement selects them in order, but returns them in the
 * order of their rows, which changes after a VACUUM.
 */
function createOrderedEvents(): EventEmitter {
  const events = new EventEmitter()
  // The queue uses this array itself.
  events.on('localQueue:getJobs:complete', ({ jobs }: { jobs: Job[] }) => {
    jobs.sort((one, other) => Number(one.id) - Number(other.id))
  })
  return events
}

/** Unlocks the jobs of dead processes. */
export async function unlockJobs(database: Database, workerIds: string[]): Promise<void> {
  if (workerIds.length === 0) return
  const utils = await makeWorkerUtils({ pgPool: database.pool })
  try {
    await utils.forceUnlockWorkers(workerIds)
  } finally {
    await utils.release()
  }
}

/** Failed jobs are logged as warnings; the queue's routine messages are not logged. */
function queueLogger(log: Logger): QueueLogger {
  return new QueueLogger((scope) => (level, message) => {
    if (level === 'error') log.warn({ ...scope }, message)
    else if (level === 'warning') log.warn({ ...scope }, message)
    else log.trace({ ...scope }, message)
  })
}
