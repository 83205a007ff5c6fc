const DAY_MS = 24 * 3_600_000
/** So long nothing but failures, and a webhook is disabled (contract 4, Webhooks). */
const GIVE_UP_AFTER_MS = 5 * DAY_MS
/** The answer of an endpoint that is there no more. */
export const GONE = 410

/** How an endpoint has answered lately. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null
  /** Why it is to be disabled, for people; null where it is not. */
  disabledReason: string | null
}

/** What an attempt tells of an endpoint. */
export interface HealthSample {
  at: Date
  delivered: boolean
  /** The answer's status; null where there was none. */
  status: number | null
}

/** How an endpoint is after one more attempt. */
export function healthAfter({ failingSince, disabledReason }: Health, { at, delivered, status }: HealthSample): Health {
  if (disabledReason !== null) return { failingSince, disabledReason }
  if (delivered) return { failingSince: null, disabledReason: null }
  const since = failingSince ?? at
  return { failingSince: since, disabledReason: reasonToDisable(since, at, status) }
}

function reasonToDisable(since: Date, at: Date, status: number | null): string | null {
  if (status === GONE) return 'The endpoint answered 410: it is gone'
  if (at.getTime() - since.getTime() < GIVE_UP_AFTER_MS) return null
  return `Nothing but failures since ${since.toISOString()}`
}
