import type { Context } from '../../../context.js'
import { backoffDelay, sleep } from '../../../lib/async/backoff.js'
import { batch } from '../../../lib/async/batcher.js'
import type { Semaphore } from '../../../lib/async/semaphore.js'
import { recordAttempts } from '../../../storage/webhooks/deliveries.js'
import { lockFeeds } from '../../../storage/webhooks/feeds.js'
import type { EndedAttempt } from './attempt.js'
import type { Claims } from './claim.js'
import { recordHealth } from './health.js'

export type RecordContext = Pick<Context, 'database' | 'clock' | 'log' | 'processId'>

/** What recording needs of the other parts. */
export interface RecordOptions {
  claims: Pick<Claims, 'add'>
  /** The transactions of this process that lock feeds run one at a time. */
  oneAtATime: Semaphore
  /** Aborted when nothing is to be recorded any more. */
  signal: AbortSignal
}

const MAX_BATCH = 256
/** Delay before attempts are recorded again whose organization another transaction had locked. */
const LOCKED_MS = 10
/** Waits after a failed transaction. */
const RETRY = { baseMs: 50, maxMs: 2_000, jitter: 0.5 }

/**
 * Creates the function that records an attempt; it resolves when that is done or given up, and does not reject.
 * Attempts of the same moment are recorded in one transaction, with the feeds of their organizations locked. It makes
 * the next deliveries of their contacts due.
 */
export function createRecorder(ctx: RecordContext, options: RecordOptions): (ended: EndedAttempt) => Promise<void> {
  const { claims, oneAtATime, signal } = options
  const failing = new Set<string>()
  let failures = 0

  /** Returns which attempts are recorded. */
  async function recordAll(attempts: EndedAttempt[]): Promise<boolean[]> {
    try {
      const locked = await oneAtATime(() => recordTogether(attempts))
      failures = 0
      return attempts.map(({ result }) => !locked.has(result.organization_id))
    } catch (error) {
      failures += 1
      ctx.log.warn({ err: error }, 'webhook attempts could not be recorded; trying again')
      await sleep(backoffDelay(failures, RETRY), signal).catch(() => undefined)
      return attempts.map(() => false)
    }
  }

  /** Returns the organizations that another transaction has locked; nothing of them is recorded. */
  async function recordTogether(attempts: EndedAttempt[]): Promise<ReadonlySet<string>> {
    const now = ctx.clock()
    const { locked, due, disabled } = await ctx.database.transaction(async (transaction) => {
      const ids = new Set(attempts.map(({ result }) => result.organization_id))
      const locked = await lockFeeds(transaction, [...ids])
      const mine = attempts.filter(({ result }) => !locked.has(result.organization_id))
      if (mine.length === 0) return { locked, due: [], disabled: [] }
      const results = mine.map(({ result }) => result)
      const due = await recordAttempts(transaction, ctx.processId, results, now)
      return { locked, due, disabled: await recordHealth(transaction, mine, failing) }
    })
    for (const webhook of due) claims.add(webhook)
    for (const { organization_id: organizationId, id: webhookId, reason } of disabled)
      ctx.log.warn({ organizationId, webhookId, reason }, 'a webhook is disabled')
    return locked
  }

  const recordOne = batch(recordAll, MAX_BATCH)
  return async (ended) => {
    while (!signal.aborted && !(await recordOne(ended))) await sleep(LOCKED_MS)
  }
}
