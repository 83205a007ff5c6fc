const MINUTE_MS = 60_000

/** Jobs of a class share places, so that classes never wait for each other. */
export interface JobClass {
  /** How many of its jobs a process runs at the same time. One organization gets at most half of the places. */
  places: number
  /** The longest run of a job, in ms; then its signal is aborted, and the attempt has failed. */
  maxRunMs: number
}

export const JOB_CLASSES = {
  media: { places: 8, maxRunMs: 15 * MINUTE_MS },
  broadcasts: { places: 16, maxRunMs: 5 * MINUTE_MS },
  scheduled: { places: 16, maxRunMs: 5 * MINUTE_MS },
  preparation: { places: 2, maxRunMs: 10 * MINUTE_MS },
  transcription: { places: 2, maxRunMs: 10 * MINUTE_MS },
  search: { places: 2, maxRunMs: 10 * MINUTE_MS },
  sync: { places: 4, maxRunMs: 10 * MINUTE_MS },
  history: { places: 2, maxRunMs: 10 * MINUTE_MS },
  erasure: { places: 2, maxRunMs: 30 * MINUTE_MS },
  retention: { places: 2, maxRunMs: 30 * MINUTE_MS },
  maintenance: { places: 2, maxRunMs: 30 * MINUTE_MS },
  pruning: { places: 1, maxRunMs: 240 * MINUTE_MS },
  // Jobs whose process died, of all tasks. Each runs as long as one of its own class.
  alone: { places: 1, maxRunMs: 30 * MINUTE_MS },
} as const satisfies Record<string, JobClass>

export type JobClassName = keyof typeof JOB_CLASSES

/** Every task and its class. */
export const JOB_TASKS = {
  fetch_media: 'media',
  start_broadcast: 'broadcasts',
  send_broadcast: 'broadcasts',
  send_scheduled: 'scheduled',
  prepare_broadcast: 'preparation',
  transcribe_voice_note: 'transcription',
  index_conversation: 'search',
  tell_placeholder: 'search',
  import_phone_history: 'history',
  sync_templates: 'sync',
  sync_orders: 'sync',
  check_number: 'sync',
  erase_contact: 'erasure',
  erase_traces: 'erasure',
  remove_media: 'erasure',
  remove_audience: 'erasure',
  sweep_webhook: 'erasure',
  delete_organization: 'erasure',
  apply_retention: 'retention',
  expire_outcomes: 'maintenance',
  roll_up_counts: 'maintenance',
  reconcile_broadcasts: 'maintenance',
  sync_all_templates: 'maintenance',
  sync_all_orders: 'maintenance',
  check_all_numbers: 'maintenance',
  prune: 'pruning',
} as const satisfies Record<string, JobClassName>

export type JobTask = keyof typeof JOB_TASKS

/** The waits after failed attempts: 3 s, 7 s, 20 s, 1 min, 2 min, 7 min, 18 min, 50 min, 2 h, then 6 h each. */
export const JOB_BACKOFF = { baseMs: 2_718, factor: Math.E, maxMs: 22_026_000, jitter: 0.1 }

/** The key of tasks that have at most one job per organization. */
export const ONLY_ONE = 'all'

/** After this time, in ms, a job that works in slices gives its place back, unless its task has a limit of its own. */
export const SLICE_MS = 10_000
/** A job whose process died shows soon that it can end a slice. */
export const ALONE_SLICE_MS = 100

/** The result of a job that is to run again. */
export interface Again {
  /** Milliseconds until then. */
  againInMs: number
  /** Its new payload; default: as it was. */
  payload?: object
}

/** A job that is being run. */
export interface RunningJob {
  /** Zeros for the service's own jobs. */
  organizationId: string
  payload: unknown
  /** From 1. An attempt that a shutdown interrupted does not count. */
  attempt: number
  /** When it was last requested. */
  requestedAt: Date
  /** Whether its process died the last time. Then its slice is to be short: see ALONE_SLICE_MS. */
  isAlone: boolean
  /** Aborted when the service stops and cannot wait, or when the job has run for too long. */
  signal: AbortSignal
}

/**
 * The code of a task. It must be repeatable: a job whose process died runs again. If it throws, the job is retried with
 * back-off.
 */
export type RunJob = (job: RunningJob) => Promise<Again | null> | Promise<void>

/** A job or a callback that failed on every attempt. */
export interface FailedWork {
  /** The number of a job, or the UUID of a callback. */
  id: string
  organization_id: string
  /** The organization's slug; null if the organization is deleted. */
  organization: string | null
  /** `callback`: a stored callback. */
  task: string
  attempts: number
  failed_at: Date
  /** Why the last attempt failed. */
  error: string | null
}
