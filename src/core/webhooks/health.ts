const DAY_MS = 24 * 3_600_000
/** A webhook that has only failed for this long is disabled. */
const GIVE_UP_AFTER_MS = 5 * DAY_MS
/** The status of an endpoint that no longer exists. */
export const GONE = 410

/** How an endpoint has responded lately. */
export interface Health {
  /** The first failure since the last success. */
  failingSince: Date | null
  /** Why it is to be disabled, for users; null if it is not. */
  disabledReason: string | null
}

/** What one attempt says about an endpoint. */
export interface HealthSample {
  at: Date
  delivered: boolean
  /** The status of the answer; null if there was none. */
  status: number | null
}

/** The health after one more attempt. */
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
