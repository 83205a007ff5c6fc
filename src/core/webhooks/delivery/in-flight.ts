import { FairPlaces } from '../../../lib/async/fair-places.js'
import { withTimeout } from '../../../lib/async/timeout.js'
import { type ClaimedDelivery, LOST_AFTER_MS } from '../../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import type { Attempter, EndedAttempt } from './attempt.js'
import { ConcurrencyLimits, MAX_IN_FLIGHT } from './concurrency.js'
import { DeliveryPlaces } from './delivery-places.js'
import type { KnownEndpoints } from './known-endpoints.js'

/** Counts since the start of the process: attempts that delivered and that failed; and attempts in flight. */
export interface WebhookFigures {
  delivered: number
  failed: number
  inFlight: number
}

/** The most attempts at the same time: each has a socket, and its body in memory. As many more may wait for a place. */
export const MAX_ATTEMPTS = {
  all: 512,
  ofOrganization: 64,
  ofEndpoint: MAX_IN_FLIGHT,
  atHost: 64,
  ofOrganizationAtHost: 32,
}
/** The most attempts of an organization that have ended and are not recorded: its feed may be locked for long. */
const MAX_UNRECORDED = 256

interface InFlightOptions {
  clock: () => Date
  endpoints: Pick<KnownEndpoints, 'get'>
  attempt: Attempter
  /** Resolves when the attempt is recorded; does not reject. */
  record: (ended: EndedAttempt) => Promise<void>
  /** Resolves when the claims are ended; does not reject. */
  release: (deliveries: readonly ClaimedDelivery[]) => Promise<void>
  /** Called when an attempt has ended, and when it is recorded. */
  onFree: () => void
}

interface Waiting {
  delivery: ClaimedDelivery
  /** As it was when the delivery was claimed. */
  endpoint: EndpointRow
  claimedAt: number
}

/**
 * The deliveries that this process has claimed. Each waits for a place, is attempted, and is held until its attempt is
 * recorded. Deliveries are claimed ahead, so that a freed place is filled without a statement.
 */
export class InFlight {
  readonly figures: WebhookFigures = { delivered: 0, failed: 0, inFlight: 0 }
  readonly #attempting = new DeliveryPlaces(MAX_ATTEMPTS)
  readonly #ahead = new DeliveryPlaces(MAX_ATTEMPTS)
  readonly #limits = new ConcurrencyLimits()
  /** The deliveries that wait, by webhook; the webhook that was served longest ago first. */
  readonly #waiting = new Map<string, Waiting[]>()
  /** When deliveries that are attempted or being recorded were claimed, by id. */
  readonly #claimedAt = new Map<string, number>()
  readonly #running = new Set<Promise<void>>()
  /** The places of attempts that have ended and are not recorded. */
  readonly #unrecorded = new FairPlaces({ places: Number.POSITIVE_INFINITY, ofOneKey: MAX_UNRECORDED })
  readonly #hangUp = new AbortController()
  readonly #options: InFlightOptions
  #isClosed = false

  constructor(options: InFlightOptions) {
    this.#options = options
  }

