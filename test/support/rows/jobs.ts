import type { JobTask } from '../../../src/model/jobs.js'
import { readRows, type Tables, type Where } from './read.js'

/** A job's row. */
export interface JobRow {
  organization_id: string
  id: number
  class: string
  task: JobTask
  // biome-ignore lint/suspicious/noExplicitAny: tests look into payloads of every shape
  payload: any
  attempts: number
  /** Null: no process has claimed it. */
  process_id: number | null
  /** Null: it has not failed for good. */
  failed_at: Date | null
  error: string | null
}

/** The jobs with these values, oldest first. */
export function jobRows(world: Tables, where: Where<JobRow> = {}): Promise<JobRow[]> {
  return readRows<JobRow>(world, 'jobs', 'id', where)
}
