import type { Database } from '../../../database/pool.js'
import { batch } from '../../../lib/async/batcher.js'
import type { RateLimitedNumber, ReserveSendSlot, SendSlot } from '../../../model/messages/send-rate.js'
import { reserveSendTime } from '../../../storage/messages/send-rates.js'

/**
 * Turns are spoken for when the first of them begins within this time, at most as much of it again at once: nobody waits
 * longer than twice that, and what remains of a request's time is for its call.
 */
const SPAN_MS = 5_000
const MAX_BATCH = 1_000

/**
 * Makes the pacer of a process: turns lie evenly in time and are spoken for in the database, those that are asked for at
 * the same moment together.
 */
export function createSendRateLimiter(database: Database): ReserveSendSlot {
  const batchers = new Map<string, (intervalMs: number) => Promise<SendSlot>>()

  function batcherOf(organizationId: string, phoneNumberId: string): (intervalMs: number) => Promise<SendSlot> {
    const name = `${organizationId} ${phoneNumberId}`
    const known = batchers.get(name)
    if (known) return known
    const batcher = batch(
      (intervals: number[]) => reserveSlots(database, organizationId, phoneNumberId, intervals),
      MAX_BATCH,
    )
    batchers.set(name, batcher)
    return batcher
  }

  return async (organizationId, { phoneNumberId, messagesPerSecond }) => {
    if (messagesPerSecond === 0) return { reserved: true, waitMs: 0 }
    return batcherOf(organizationId, phoneNumberId)(1_000 / messagesPerSecond)
  }
}

/** When a turn would come that was asked for now; nothing is spoken for. */
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
  intervals: number[],
): Promise<SendSlot[]> {
  // All have the number's interval, but for those who asked while it was being changed.
  const intervalMs = Math.max(...intervals)
  const granted = Math.min(intervals.length, Math.max(1, Math.floor(SPAN_MS / intervalMs)))
  const { reserved, waitMs } = await reserveSendTime(database, organizationId, phoneNumberId, {
    durationMs: granted * intervalMs,
    maxWaitMs: SPAN_MS,
  })
  return intervals.map((_, index) => ({
    reserved: reserved && index < granted,
    waitMs: Math.ceil(waitMs + index * intervalMs),
  }))
}
