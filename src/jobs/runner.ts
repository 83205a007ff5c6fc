import type { Context } from '../context.js'
import { type Loop, startLoop } from '../lib/async/loop.js'
import { withTimeout } from '../lib/async/timeout.js'
import { JOB_CLASSES, type JobClassName, type JobTask, type RunJob } from '../model/jobs.js'
import { pollJobs, startRecurringJobs } from '../storage/jobs/queue.js'
import { createPlaces, type Places, type PlacesOptions } from './places.js'
import { RECURRING_TASKS } from './recurring.js'
import { createReports } from './reports.js'

/** Runs jobs in this process. */
export interface JobRunner {
  /** Whether it is not stopped and reaches the database. */
  isRunning(): boolean
  /** The number of running jobs of each class that has any. */
  running(): Partial<Record<JobClassName, number>>
  /** Lets running jobs finish; after a few seconds, interrupts the others and puts them back. */
  stop(): Promise<void>
}

type RunnerContext = Pick<Context, 'database' | 'log' | 'processId' | 'notifications'>

/** How often it polls for jobs whose notification was lost, and for those of dead processes. */
const POLL_MS = 1_000
/** A statement that takes longer counts as hung; the loop continues without it. */
const HUNG_MS = 10_000
/** How long `stop` lets running jobs finish. Interrupted ones run again in another process. */
const GRACE_MS = 3_000
/** How long `stop` waits for interrupted jobs and their reports. Then reports are no longer retried. */
const ABORT_MS = 3_000
/** The pause of a class without due jobs, unless it is woken. */
const IDLE_MS = 60_000
const CLASSES = Object.keys(JOB_CLASSES) as JobClassName[]

/**
 * Starts running jobs. It polls for due jobs when it is notified, when the next one becomes due, and every second. A
 * class with due jobs claims some for its free places. Failed polls and claims are retried, so the runner continues
 * after a restart of PostgreSQL.
 */
export function startJobRunner(ctx: RunnerContext, tasks: Record<JobTask, RunJob>): JobRunner {
  const { database, log, processId } = ctx
  const givesUp = new AbortController()
  const report = createReports(database, processId, log, givesUp.signal)
  const options: PlacesOptions = {
    ...{ database, log, processId, tasks, report },
    onEnd: (name, { isDueAgain, wasFull }) => {
      if (wasFull) classes.get(name)?.wake()
      if (isDueAgain) polling.wake()
    },
  }
  const classes = new Map(CLASSES.map((name) => [name, startClass(createPlaces(name, options), log)]))
  const all = [...classes.values()]
  let soonestMs: number | null = null
  let hasRecurring = false
  let isFailing = false

  const poll = async () => {
    if (!hasRecurring) await unlessHung(startRecurringJobs(database, RECURRING_TASKS))
    hasRecurring = true
    const knownIds = all.flatMap(({ places }) => places.runningIds())
    const found = await unlessHung(pollJobs(database, processId, knownIds))
    for (const job of found.setAside) log.error(job, 'a job is set aside, because its processes died')
    soonestMs = found.soonestMs
    isFailing = false
    for (const name of found.due) classes.get(name)?.wake()
    return false
  }
  const polling = startLoop({
    round: poll,
    pauseMs: () => Math.min(POLL_MS, Math.ceil(soonestMs ?? POLL_MS) + 1),
    onFailure: (error) => {
      isFailing = true
      log.warn({ err: error }, 'polling for due jobs failed and is retried')
    },
  })
  const stopListening = ctx.notifications.listen(({ topic }) => {
    if (topic === 'jobs' || topic === 'missed') polling.wake()
  })

  async function stop(): Promise<void> {
    stopListening()
    for (const { places } of all) places.close()
    await Promise.all([polling.stop(), ...all.map(({ loop }) => loop.stop())])
    const settled = () => Promise.all(all.map(({ places }) => places.settled()))
    if ((await withTimeout(settled(), GRACE_MS)) === null) {
      for (const { places } of all) places.abort()
      await withTimeout(settled(), ABORT_MS)
    }
    givesUp.abort()
    await settled()
  }

  let stopped: Promise<void> | null = null
  return {
    isRunning: () => stopped === null && !isFailing,
    running: () => {
      const counted = [...classes].map(([name, { places }]) => [name, places.runningIds().length] as const)
      return Object.fromEntries(counted.filter(([, running]) => running > 0))
    },
    stop: () => {
      stopped ??= stop()
      return stopped
    },
  }
}

/** The places of a class, and the loop that fills them. `wake`: there may be jobs for them. */
function startClass(places: Places, log: Context['log']): { places: Places; loop: Loop; wake: () => void } {
  const loop = startLoop({
    round: () => unlessHung(places.fill()),
    pauseMs: () => IDLE_MS,
    onFailure: (error) => log.warn({ err: error }, 'claiming jobs failed and is retried'),
  })
  const wake = () => {
    places.lookAgain()
    loop.wake()
  }
  return { places, loop, wake }
}

async function unlessHung<Result>(work: Promise<Result>): Promise<Result> {
  const result = await withTimeout(
    work.then((value) => ({ value })),
    HUNG_MS,
  )
  if (result === null) throw new Error(`a statement took longer than ${HUNG_MS / 1_000} s`)
  return result.value
}
