const MINUTE_MS = 60_000

/** Jobs of a class share places, so that classes never wait for each other. */
export interface JobClass {
  /** How many of its jobs a process runs at the same time; one organization gets at most half of them. */
  places: number
  /** The longest run of a job; then its signal is aborted, and the attempt has failed. */
  maxRunMs: number
  /** How long a process waits before it takes another job of the same organization, so that others get some, too. */
  spreadMs?: number
}

export const JOB_CLASSES = {
  media: { places: 8, maxRunMs: 15 * MINUTE_MS },
  broadcasts: { places: 16, maxRunMs: 5 * MINUTE_MS, spreadMs: 100 },
  preparation: { places: 2, maxRunMs: 10 * MINUTE_MS },
  transcription: { places: 2, maxRunMs: 10 * MINUTE_MS },
  search: { places: 2, maxRunMs: 10 * MINUTE_MS },
  sync: { places: 4, maxRunMs: 10 * MINUTE_MS },
  erasure: { places: 2, maxRunMs: 30 * MINUTE_MS },
  maintenance: { places: 2, maxRunMs: 30 * MINUTE_MS },
  pruning: { places: 1, maxRunMs: 240 * MINUTE_MS },
} as const satisfies Record<string, JobClass>

export type JobClassName = keyof typeof JOB_CLASSES

/** Every task and its class. */
export const JOB_TASKS = {
  fetch_media: 'media',
  start_broadcast: 'broadcasts',
  send_broadcast: 'broadcasts',
  prepare_broadcast: 'preparation',
  transcribe_voice_note: 'transcription',
  index_conversation: 'search',
  sync_templates: 'sync',
  sync_orders: 'sync',
  erase_traces: 'erasure',
  remove_media: 'erasure',
  sweep_webhook: 'erasure',
  delete_organization: 'erasure',
  expire_outcomes: 'maintenance',
  roll_up_counts: 'maintenance',
  reconcile_broadcasts: 'maintenance',
  sync_all_templates: 'maintenance',
  sync_all_orders: 'maintenance',
  carry_over_jobs: 'maintenance',
  prune: 'pruning',
} as const satisfies Record<string, JobClassName>

export type JobTask = keyof typeof JOB_TASKS

/** The key of a job of which each organization has at most one. */
export const ONLY_ONE = 'all'

/** The result of a job that is to run again. */
export interface Again {
  /** In how many milliseconds. */
  againInMs: number
  /** Its state from then on; default: as it was. */
  payload?: object
}

/** A job that is being run. */
export interface RunningJob {
  /** Zeros for the service's own jobs. */
  organizationId: string
  payload: unknown
  /** From 1. A try that a shutdown interrupted does not count. */
  attempt: number
  /** When it was last requested. */
  requestedAt: Date
  /** Aborted when the service stops and cannot wait, or when the job has run for too long. */
  signal: AbortSignal
}

/**
 * The code of a task. It must be repeatable: a job whose process died runs again. If it throws, the job is tried again
 * with back-off.
 */
export type RunJob = (job: RunningJob) => Promise<Again | null> | Promise<void>

/** A job or a callback that failed on every attempt. */
export interface FailedWork {
  /** The number of a job, or the UUID of a callback. */
  id: string
  organization_id: string
  /** Its slug; null for one that is deleted. */
  organization: string | null
  /** `callback`: a stored callback. */
  task: string
  attempts: number
  failed_at: Date
  /** Why the last attempt failed. */
  error: string | null
}
