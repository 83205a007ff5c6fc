import type { Database } from '../../../database/pool.js'
import { batch } from '../../../lib/async/batcher.js'
import type { RateLimitedNumber, ReserveSendSlot, SendSlot } from '../../../model/messages/send-rate.js'
import { reserveSendTime } from '../../../storage/messages/send-rates.js'

/**
 * By default, slots are reserved only if the first begins within this time, and a batch reserves at most this much
 * time. So no send waits longer than twice this span, and a request has time left for its call.
 */
const SPAN_MS = 5_000
const MAX_BATCH = 1_000

/**
 * Creates the rate limiter of this process. Slots are evenly spaced and are reserved in the database, in one statement
 * for sends of the same moment.
 */
export function createSendRateLimiter(database: Database): ReserveSendSlot {
  const batchers = new Map<string, (intervalMs: number) => Promise<SendSlot>>()

  function batcherOf(
    organizationId: string,
    phoneNumberId: string,
    maxWaitMs: number,
  ): (intervalMs: number) => Promise<SendSlot> {
    const name = `${organizationId} ${phoneNumberId} ${maxWaitMs}`
    const known = batchers.get(name)
    if (known) return known
    const batcher = batch(
      (intervals: number[]) => reserveSlots(database, organizationId, phoneNumberId, { intervals, maxWaitMs }),
      MAX_BATCH,
    )
    batchers.set(name, batcher)
    return batcher
  }

  return async (organizationId, { phoneNumberId, messagesPerSecond }, maxWaitMs = SPAN_MS) => {
    if (messagesPerSecond === 0) return { reserved: true, waitMs: 0 }
    return batcherOf(organizationId, phoneNumberId, maxWaitMs)(1_000 / messagesPerSecond)
  }
}

/** The next free slot, without reserving it. */
export async function peekSendSlot(
  database: Database,
  organizationId: string,
  { phoneNumberId, messagesPerSecond }: RateLimitedNumber,
): Promise<SendSlot> {
  if (messagesPerSecond === 0) return { reserved: true, waitMs: 0 }
  const nothing = { durationMs: 0, maxWaitMs: SPAN_MS }
  const { reserved, waitMs } = await reserveSendTime(database, organizationId, phoneNumberId, nothing)
  return { reserved, waitMs: Math.ceil(waitMs) }
}

async function reserveSlots(
  database: Database,
  organizationId: string,
  phoneNumberId: string,
  { intervals, maxWaitMs }: { intervals: number[]; maxWaitMs: number },
): Promise<SendSlot[]> {
  // The intervals only differ while the number's rate is being changed.
  const intervalMs = Math.max(...intervals)
  const granted = Math.min(intervals.length, Math.max(1, Math.floor(maxWaitMs / intervalMs)))
  const { reserved, waitMs } = await reserveSendTime(database, organizationId, phoneNumberId, {
    durationMs: granted * intervalMs,
    maxWaitMs,
  })
  return intervals.map((_, index) => ({
    reserved: reserved && index < granted,
    waitMs: Math.ceil(waitMs + index * intervalMs),
  }))
}
