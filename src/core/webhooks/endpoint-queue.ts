import type { DueAnswer, DueDelivery, DueQuestion } from '../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { createConcurrency } from './concurrency.js'

/** The due deliveries of one webhook that this process has in its hands. The database decides what is due; this only sends. */
export interface EndpointQueue {
  /** Where they go, as it was read last. */
  endpoint: EndpointRow
  /** Puts deliveries in line that have just become due; what there is no room for is asked for later. */
  offer(due: readonly DueDelivery[]): void
  /** Has the database looked at again: somebody else may have made something due. */
  lookAgain(): void
  /** The same, and what is in line is read again: it may be due no more. */
  reload(): void
  /** What to ask the database for now, at most `limit`; null: nothing. Where the answer does not come, it is to look again. */
  question(now: Date, limit: number): DueQuestion | null
  /** Takes what was asked for. */
  take(question: DueQuestion, answer: DueAnswer): void
  /** Sends as many as the endpoint takes at a time. */
  pump(): void
  /** The attempt has been recorded. */
  settle(ended: EndedAttempt): void
  /** When it has something to do again, if nobody calls before; null: never. */
  wakesAt(now: Date): Date | null
  /** Whether it has nothing in its hands. */
  isIdle(): boolean
  /** Sends nothing more; what is in flight ends. */
  close(): void
}

/** What a lane is given by the dispatcher. */
export interface EndpointQueueOptions {
  /** Attempts a delivery once; null where that was broken off. */
  attempt: (endpoint: EndpointRow, delivery: DueDelivery) => Promise<EndedAttempt | null>
  clock: () => Date
  /** Is told of attempts that are to be recorded. */
  onEnd: (ended: EndedAttempt, lane: EndpointQueue) => void
  /** Is told that the lane has something to ask for or to send. */
  onWork: (lane: EndpointQueue) => void
}

/** So many deliveries stand in line at most. */
const ROOM = 200
/** With so few left, more are asked for. */
const LOW = 64
/** So many are in line, in flight and not recorded together at most. */
const MAX_KNOWN = 2 * ROOM
/** So many are asked for at most for each that is sent at a time: few, where the endpoint takes few. */
const AHEAD = 8

/** A lane of the endpoint, which first of all asks for what is due. */
export function createEndpointQueue(
  endpoint: EndpointRow,
  { attempt, clock, onEnd, onWork }: EndpointQueueOptions,
): EndpointQueue {
  const pace = createConcurrency()
  const queue: DueDelivery[] = []
  /** Those in line, in flight, and ended but not recorded. */
  const known = new Set<string>()
  let inFlight = 0
  let mayHaveMore = true
  /** What was asked for has changed meanwhile. */
  let isAnswerStale = false
  let nextDueAt: Date | null = null
  let isClosed = false

  async function send(delivery: DueDelivery): Promise<void> {
    inFlight += 1
    const ended = await attempt(lane.endpoint, delivery)
    inFlight -= 1
    if (ended === null) known.delete(delivery.id)
    else {
      if (ended.sign?.delivered) pace.succeeded(ended.begunAt)
      else if (ended.sign) pace.failed(ended.begunAt, ended.sign.at, ended.retryAfterMs)
      onEnd(ended, lane)
    }
    lane.pump()
    onWork(lane)
  }

  function push(due: readonly DueDelivery[]): void {
    for (const delivery of due) {
      if (known.has(delivery.id)) continue
      known.add(delivery.id)
      queue.push(delivery)
    }
  }

  function empty(): void {
    for (const { id } of queue.splice(0)) known.delete(id)
  }

  function isDueNow(now: Date): boolean {
    return mayHaveMore || (nextDueAt !== null && nextDueAt <= now)
  }

  const lane: EndpointQueue = {
    endpoint,
    offer: (due) => {
      // Where others wait in the database, these come after them.
      if (mayHaveMore || isClosed || queue.length + due.length > ROOM || known.size >= MAX_KNOWN) mayHaveMore = true
      else push(due)
      onWork(lane)
    },
    lookAgain: () => {
      mayHaveMore = true
      onWork(lane)
    },
    reload: () => {
      empty()
      isAnswerStale = true
      lane.lookAgain()
    },
    question: (now, limit) => {
      // Where nothing can be recorded, nothing more is sent.
      if (isClosed || queue.length > LOW || known.size >= MAX_KNOWN || !isDueNow(now) || pace.pausedUntil(now) !== null)
        return null
      const room = Math.min(limit, ROOM - queue.length, AHEAD * pace.limit())
      mayHaveMore = false
      isAnswerStale = false
      return { organization_id: endpoint.organization_id, webhook_id: endpoint.id, room, known: [...known] }
    },
    take: ({ room }, { due, nextDueAt: next }) => {
      if (isAnswerStale) return
      if (due.length === room) mayHaveMore = true
      nextDueAt = next
      if (!isClosed) push(due)
    },
    pump: () => {
      while (!isClosed && pace.allows(inFlight, clock())) {
        const delivery = queue.shift()
        if (!delivery) return
        void send(delivery)
      }
      // What a dead endpoint does not take is not kept in memory.
      if (queue.length > LOW && pace.pausedUntil(clock()) !== null) {
        empty()
        mayHaveMore = true
      }
    },
    settle: ({ result }) => {
      known.delete(result.id)
      const next = result.next_attempt_at
      if (next !== null && (nextDueAt === null || next < nextDueAt)) nextDueAt = next
      onWork(lane)
    },
    // With enough in line, the end of an attempt is what wakes it.
    wakesAt: (now) => (isClosed ? null : (pace.pausedUntil(now) ?? (queue.length > LOW ? null : nextDueAt))),
    isIdle: () => known.size === 0,
    close: () => {
      isClosed = true
      empty()
    },
  }
  return lane
}