  /** How many more deliveries of the endpoint may be claimed. */
  roomFor(endpoint: EndpointRow): number {
    if (this.#isClosed || this.#unrecorded.free(endpoint.organization_id) === 0) return 0
    const limit = this.#limits.limitOf(endpoint.id, this.#options.clock())
    // Nothing is claimed ahead for an endpoint that fails.
    const taken = this.#ahead.takenBy(endpoint) + (limit < MAX_IN_FLIGHT ? this.#attempting.takenBy(endpoint) : 0)
    return Math.max(0, Math.min(limit - taken, this.#ahead.free(endpoint)))
  }

  /** Reserves room for `count` deliveries while they are being claimed. */
  reserve(endpoint: EndpointRow, count: number): void {
    this.#ahead.acquire(endpoint, count)
  }

  /** Gives reserved room back. */
  unreserve(endpoint: EndpointRow, count: number): void {
    this.#ahead.release(endpoint, count)
  }

  /** Adds deliveries of the endpoint that were claimed at this time or later. Call `start` afterwards. */
  add(endpoint: EndpointRow, deliveries: readonly ClaimedDelivery[], claimedAt: number): void {
    if (deliveries.length === 0) return
    this.#ahead.acquire(endpoint, deliveries.length)
    const waiting = this.#waiting.get(endpoint.id) ?? []
    waiting.push(...deliveries.map((delivery) => ({ delivery, endpoint, claimedAt })))
    this.#waiting.set(endpoint.id, waiting)
    if (this.#isClosed) this.#release(endpoint.id)
  }

  /** Gives up the deliveries of an organization that wait: they, their contacts or their webhooks have changed. */
  async releaseAll(organizationId: string): Promise<void> {
    const own = this.waiting().filter(({ organization_id }) => organization_id === organizationId)
    await Promise.all(own.map(({ id }) => this.#release(id)))
  }

  /** Attempts the deliveries that wait, as far as there are places, one of each webhook in turn. */
  start(): void {
    for (let hasStarted = true; hasStarted; ) {
      hasStarted = false
      for (const [id, waiting] of [...this.#waiting]) if (this.#startNext(id, waiting)) hasStarted = true
    }
  }

  /** True if deliveries of the webhook wait. */
  isWaiting(webhookId: string): boolean {
    return this.#waiting.has(webhookId)
  }

  /** The endpoints for which deliveries wait, as they were when these were claimed. */
  waiting(): EndpointRow[] {
    return [...this.#waiting.values()].flatMap(([first]) => first?.endpoint ?? [])
  }

  /** The ids of the deliveries that were claimed so long ago that their claims could be taken for lost. */
  heldIds(): string[] {
    const latest = performance.now() - LOST_AFTER_MS / 6
    const waiting = [...this.#waiting.values()]
      .flat()
      .map(({ delivery, claimedAt }) => [delivery.id, claimedAt] as const)
    return [...this.#claimedAt, ...waiting].flatMap(([id, claimedAt]) => (claimedAt <= latest ? [id] : []))
  }

  /** Resolves when all attempts are recorded, including those that start meanwhile. */
  async settle(): Promise<void> {
    while (this.#running.size > 0) await Promise.all(this.#running)
  }

  /** Starts no further attempt. Waits for those in flight until they are recorded, aborts them after `graceMs`. */
  async close(graceMs: number): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#waiting.keys()].map((id) => this.#release(id)))
    await withTimeout(this.settle(), graceMs)
    this.#hangUp.abort()
    await this.settle()
  }

  /** Attempts the first delivery that waits for a webhook; false if there is no place, or its endpoint is not known. */
  #startNext(webhookId: string, waiting: Waiting[]): boolean {
    const endpoint = this.#options.endpoints.get(webhookId)
    // It is not active any more.
    if (endpoint === null) this.#release(webhookId)
    if (!waiting[0] || !endpoint || !this.#hasPlace(endpoint)) return false
    const { delivery, claimedAt, endpoint: claimedFor } = waiting[0]
    waiting.shift()
    this.#ahead.release(claimedFor)
    // The webhook goes to the end.
    this.#waiting.delete(webhookId)
    if (waiting.length > 0) this.#waiting.set(webhookId, waiting)
    this.#claimedAt.set(delivery.id, claimedAt)
    const run = this.#run(endpoint, delivery).finally(() => {
      this.#claimedAt.delete(delivery.id)
      this.#running.delete(run)
    })
    this.#running.add(run)
    return true
  }

  /** Gives up the deliveries that wait for a webhook. */
  #release(webhookId: string): Promise<void> {
    const waiting = this.#waiting.get(webhookId) ?? []
    this.#waiting.delete(webhookId)
    for (const { endpoint } of waiting) this.#ahead.release(endpoint)
    const released = this.#options.release(waiting.splice(0).map(({ delivery }) => delivery))
    const run = released.finally(() => this.#running.delete(run))
    this.#running.add(run)
    return run
  }

  #hasPlace(endpoint: EndpointRow): boolean {
    if (this.#unrecorded.free(endpoint.organization_id) === 0 || this.#attempting.free(endpoint) === 0) return false
    return this.#attempting.takenBy(endpoint) < this.#limits.limitOf(endpoint.id, this.#options.clock())
  }

  async #run(endpoint: EndpointRow, delivery: ClaimedDelivery): Promise<void> {
    this.#attempting.acquire(endpoint)
    this.figures.inFlight += 1
    const ended = await this.#options.attempt(endpoint, delivery, this.#hangUp.signal)
    this.figures.inFlight -= 1
    this.#attempting.release(endpoint)
    if (ended === null) return
    this.#limits.note(ended)
    // What waits for an endpoint in a pause would use the room of others.
    if (this.#limits.limitOf(endpoint.id, this.#options.clock()) === 0) this.#release(endpoint.id)
    this.figures[ended.result.status === 'delivered' ? 'delivered' : 'failed'] += 1
    this.#unrecorded.acquireNow(endpoint.organization_id)
    this.#goOn()
    await this.#options.record(ended)
    this.#unrecorded.release(endpoint.organization_id)
    this.#goOn()
  }

  #goOn(): void {
    this.start()
    this.#options.onFree()
  }
}
