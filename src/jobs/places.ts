import type { Logger } from 'pino'
import type { Database } from '../database/pool.js'
import { backoffDelay, sleep } from '../lib/async/backoff.js'
import { NIL_UUID } from '../lib/bytes/id.js'
import { errorMessage } from '../lib/text/error-message.js'
import { asObject } from '../lib/text/json.js'
import { toStorable } from '../lib/text/text.js'
import {
  type Again,
  JOB_BACKOFF,
  JOB_CLASSES,
  JOB_TASKS,
  type JobClassName,
  type JobTask,
  type RunJob,
} from '../model/jobs.js'
import { type ClaimedJob, claimJobs, type PutBack } from '../storage/jobs/queue.js'
import type { ReportJob } from './reports.js'

/** What the places of all classes have in common. */
export interface PlacesOptions {
  database: Database
  log: Logger
  /** This process in the process registry. */
  processId: number
  tasks: Record<JobTask, RunJob>
  report: ReportJob
  /** Called when a job has ended. `isDueAgain`: it may become due again; `wasFull`: others may wait for its place. */
  onEnd: (name: JobClassName, how: { isDueAgain: boolean; wasFull: boolean }) => void
}

/** The places of one class in this process. */
export interface Places {
  /** Claims jobs for the free places and starts them; resolves to whether another call may find more. */
  fill(): Promise<boolean>
  /** Makes the next calls of `fill` visit every organization again: one of them may have got a due job, or room. */
  lookAgain(): void
  /** The ids of the jobs that are running. */
  runningIds(): number[]
  /** Resolves when the running jobs have ended and are reported. */
  settled(): Promise<void>
  /** Starts no further job. */
  close(): void
  /** Interrupts the running jobs and puts them back; those that do not end soon are left running. */
  abort(): void
}

/** After this many attempts (about four days) a job counts as failed. */
export const MAX_ATTEMPTS = 25
/** A failing recurring job is retried without end, at least once a minute; the daily one, which reads much, is not. */
const RECURRING_BACKOFF = { ...JOB_BACKOFF, maxMs: 60_000 }
/** Until a job of an unknown task is offered to the processes again. */
const UNKNOWN_TASK_MS = 5_000
const MAX_ERROR_LENGTH = 500
/** How long an aborted job may take to end; then its place is free, and its result is ignored. */
const ABORTED_MS = 2_000

class Aborted extends Error {}
const stopping = new Aborted('the service stops')

/** Creates the places of a class. `places`: overrides the number of the class; one organization may take all of them. */
export function createPlaces(name: JobClassName, options: PlacesOptions, places?: number): Places {
  const { database, processId, report } = options
  const size = places ?? JOB_CLASSES[name].places
  const share = places ?? Math.max(1, Math.floor(size / 2))
  const running = new Map<number, { organizationId: string; abort: AbortController; ended: Promise<void> }>()
  let after = NIL_UUID
  /** Where the walk over the organizations began that has found no job yet; null: it begins with the next claim. */
  let since: string | null = null
  let isClosed = false

  function takenPlaces(): Map<string, number> {
    const taken = new Map<string, number>()
    for (const { organizationId } of running.values()) taken.set(organizationId, (taken.get(organizationId) ?? 0) + 1)
    return taken
  }

  function start(job: ClaimedJob): void {
    const { id, organizationId } = job
    const abort = new AbortController()
    if (isClosed) abort.abort(stopping)
    const ended = runOne(job, abort).then((isDueAgain) => {
      const wasFull = running.size >= size || (takenPlaces().get(organizationId) ?? 0) >= share
      running.delete(id)
      options.onEnd(name, { isDueAgain, wasFull })
    })
    running.set(id, { organizationId, abort, ended })
  }

  async function runOne(job: ClaimedJob, abort: AbortController): Promise<boolean> {
    const { maxRunMs } = JOB_CLASSES[classOf(job) ?? name]
    const tooLong = new Aborted(`it took longer than ${maxRunMs / 60_000} minutes`)
    const timer = setTimeout(() => abort.abort(tooLong), maxRunMs)
    try {
      abort.signal.throwIfAborted()
      const again = await untilAborted(perform(options.tasks, job, abort.signal), abort.signal)
      return await report(again ? untilNextRun(job, again) : { job })
    } catch (error) {
      const isInterrupted = abort.signal.aborted && abort.signal.reason === stopping
      return await report(
        isInterrupted ? interrupted(job) : afterFailure(job, abort.signal.aborted ? tooLong : error, options.log),
      )
    } finally {
      clearTimeout(timer)
    }
  }

  return {
    fill: async () => {
      const free = size - running.size
      if (isClosed || free <= 0) return false
      since ??= after
      const wanted = { class: name, processId, after, since, places: size, free, share, taken: takenPlaces() }
      const claimed = await claimJobs(database, wanted)
      after = claimed.reached
      if (claimed.jobs.length > 0 || !claimed.hasMore) since = null
      for (const job of claimed.jobs) start(job)
      return claimed.hasMore
    },
    lookAgain: () => {
      since = null
    },
    runningIds: () => [...running.keys()],
    settled: async () => {
      await Promise.all(Array.from(running.values(), ({ ended }) => ended))
    },
    close: () => {
      isClosed = true
    },
    abort: () => {
      for (const { abort } of running.values()) abort.abort(stopping)
    },
  }
}

