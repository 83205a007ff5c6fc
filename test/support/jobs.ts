import type { Context } from '../../src/context.js'
import { createPlaces, type PlacesOptions } from '../../src/jobs/places.js'
import { createReports } from '../../src/jobs/reports.js'
import { JOB_CLASSES, type JobClassName, type JobTask, type RunJob } from '../../src/model/jobs.js'
import { pollJobs } from '../../src/storage/jobs/queue.js'

/** How many jobs run at the same time. */
const PLACES = 20
const CLASSES = Object.keys(JOB_CLASSES) as JobClassName[]

/** Runs every due job, class by class in the order in which they became due, and resolves when none is left. */
export async function drainJobs(
  ctx: Pick<Context, 'database' | 'log' | 'processId'>,
  tasks: Record<JobTask, RunJob>,
): Promise<void> {
  const { database, log, processId } = ctx
  const report = createReports(database, processId, log, new AbortController().signal)
  const options: PlacesOptions = { database, log, processId, tasks, report, onEnd: () => undefined }
  for (;;) {
    const { due } = await pollJobs(database, processId, { dead: [], knownIds: [] })
    if (due.length === 0) return
    for (const name of CLASSES.filter((one) => due.includes(one))) {
      const places = createPlaces(name, options, PLACES)
      await places.fill()
      await places.settled()
    }
  }
}

/** The jobs of a task that wait or run. */
export async function jobsOf(
  { database }: Pick<Context, 'database'>,
  task: JobTask,
): Promise<{ organization_id: string; payload: unknown; attempts: number; isRunning: boolean; hasFailed: boolean }[]> {
  const { rows } = await database.pool.query(
    `SELECT organization_id, payload, attempts, process_id IS NOT NULL AS "isRunning", failed_at IS NOT NULL AS "hasFailed"
     FROM jobs WHERE task = $1 ORDER BY id`,
    [task],
  )
  return rows
}

/** Makes every waiting job due now. */
export async function makeJobsDue({ database }: Pick<Context, 'database'>): Promise<void> {
  await database.pool.query('UPDATE jobs SET run_at = now() WHERE process_id IS NULL AND failed_at IS NULL')
}
