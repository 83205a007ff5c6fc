import type { Context } from '../../../context.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import type { Notification } from '../../../model/notification.js'
import {
  ALL_WEBHOOKS,
  type Claimant,
  claimDeliveries,
  findDueWebhooks,
  type WebhookKey,
  webhooksOf,
} from '../../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import type { InFlight } from './in-flight.js'
import type { KnownEndpoints } from './known-endpoints.js'

export type ClaimContext = Pick<Context, 'database' | 'clock' | 'log' | 'processId'>

/** How often it looks for due deliveries: retries, those of dead processes, and those whose notification was lost. */
const LOOK_MS = 1_000
/** How many deliveries one statement claims at most. */
const MAX_CLAIM = 256
/** Nothing is claimed while some still wait for an endpoint and there is room for fewer: few statements claim many. */
const MIN_CLAIM = 16

/** Claims due deliveries, as many as this process has room for. */
export class Claims {
  readonly #ctx: ClaimContext
  readonly #flight: InFlight
  readonly #endpoints: KnownEndpoints
  /** Webhooks that may have due, unclaimed deliveries, with their organizations; those served longest ago first. */
  readonly #due = new Map<string, string>()
  /** Organizations whose webhooks or deliveries have changed. */
  readonly #changed = new Set<string>()
  /** Where the last look for everything has ended, if it was not at the end. */
  #reached: WebhookKey | null = null
  #lookAt = 0
  #loop: Loop | null = null

  constructor(ctx: ClaimContext, { flight, endpoints }: { flight: InFlight; endpoints: KnownEndpoints }) {
    this.#ctx = ctx
    this.#flight = flight
    this.#endpoints = endpoints
  }

  start(): void {
    this.#loop = startLoop({
      round: () => this.#round(),
      pauseMs: () => Math.max(1, this.#lookAt - performance.now()),
      onFailure: (error) =>
        this.#ctx.log.warn({ err: error }, 'due webhook deliveries could not be claimed; trying again'),
    })
  }

  async stop(): Promise<void> {
    await this.#loop?.stop()
  }

  /** For tests, instead of start: looks for due deliveries, and claims as many as there is room for. */
  async run(): Promise<void> {
    this.#endpoints.clear()
    this.#lookAt = 0
    while (await this.#round()) {}
  }

  /** Notes that a webhook has due deliveries that no process has claimed. */
  add({ webhook_id, organization_id }: WebhookKey): void {
    this.#due.set(webhook_id, organization_id)
    this.#loop?.wake()
  }

  /** Claims more, if more is due: an attempt has ended. */
  wake(): void {
    if (this.#due.size > 0 || this.#flight.waiting().length > 0) this.#loop?.wake()
  }

  onNotification(notification: Notification): void {
    if (notification.topic === 'missed') this.#lookAt = 0
    else if (notification.topic !== 'webhooks') return
    this.#endpoints.clear()
    if (notification.topic === 'webhooks') void this.#lookAgain(notification.organizationId)
    this.#loop?.wake()
  }

  async #lookAgain(organizationId: string): Promise<void> {
    await this.#flight.releaseAll(organizationId)
    this.#changed.add(organizationId)
    this.#loop?.wake()
  }

  /** Returns true if more may be claimed at once. */
  async #round(): Promise<boolean> {
    for (const organizationId of this.#changed) {
      this.#changed.delete(organizationId)
      await this.#look(webhooksOf(organizationId))
    }
    if (performance.now() >= this.#lookAt) {
      this.#lookAt = performance.now() + LOOK_MS
      this.#reached = await this.#look({ ...ALL_WEBHOOKS, ...(this.#reached && { after: this.#reached }) })
    }
    const due = Array.from(this.#due, ([id, organization_id]) => ({ id, organization_id }))
    await this.#endpoints.readUnknown(this.#ctx.database, [...due, ...this.#flight.waiting()])
    this.#flight.start()
    return this.#claim(due.map(({ id }) => id))
  }

  async #look(range: Parameters<typeof findDueWebhooks>[2]): Promise<WebhookKey | null> {
    const { due, reached } = await findDueWebhooks(this.#ctx.database, this.#claimant(), range, this.#ctx.clock())
    for (const { organization_id, webhook_id } of due) {
      if (!this.#due.has(webhook_id)) this.#due.set(webhook_id, organization_id)
    }
    return reached
  }

  /** Claims deliveries of these webhooks. Returns true if there may be more of them. */
  async #claim(webhookIds: readonly string[]): Promise<boolean> {
    const reserved = this.#reserve(webhookIds)
    if (reserved.length === 0) return false
    const wanted = reserved.map(({ endpoint: { id, organization_id }, count }) => {
      return { organization_id, webhook_id: id, places: count }
    })
    // First, so that what becomes due meanwhile is noted.
    for (const { webhook_id } of wanted) this.#due.delete(webhook_id)
    const { database, clock } = this.#ctx
    const begunAt = performance.now()
    const claimed = await claimDeliveries(database, this.#claimant(), wanted, clock())
      .catch((error: unknown) => {
        for (const webhook of wanted) this.add(webhook)
        throw error
      })
      .finally(() => {
        for (const { endpoint, count } of reserved) this.#flight.unreserve(endpoint, count)
      })
    let hasMore = false
    for (const { endpoint, count } of reserved) {
      const own = claimed.filter(({ webhook_id }) => webhook_id === endpoint.id)
      this.#flight.add(endpoint, own, begunAt)
      if (own.length < count) continue
      this.#due.set(endpoint.id, endpoint.organization_id)
      hasMore = true
    }
    this.#flight.start()
    return hasMore
  }

  /** Reserves room for deliveries of these webhooks. */
  #reserve(webhookIds: readonly string[]): { endpoint: EndpointRow; count: number }[] {
    let left = MAX_CLAIM
    return webhookIds.flatMap((id) => {
      const endpoint = this.#endpoints.get(id)
      if (endpoint === null) this.#due.delete(id)
      if (!endpoint) return []
      const count = Math.min(left, this.#flight.roomFor(endpoint))
      if (count === 0 || (count < MIN_CLAIM && this.#flight.isWaiting(id))) return []
      this.#flight.reserve(endpoint, count)
      left -= count
      return [{ endpoint, count }]
    })
  }

  #claimant(): Claimant {
    return { processId: this.#ctx.processId, heldIds: this.#flight.heldIds() }
  }
}
