import type { DueDelivery, DueQuery, DueResult } from '../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { createConcurrency } from './concurrency.js'

/** The due deliveries of one webhook in this process. The database decides what is due; the queue only sends. */
export interface EndpointQueue {
  /** The webhook as last read. */
  endpoint: EndpointRow
  /** Adds deliveries that have just become due; if there is no room, they are read later. */
  enqueue(due: readonly DueDelivery[]): void
  /** Reads from the database again, because something may have become due. */
  refresh(): void
  /** Like refresh, and discards the waiting deliveries, because they may not be due any more. */
  reload(): void
  /** What to read from the database now, at most `limit`; null: nothing. If the result does not come, call refresh. */
  nextQuery(now: Date, limit: number): DueQuery | null
  /** Adds the result of a query. */
  accept(query: DueQuery, result: DueResult): void
  /** Sends as many as the concurrency limit allows. */
  pump(): void
  /** Reports that an attempt has been recorded. */
  recorded(ended: EndedAttempt): void
  /** When to wake the queue if nothing happens before; null: never. */
  wakesAt(now: Date): Date | null
  isIdle(): boolean
  /** Sends nothing more; deliveries in flight end. */
  close(): void
}

export interface EndpointQueueOptions {
  /** Attempts a delivery once; null if it was aborted. */
  attempt: (endpoint: EndpointRow, delivery: DueDelivery) => Promise<EndedAttempt | null>
  clock: () => Date
  /** Called with attempts to record. */
  onEnd: (ended: EndedAttempt, endpointQueue: EndpointQueue) => void
  /** Called when the queue has something to read or send. */
  onWork: (endpointQueue: EndpointQueue) => void
}

/** Maximum number of waiting deliveries. */
const CAPACITY = 200
/** At this number, more are read. */
const LOW_WATER_MARK = 64
/** Maximum number of waiting, in-flight and unrecorded deliveries together. */
const MAX_KNOWN = 2 * CAPACITY
/** Reads at most so many per concurrent send, so that slow endpoints get few. */
const PREFETCH_PER_SLOT = 8

/** Creates a queue that first reads what is due. */
export function createEndpointQueue(
  endpoint: EndpointRow,
  { attempt, clock, onEnd, onWork }: EndpointQueueOptions,
): EndpointQueue {
  const concurrency = createConcurrency()
  const waiting: DueDelivery[] = []
  /** Waiting, in flight, or finished but not recorded. */
  const known = new Set<string>()
  let inFlight = 0
  let mayHaveMore = true
  /** The pending query is outdated. */
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
      // If others wait in the database, these come after them.
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
      // If nothing can be recorded, nothing more is sent.
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
      // Deliveries to a dead endpoint are not kept in memory.
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
    // With enough waiting, the end of an attempt wakes the queue.
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
