import type { DueDelivery, DueQuery, DueResult } from '../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { createConcurrency } from './concurrency.js'

/** The due deliveries of one webhook that this process has in its hands. The database decides what is due; this only sends. */
export interface EndpointQueue {
  /** Where they go, as it was read last. */
  endpoint: EndpointRow
  /** Puts deliveries in line that have just become due; what there is no room for is asked for later. */
  enqueue(due: readonly DueDelivery[]): void
  /** Has the database looked at again: somebody else may have made something due. */
  refresh(): void
  /** The same, and what is in line is read again: it may be due no more. */
  reload(): void
  /** What to ask the database for now, at most `limit`; null: nothing. Where the answer does not come, it is to look again. */
  nextQuery(now: Date, limit: number): DueQuery | null
  /** Takes what was asked for. */
  accept(query: DueQuery, result: DueResult): void
  /** Sends as many as the endpoint takes at a time. */
  pump(): void
  /** The attempt has been recorded. */
  recorded(ended: EndedAttempt): void
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
  onEnd: (ended: EndedAttempt, endpointQueue: EndpointQueue) => void
  /** Is told that the lane has something to ask for or to send. */
  onWork: (endpointQueue: EndpointQueue) => void
}

/** So many deliveries stand in line at most. */
const CAPACITY = 200
/** With so few left, more are asked for. */
const LOW_WATER_MARK = 64
/** So many are in line, in flight and not recorded together at most. */
const MAX_KNOWN = 2 * CAPACITY
/** So many are asked for at most for each that is sent at a time: few, where the endpoint takes few. */
const PREFETCH_PER_SLOT = 8

/** A lane of the endpoint, which first of all asks for what is due. */
export function createEndpointQueue(
  endpoint: EndpointRow,
  { attempt, clock, onEnd, onWork }: EndpointQueueOptions,
): EndpointQueue {
  const concurrency = createConcurrency()
  const waiting: DueDelivery[] = []
  /** Those in line, in flight, and ended but not recorded. */
  const known = new Set<string>()
  let inFlight = 0
  let mayHaveMore = true
  /** What was asked for has changed meanwhile. */
  let isResultStale = false
  let nextDueAt: Date | null = null
  let isClosed = false

  async function send(delivery: DueDelivery): Promise<void> {
    inFlight += 1
    const ended = await attempt(endpointQueue.endpoint, delivery)
    inFlight -= 1
    if (ended === null) known.delete(delivery.id)
    else {
      if (ended.sample?.delivered) concurrency.succeeded(ended.begunAt)
      else if (ended.sample) concurrency.failed(ended.begunAt, ended.sample.at, ended.retryAfterMs)
      onEnd(ended, endpointQueue)
    }
    endpointQueue.pump()
    onWork(endpointQueue)
  }

  function push(due: readonly DueDelivery[]): void {
    for (const delivery of due) {
      if (known.has(delivery.id)) continue
      known.add(delivery.id)
      waiting.push(delivery)
    }
  }

  function empty(): void {
    for (const { id } of waiting.splice(0)) known.delete(id)
  }

  function isDueNow(now: Date): boolean {
    return mayHaveMore || (nextDueAt !== null && nextDueAt <= now)
  }

  const endpointQueue: EndpointQueue = {
    endpoint,
    enqueue: (due) => {
      // Where others wait in the database, these come after them.
      if (mayHaveMore || isClosed || waiting.length + due.length > CAPACITY || known.size >= MAX_KNOWN)
        mayHaveMore = true
      else push(due)
      onWork(endpointQueue)
    },
    refresh: () => {
      mayHaveMore = true
      onWork(endpointQueue)
    },
    reload: () => {
      empty()
      isResultStale = true
      endpointQueue.refresh()
    },
    nextQuery: (now, limit) => {
      // Where nothing can be recorded, nothing more is sent.
      if (
        isClosed ||
        waiting.length > LOW_WATER_MARK ||
        known.size >= MAX_KNOWN ||
        !isDueNow(now) ||
        concurrency.pausedUntil(now) !== null
      )
        return null
      const room = Math.min(limit, CAPACITY - waiting.length, PREFETCH_PER_SLOT * concurrency.limit())
      mayHaveMore = false
      isResultStale = false
      return { organization_id: endpoint.organization_id, webhook_id: endpoint.id, room, known: [...known] }
    },
    accept: ({ room }, { due, nextDueAt: next }) => {
      if (isResultStale) return
      if (due.length === room) mayHaveMore = true
      nextDueAt = next
      if (!isClosed) push(due)
    },
    pump: () => {
      while (!isClosed && concurrency.allows(inFlight, clock())) {
        const delivery = waiting.shift()
        if (!delivery) return
        void send(delivery)
      }
      // What a dead endpoint does not take is not kept in memory.
      if (waiting.length > LOW_WATER_MARK && concurrency.pausedUntil(clock()) !== null) {
        empty()
        mayHaveMore = true
      }
    },
    recorded: ({ result }) => {
      known.delete(result.id)
      const next = result.next_attempt_at
      if (next !== null && (nextDueAt === null || next < nextDueAt)) nextDueAt = next
      onWork(endpointQueue)
    },
    // With enough in line, the end of an attempt is what wakes it.
    wakesAt: (now) =>
      isClosed ? null : (concurrency.pausedUntil(now) ?? (waiting.length > LOW_WATER_MARK ? null : nextDueAt)),
    isIdle: () => known.size === 0,
    close: () => {
      isClosed = true
      empty()
    },
  }
  return endpointQueue
}
