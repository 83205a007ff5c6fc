import { withTimeout } from '../../../lib/async/timeout.js'
import { type ClaimedDelivery, LOST_AFTER_MS } from '../../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import type { Attempter, EndedAttempt } from './attempt.js'
import { Places } from './places.js'

/** Counts since the start of the process: attempts that delivered and that failed; and attempts in flight. */
export interface WebhookFigures {
  delivered: number
  failed: number
  inFlight: number
}

/** The most attempts of an organization that have ended and are not recorded: its feed may be locked for long. */
const MAX_UNRECORDED = 256

interface InFlightOptions {
  clock: () => Date
  attempt: Attempter
  /** Resolves when the attempt is recorded; does not reject. */
  record: (ended: EndedAttempt) => Promise<void>
  /** Called when a place has become free. */
  onFree: () => void
}

/** The deliveries that this process has claimed, until their attempts are recorded. */
export class InFlight {
  readonly figures: WebhookFigures = { delivered: 0, failed: 0, inFlight: 0 }
  readonly #places = new Places()
  /** When each was claimed. */
  readonly #claimedAt = new Map<string, number>()
  /** The number of attempts that have ended and are not recorded, by organization. */
  readonly #unrecorded = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  readonly #hangUp = new AbortController()
  readonly #options: InFlightOptions
  #isClosed = false
  #settled = 0

  constructor(options: InFlightOptions) {
    this.#options = options
  }

  /** Takes a place for an attempt at the endpoint; false if there is none. */
  take(endpoint: EndpointRow): boolean {
    const unrecorded = this.#unrecorded.get(endpoint.organization_id) ?? 0
    return !this.#isClosed && unrecorded < MAX_UNRECORDED && this.#places.take(endpoint, this.#options.clock())
  }

  /** Gives a place back. */
  give(endpoint: EndpointRow): void {
    this.#places.give(endpoint)
    this.#options.onFree()
  }

  /** Attempts a claimed delivery in a place that was taken. */
  start(endpoint: EndpointRow, delivery: ClaimedDelivery): void {
    this.#claimedAt.set(delivery.id, performance.now())
    const run = this.#run(endpoint, delivery).finally(() => {
      this.#claimedAt.delete(delivery.id)
      this.#running.delete(run)
      this.#settled += 1
    })
    this.#running.add(run)
  }

  /** The ids of the deliveries that were claimed so long ago that others could take their claims for lost. */
  heldIds(): string[] {
    const latest = performance.now() - LOST_AFTER_MS / 6
    return [...this.#claimedAt].flatMap(([id, claimedAt]) => (claimedAt <= latest ? [id] : []))
  }

  /** For tests: how many attempts are recorded so far; and resolves when the next one is, null if none is in flight. */
  progress(): { settled: number; next: Promise<void> | null } {
    return { settled: this.#settled, next: this.#running.size > 0 ? Promise.race(this.#running) : null }
  }

  /** Starts no further attempt. Waits for those in flight until they are recorded, aborts them after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    const settled = async () => {
      while (this.#running.size > 0) await Promise.all(this.#running)
    }
    await withTimeout(settled(), graceMs)
    this.#hangUp.abort()
    await settled()
  }

  async #run(endpoint: EndpointRow, delivery: ClaimedDelivery): Promise<void> {
    this.figures.inFlight += 1
    const ended = await this.#options.attempt(endpoint, delivery, this.#hangUp.signal)
    this.figures.inFlight -= 1
    if (ended === null) return this.give(endpoint)
    if (ended.sample) this.#places.note(endpoint, { ...ended, sample: ended.sample })
    this.figures[ended.result.status === 'delivered' ? 'delivered' : 'failed'] += 1
    this.#countUnrecorded(endpoint, 1)
    this.give(endpoint)
    await this.#options.record(ended)
    this.#countUnrecorded(endpoint, -1)
  }

  #countUnrecorded({ organization_id }: EndpointRow, change: number): void {
    const count = (this.#unrecorded.get(organization_id) ?? 0) + change
    if (count > 0) this.#unrecorded.set(organization_id, count)
    else this.#unrecorded.delete(organization_id)
    if (count === MAX_UNRECORDED - 1) this.#options.onFree()
  }
}

/** Places that are taken before a statement claims deliveries for them. Release them afterwards, however it ended. */
export class Reservation {
  readonly #flight: InFlight
  readonly #taken = new Map<string, { endpoint: EndpointRow; count: number }>()

  constructor(flight: InFlight) {
    this.#flight = flight
  }

  /** Takes a place for an attempt at the endpoint; false if there is none. */
  take(endpoint: EndpointRow): boolean {
    if (!this.#flight.take(endpoint)) return false
    const count = this.#taken.get(endpoint.id)?.count ?? 0
    this.#taken.set(endpoint.id, { endpoint, count: count + 1 })
    return true
  }

  /** The places that were taken for each endpoint, and not used. */
  unused(): { endpoint: EndpointRow; count: number }[] {
    return [...this.#taken.values()]
  }

  /** Attempts a claimed delivery in one of the places of its endpoint. */
  start(delivery: ClaimedDelivery): void {
    const taken = this.#taken.get(delivery.webhook_id)
    if (!taken || taken.count === 0) throw new Error(`no place was taken for the delivery ${delivery.id}`)
    taken.count -= 1
    this.#flight.start(taken.endpoint, delivery)
  }

  /** Gives back the places that were not used. */
  release(): void {
    for (const { endpoint, count } of this.#taken.values()) for (let n = 0; n < count; n++) this.#flight.give(endpoint)
    this.#taken.clear()
  }
}
