import type { Context } from '../../src/context.js'
import { createPlaces, type PlacesOptions } from '../../src/jobs/places.js'
import { createReports } from '../../src/jobs/reports.js'
import { JOB_CLASSES, type JobClassName, type JobTask, type RunJob } from '../../src/model/jobs.js'
import { pollJobs } from '../../src/storage/jobs/queue.js'
import type { World } from './world.js'

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
    const { due } = await pollJobs(database, processId, [])
    if (due.length === 0) return
    let count = 0
    for (const name of CLASSES.filter((one) => due.includes(one))) {
      const places = createPlaces(name, options, PLACES)
      await places.fill()
      count += places.runningIds().length
      await places.settled()
    }
    // Jobs of suspended organizations stay due.
    if (count === 0) return
  }
}

/** Makes every waiting job due now. */
export async function makeJobsDue({ database }: Pick<Context, 'database'>): Promise<void> {
  await database.pool.query('UPDATE jobs SET run_at = now() WHERE process_id IS NULL AND failed_at IS NULL')
}

/** Makes every waiting job due, and runs them; `attempts` is the number of previous tries. */
export async function workOffLater(world: Pick<World, 'database' | 'drain'>, attempts?: number): Promise<void> {
  await world.database.pool.query(
    'UPDATE jobs SET run_at = now(), attempts = coalesce($1, attempts) WHERE failed_at IS NULL',
    [attempts ?? null],
  )
  await world.drain()
}
