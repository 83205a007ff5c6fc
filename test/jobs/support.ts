import { randomUUID } from 'node:crypto'
import { pino } from 'pino'
import { createNotifications } from '../../src/core/processes/notifications.js'
import { registerThisProcess } from '../../src/core/processes/process-registry.js'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { RECURRING_TASKS } from '../../src/jobs/recurring.js'
import { type JobRunner, startJobRunner } from '../../src/jobs/runner.js'
import { JOB_TASKS, type JobTask, type RunJob } from '../../src/model/jobs.js'
import { type EnqueuedJobs, enqueueJobs } from '../../src/storage/jobs/enqueue.js'
import type { TestDatabase } from '../support/database.js'
import { cutOff } from '../support/locks.js'

/** Two organizations: the first one comes first in every walk. */
export const FIRST = '11111111-1111-7111-8111-111111111111'
export const SECOND = '22222222-2222-7222-8222-222222222222'

const log = pino({ level: 'silent' })

/** A process of the service as far as jobs are concerned. */
export interface JobProcess {
  ctx: Parameters<typeof startJobRunner>[0]
  /** Starts to run jobs; other tasks than these do nothing. */
  start(tasks: Partial<Record<JobTask, RunJob>>): JobRunner
  /** Ends its connections, as its death would. */
  kill(): Promise<void>
  leave(): Promise<void>
}

/** Registers another process at the database. */
export async function startProcess({ connection }: TestDatabase, processLog = log): Promise<JobProcess> {
  const database = openDatabase(connection, 20, () => undefined)
  const registration = await registerThisProcess(database, processLog)
  const notifications = createNotifications(database, registration, processLog)
  const ctx = { database, log: processLog, processId: registration.processId, notifications }
  const runners: JobRunner[] = []
  return {
    ctx,
    start: (tasks) => {
      const runner = startJobRunner(ctx, withIdleTasks(tasks))
      runners.push(runner)
      return runner
    },
    kill: () => cutOff(database, registration.processId),
    leave: async () => {
      await Promise.all(runners.map((runner) => runner.stop()))
      await notifications.close()
      await registration.leave()
      await database.close()
    },
  }
}

/** Registers a process by its id, without a lock. */
export async function registerAs({ pool }: Pick<Database, 'pool'>, processId: number): Promise<void> {
  await pool.query(`INSERT INTO processes (id, version) OVERRIDING SYSTEM VALUE VALUES ($1, '1.0.0')`, [processId])
}

/** All tasks: those given, and for the others one that does nothing. Recurring ones wait for long. */
export function withIdleTasks(tasks: Partial<Record<JobTask, RunJob>>): Record<JobTask, RunJob> {
  const idle = Object.keys(JOB_TASKS).map((task) => {
    const isRecurring = RECURRING_TASKS.some((recurring) => recurring === task)
    return [task, async () => (isRecurring ? { againInMs: 3_600_000 } : null)]
  })
  return { ...Object.fromEntries(idle), ...tasks }
}

/** Adds jobs with these names as payload, in this order. */
export async function addJobs(
  { pool }: Pick<Database, 'pool'>,
  organizationId: string,
  task: JobTask,
  names: readonly unknown[],
): Promise<void> {
  await pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload)
     SELECT $1, $2, $3, jsonb_build_object('name', name) FROM unnest($4::jsonb[]) WITH ORDINALITY AS given (name, n) ORDER BY n`,
    [organizationId, JOB_TASKS[task], task, names.map((name) => JSON.stringify(name))],
  )
}

/** Adds a job to each of so many organizations that is due in an hour. */
export async function addLaterJobs({ pool }: Pick<Database, 'pool'>, organizations: number): Promise<void> {
  await pool.query(
    `INSERT INTO jobs (organization_id, class, task, payload, run_at)
     SELECT ('11111111-1111-7111-8111-' || lpad(n::text, 12, '0'))::uuid, 'media', 'fetch_media', '{}', now() + interval '1 hour'
     FROM generate_series(1, $1) n`,
    [organizations],
  )
}

/** Requests a job as statements of the service do. */
export async function request(
  { pool }: Pick<Database, 'pool'>,
  organizationId: string,
  job: Omit<EnqueuedJobs, 'payload' | 'key'> & { name?: string; key?: string },
): Promise<void> {
  const { name, key, ...rest } = job
  const payload = name === undefined ? "'{}'" : `jsonb_build_object('name', '${name}')`
  await pool.query(enqueueJobs({ ...rest, payload, ...(key === undefined ? {} : { key: `'${key}'` }) }), [
    organizationId,
  ])
}

export const nameOf = (payload: unknown) => (payload as { name: unknown }).name

/** All jobs of organizations. */
export async function jobs({ pool }: Pick<Database, 'pool'>) {
  const { rows } = await pool.query(
    `SELECT payload ->> 'name' AS name, attempts, process_id IS NOT NULL AS running, repeat, failed_at IS NOT NULL AS failed, error
     FROM jobs WHERE key IS DISTINCT FROM 'recurring' ORDER BY id`,
  )
  return rows
}

/** A promise that the test resolves. */
export function gate(): { opened: Promise<void>; open: () => void } {
  let open = () => {}
  const opened = new Promise<void>((resolve) => {
    open = resolve
  })
  return { opened, open }
}

export const newOrganizations = (count: number) => Array.from({ length: count }, () => randomUUID())
