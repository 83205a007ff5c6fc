/** An outage so far, or as it was. */
export interface OutageFacts {
  /** When the first failure was, in ISO 8601. */
  since: string
  /** Since the first failure. */
  seconds: number
  failures: number
  /** The text of the newest failure. */
  reason: string
}

/** Watches something that may fail for a while. */
export interface OutageWatch {
  failed(reason: string): void
  worked(): void
  /** Whether an outage was told and has not ended. */
  isOut(): boolean
}

/** For what nobody watches. */
export const unwatched: OutageWatch = {
  failed: () => undefined,
  worked: () => undefined,
  isOut: () => false,
}

const TOLD_AGAIN_MS = 60_000
/** Where calls are few, `enough` of them would take too long. */
const LONG_MS = 30_000

/**
 * Tells an outage in few lines, however often it is noticed: when `enough` calls in a row have failed, or all of the last
 * 30 s and more than one, then once a minute while calls fail, and when one has worked.
 */
export function watchOutage(
  tell: { fails: (facts: OutageFacts) => void; worksAgain: (facts: OutageFacts) => void },
  enough = 1,
  now: () => number = () => performance.now(),
): OutageWatch {
  let outage: { since: string; begunAt: number; failures: number; reason: string; toldAt: number | null } | null = null

  function factsOf({ since, begunAt, failures, reason }: NonNullable<typeof outage>): OutageFacts {
    return { since, seconds: Math.round((now() - begunAt) / 1_000), failures, reason }
  }

  return {
    failed: (reason) => {
      outage ??= { since: new Date().toISOString(), begunAt: now(), failures: 0, reason, toldAt: null }
      outage.failures += 1
      outage.reason = reason
      const isDue =
        outage.toldAt === null
          ? outage.failures >= enough || now() - outage.begunAt >= LONG_MS
          : now() - outage.toldAt >= TOLD_AGAIN_MS
      if (!isDue) return
      outage.toldAt = now()
      tell.fails(factsOf(outage))
    },
    worked: () => {
      if (outage !== null && outage.toldAt !== null) tell.worksAgain(factsOf(outage))
      outage = null
    },
    isOut: () => outage !== null && outage.toldAt !== null,
  }
}

/**
 * Watches, in the same way, something that works for some while it fails for others: that one call has worked ends
 * nothing. The outage is over when one works and none has failed for `quietMs`.
 */
export function watchPartialOutage(
  tell: Parameters<typeof watchOutage>[0],
  quietMs: number,
  now: () => number = () => performance.now(),
): OutageWatch {
  const outage = watchOutage(tell, 1, now)
  let failedAt = Number.NEGATIVE_INFINITY
  return {
    failed: (reason) => {
      failedAt = now()
      outage.failed(reason)
    },
    worked: () => {
      if (now() - failedAt > quietMs) outage.worked()
    },
    isOut: outage.isOut,
  }
}
