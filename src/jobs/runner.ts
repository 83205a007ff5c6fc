import type { Context } from '../context.js'
import { type Loop, startLoop } from '../lib/async/loop.js'
import { withTimeout } from '../lib/async/timeout.js'
import { JOB_CLASSES, type JobClass, type JobClassName, type JobTask, type RunJob } from '../model/jobs.js'
import { lookForJobs, startRecurringJobs } from '../storage/jobs/queue.js'
import { createPlaces, type Places, type PlacesOptions } from './places.js'
import { RECURRING_TASKS } from './recurring.js'
import { createReports } from './reports.js'

/** Runs jobs in this process. */
export interface JobRunner {
  /** Whether it reaches the database. */
  isRunning(): boolean
  /** The number of running jobs of each class that has any. */
  running(): Partial<Record<JobClassName, number>>
  /** Lets running jobs finish, interrupts slow ones after a while, and gives them back. */
  stop(): Promise<void>
}

type RunnerContext = Pick<Context, 'database' | 'log' | 'processId' | 'notifications'>

/** How often it looks for jobs whose notification was lost, and for those of dead processes. */
const LOOK_MS = 1_000
/** How long a process must have been dead before its jobs are freed. */
const DEAD_MS = 900
/** A statement that takes longer hangs; the loop goes on without it. */
const HUNG_MS = 10_000
/** How long a stop waits for running jobs: they can start again in another process. */
const GRACE_MS = 3_000
/** How long it waits for interrupted jobs, and then for the reports. */
const LAST_MS = 3_000
/** How long a class rests that has no due job; it is woken before. */
const IDLE_MS = 60_000
const CLASSES = Object.keys(JOB_CLASSES) as JobClassName[]

/**
 * Starts running jobs. It looks for due jobs when it is notified, when the next one becomes due, and every second; a
 * class with due jobs claims some for its free places. Failed looks and claims are repeated, so it outlives a restart
 * of PostgreSQL.
 */
export function startJobRunner(ctx: RunnerContext, tasks: Record<JobTask, RunJob>): JobRunner {
  const { database, log, processId } = ctx
  const givesUp = new AbortController()
  const report = createReports(database, processId, log, givesUp.signal)
  const options: PlacesOptions = {
    ...{ database, log, processId, tasks, report },
    onEnd: (name, { isDueAgain, wasFull }) => {
      if (wasFull) classes.get(name)?.loop.wake()
      if (isDueAgain) look.wake()
    },
  }
  const classes = new Map(CLASSES.map((name) => [name, startClass(name, createPlaces(name, options), log)]))
  const all = [...classes.values()]
  const deadSince = new Map<number, number>()
  let soonestMs: number | null = null
  let hasRecurring = false
  let isFailing = false

  const lookRound = async () => {
    if (!hasRecurring) await unlessHung(startRecurringJobs(database, RECURRING_TASKS))
    hasRecurring = true
    const knownIds = all.flatMap(({ places }) => places.runningIds())
    const found = await unlessHung(lookForJobs(database, processId, { dead: longDead(deadSince), knownIds }))
    noteDead(deadSince, found.dead)
    soonestMs = found.soonestMs
    isFailing = false
    for (const name of found.due) classes.get(name)?.loop.wake()
    return false
  }
  const look = startLoop({
    round: lookRound,
    pauseMs: () => Math.min(LOOK_MS, Math.ceil(soonestMs ?? LOOK_MS) + 1),
    onFailure: (error) => {
      isFailing = true
      log.warn({ err: error }, 'due jobs could not be looked up; trying again')
    },
  })
  const stopListening = ctx.notifications.listen(({ topic }) => {
    if (topic === 'jobs' || topic === 'missed') look.wake()
  })

  async function stop(): Promise<void> {
    stopListening()
    for (const { places } of all) places.close()
    await Promise.all([look.stop(), ...all.map(({ loop }) => loop.stop())])
    const settled = () => Promise.all(all.map(({ places }) => places.settled()))
    if ((await withTimeout(settled(), GRACE_MS)) === null) {
      for (const { places } of all) places.abort()
      await withTimeout(settled(), LAST_MS)
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

/** Remembers since when each of the processes has been dead. */
function noteDead(deadSince: Map<number, number>, dead: readonly number[]): void {
  for (const id of deadSince.keys()) if (!dead.includes(id)) deadSince.delete(id)
  for (const id of dead) if (!deadSince.has(id)) deadSince.set(id, performance.now())
}

/** The processes that have been dead for a while: one that lost its connection takes its lock again at once. */
function longDead(deadSince: ReadonlyMap<number, number>): number[] {
  const latest = performance.now() - DEAD_MS
  return [...deadSince].flatMap(([id, since]) => (since <= latest ? [id] : []))
}

/** The places of a class, filled whenever the loop is woken. */
function startClass(name: JobClassName, places: Places, log: Context['log']): { places: Places; loop: Loop } {
  const { spreadMs = 0 }: JobClass = JOB_CLASSES[name]
  let hasMore = false
  const loop = startLoop({
    round: async () => {
      hasMore = await unlessHung(places.fill())
      return hasMore && spreadMs === 0
    },
    pauseMs: () => (hasMore ? spreadMs : IDLE_MS),
    onFailure: (error) => log.warn({ err: error }, 'jobs could not be claimed; trying again'),
  })
  return { places, loop }
}

async function unlessHung<Result>(work: Promise<Result>): Promise<Result> {
  const result = await withTimeout(
    work.then((value) => ({ value })),
    HUNG_MS,
  )
  if (result === null) throw new Error(`a statement took longer than ${HUNG_MS / 1_000} s`)
  return result.value
}
