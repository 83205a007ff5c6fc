import type { JobTask } from '../model/jobs.js'

const MINUTE_MS = 60_000
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** Every `everyMs` since the beginning of a UTC day, plus `offsetMs`. */
interface Schedule {
  everyMs: number
  offsetMs: number
}

const EACH_MINUTE = { everyMs: MINUTE_MS, offsetMs: 0 }

/** The tasks of the service itself. Each has one job, which is put back until its next run. */
const SCHEDULES = {
  expire_outcomes: EACH_MINUTE,
  roll_up_counts: EACH_MINUTE,
  reconcile_broadcasts: EACH_MINUTE,
  prune: { everyMs: DAY_MS, offsetMs: 3 * HOUR_MS + 17 * MINUTE_MS },
  sync_all_templates: { everyMs: HOUR_MS, offsetMs: 23 * MINUTE_MS },
  sync_all_orders: { everyMs: HOUR_MS, offsetMs: 41 * MINUTE_MS },
  check_all_numbers: { everyMs: HOUR_MS, offsetMs: 47 * MINUTE_MS },
} as const satisfies Partial<Record<JobTask, Schedule>>

export type RecurringTask = keyof typeof SCHEDULES

export const RECURRING_TASKS = Object.keys(SCHEDULES) as RecurringTask[]

/** Milliseconds from `now` until the next run of a recurring task. */
export function untilNextRun(task: RecurringTask, now: Date): number {
  const { everyMs, offsetMs } = SCHEDULES[task]
  return everyMs - ((((now.getTime() - offsetMs) % everyMs) + everyMs) % everyMs)
}