/** The class of a job's task; undefined for a task of a newer version. */
function classOf({ task }: ClaimedJob): JobClassName | undefined {
  return JOB_TASKS[task]
}

async function perform(tasks: Record<JobTask, RunJob>, job: ClaimedJob, signal: AbortSignal): Promise<Again | null> {
  const { organizationId, payload, attempts, requestedAt, deaths } = job
  const run: RunJob | undefined = tasks[job.task]
  // Of a newer version, which runs beside this one.
  if (run === undefined) return { againInMs: UNKNOWN_TASK_MS }
  return (await run({ organizationId, payload, attempt: attempts, requestedAt, isAlone: deaths > 0, signal })) ?? null
}

/** Resolves like the work; rejects ABORTED_MS after the signal was aborted, and the work's result is ignored. */
function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  return new Promise((resolve, reject) => {
    const ended = new AbortController()
    const leave = () => {
      sleep(ABORTED_MS, ended.signal).then(
        () => reject(signal.reason),
        () => undefined,
      )
    }
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave, { once: true })
    work.then(resolve, reject).finally(() => ended.abort())
  })
}

function untilNextRun(job: ClaimedJob, { againInMs, payload }: Again): PutBack {
  return { job, inMs: againInMs, attempts: 0, deaths: 0, payload: payload ?? null, error: null, hasFailed: false }
}

/** An interrupted attempt does not count, and does not show that the job can end. */
function interrupted(job: ClaimedJob): PutBack {
  const { attempts, deaths } = job
  return { job, inMs: 0, attempts: attempts - 1, deaths, payload: null, error: null, hasFailed: false }
}

/** Logs only the ids of the payload, because its other fields may be personal data. */
function afterFailure(job: ClaimedJob, error: unknown, log: Logger): PutBack {
  const { organizationId, id, task, attempts } = job
  const isRecurring = organizationId === NIL_UUID
  const hasFailed = !isRecurring && attempts >= MAX_ATTEMPTS
  const facts = { err: error, task, ...idsOf(job.payload), organizationId, jobId: id, attempt: attempts }
  if (hasFailed) log.error(facts, 'a job failed on its last attempt')
  else log.warn(facts, 'a job failed and will be retried')
  const text = toStorable(errorMessage(error)).slice(0, MAX_ERROR_LENGTH)
  const inMs = backoffDelay(attempts, isRecurring && task !== 'prune' ? RECURRING_BACKOFF : JOB_BACKOFF)
  return { job, inMs, attempts, deaths: 0, payload: null, error: text, hasFailed }
}

function idsOf(payload: unknown): Record<string, unknown> {
  return Object.fromEntries(Object.entries(asObject(payload)).filter(([name]) => name.endsWith('Id')))
}
