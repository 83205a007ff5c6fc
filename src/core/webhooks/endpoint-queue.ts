import type { DueDelivery, DueQuery, DueResult } from '../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'
import type { EndedAttempt } from './attempt.js'
import { createConcurrency } from './concurrency.js'

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
/** Maximum number of deliveries read per concurrent send, so that slow endpoints get few. */
const PREFETCH_PER_SLOT = 8

/**
 * The due deliveries of one webhook in this process. The database decides what is due; the queue only sends. It first
 * reads what is due.
 */
export class EndpointQueue {
  /** The webhook as last read. */
  endpoint: EndpointRow
  readonly #options: EndpointQueueOptions
  readonly #concurrency = createConcurrency()
  readonly #waiting: DueDelivery[] = []
  /** Waiting, in flight, or finished but not recorded. */
  readonly #known = new Set<string>()
  #inFlight = 0
  #mayHaveMore = true
  /** The pending query is outdated. */
  #isResultStale = false
  #nextDueAt: Date | null = null
  #isClosed = false

  constructor(endpoint: EndpointRow, options: EndpointQueueOptions) {
    this.endpoint = endpoint
    this.#options = options
  }

  /** Adds deliveries that have just become due; if there is no room, they are read later. */
  enqueue(due: readonly DueDelivery[]): void {
    const hasRoom = this.#waiting.length + due.length <= CAPACITY && this.#known.size < MAX_KNOWN
    // If others wait in the database, these come after them.
    if (this.#mayHaveMore || this.#isClosed || !hasRoom) this.#mayHaveMore = true
    else this.#push(due)
    this.#options.onWork(this)
  }

  /** Reads from the database again, because something may have become due. */
  refresh(): void {
    this.#mayHaveMore = true
    this.#options.onWork(this)
  }

  /** Like refresh, and discards the waiting deliveries, because they may not be due any more. */
  reload(): void {
    this.#empty()
    this.#isResultStale = true
    this.refresh()
  }

  /** What to read from the database now, at most `limit`; null: nothing. If the result does not come, call refresh. */
  nextQuery(now: Date, limit: number): DueQuery | null {
    if (this.#isClosed || !this.#needsMore() || !this.#isDueNow(now) || this.#concurrency.pausedUntil(now) !== null) {
      return null
    }
    const room = Math.min(limit, CAPACITY - this.#waiting.length, PREFETCH_PER_SLOT * this.#concurrency.limit())
    this.#mayHaveMore = false
    this.#isResultStale = false
    const { organization_id, id } = this.endpoint
    return { organization_id, webhook_id: id, room, known: [...this.#known] }
  }

  /** Adds the result of a query. */
  accept({ room }: DueQuery, { due, nextDueAt }: DueResult): void {
    if (this.#isResultStale) return
    if (due.length === room) this.#mayHaveMore = true
    this.#nextDueAt = nextDueAt
    if (!this.#isClosed) this.#push(due)
  }

  /** Sends as many as the concurrency limit allows. */
  pump(): void {
    const { clock } = this.#options
    while (!this.#isClosed && this.#concurrency.allows(this.#inFlight, clock())) {
      const delivery = this.#waiting.shift()
      if (!delivery) return
      void this.#send(delivery)
    }
    // Deliveries to a dead endpoint are not kept in memory.
    if (this.#waiting.length > LOW_WATER_MARK && this.#concurrency.pausedUntil(clock()) !== null) {
      this.#empty()
      this.#mayHaveMore = true
    }
  }

  /** Reports that an attempt has been recorded. */
  recorded({ result }: EndedAttempt): void {
    this.#known.delete(result.id)
    const next = result.next_attempt_at
    if (next !== null && (this.#nextDueAt === null || next < this.#nextDueAt)) this.#nextDueAt = next
    this.#options.onWork(this)
  }

  /** When to wake the queue if nothing happens before; null: never. */
  wakesAt(now: Date): Date | null {
    if (this.#isClosed) return null
    // With enough waiting, the end of an attempt wakes the queue.
    return this.#concurrency.pausedUntil(now) ?? (this.#waiting.length > LOW_WATER_MARK ? null : this.#nextDueAt)
  }

  isIdle(): boolean {
    return this.#known.size === 0
  }

  /** Sends nothing more; deliveries in flight end. */
  close(): void {
    this.#isClosed = true
    this.#empty()
  }

  async #send(delivery: DueDelivery): Promise<void> {
    const { attempt, onEnd, onWork } = this.#options
    this.#inFlight += 1
    const ended = await attempt(this.endpoint, delivery)
    this.#inFlight -= 1
    if (ended === null) this.#known.delete(delivery.id)
    else {
      if (ended.sample?.delivered) this.#concurrency.succeeded(ended.begunAt)
      else if (ended.sample) this.#concurrency.failed(ended.begunAt, ended.sample.at, ended.retryAfterMs)
      onEnd(ended, this)
    }
    this.pump()
    onWork(this)
  }

  #push(due: readonly DueDelivery[]): void {
    for (const delivery of due) {
      if (this.#known.has(delivery.id)) continue
      this.#known.add(delivery.id)
      this.#waiting.push(delivery)
    }
  }

  #empty(): void {
    for (const { id } of this.#waiting.splice(0)) this.#known.delete(id)
  }

  /** If nothing can be recorded, nothing more is read. */
  #needsMore(): boolean {
    return this.#waiting.length <= LOW_WATER_MARK && this.#known.size < MAX_KNOWN
  }

  #isDueNow(now: Date): boolean {
    return this.#mayHaveMore || (this.#nextDueAt !== null && this.#nextDueAt <= now)
  }
}
