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
import { type EndpointRow, listEndpoints } from '../../../storage/webhooks/health.js'
import { type InFlight, Reservation } from './in-flight.js'

export type ClaimContext = Pick<Context, 'database' | 'clock' | 'log' | 'processId'>

/** How often it looks for due deliveries: retries, those of dead processes, and those whose notification was lost. */
const LOOK_MS = 1_000
/** How long the address and the secrets of an endpoint are used without looking. */
const KEEP_MS = 1_000

/** Claims due deliveries for the free places of this process. */
export class Claims {
  readonly #ctx: ClaimContext
  readonly #flight: InFlight
  /** Webhooks that may have due, unclaimed deliveries, with their organizations; those served longest ago first. */
  readonly #due = new Map<string, string>()
  readonly #endpoints = new Map<string, { row: EndpointRow; readAt: number }>()
  /** Organizations whose webhooks or deliveries have changed. */
  readonly #changed = new Set<string>()
  /** Where the last look for everything has ended, if it was not at the end. */
  #reached: WebhookKey | null = null
  #lookAt = 0
  #loop: Loop | null = null

  constructor(ctx: ClaimContext, flight: InFlight) {
    this.#ctx = ctx
    this.#flight = flight
  }

  start(): void {
    this.#loop = startLoop({
      round: async () => {
        await this.#round()
        return false
      },
      pauseMs: () => Math.max(1, this.#lookAt - performance.now()),
      onFailure: (error) =>
        this.#ctx.log.warn({ err: error }, 'due webhook deliveries could not be claimed; trying again'),
    })
  }

  async stop(): Promise<void> {
    await this.#loop?.stop()
  }

  /** For tests, instead of start: looks for due deliveries, and claims once. */
  async run(): Promise<void> {
    this.#endpoints.clear()
    this.#lookAt = 0
    await this.#round()
  }

  /** Notes that a webhook has due deliveries that no process has claimed. */
  add({ webhook_id, organization_id }: WebhookKey): void {
    this.#due.set(webhook_id, organization_id)
    this.#loop?.wake()
  }

  /** True if the webhook may have such deliveries. */
  has(webhookId: string): boolean {
    return this.#due.has(webhookId)
  }

  /** Claims more, if more is due: a place has become free. */
  wake(): void {
    if (this.#due.size > 0) this.#loop?.wake()
  }

  hear(notification: Notification): void {
    if (notification.topic === 'webhooks') this.#changed.add(notification.organizationId)
    else if (notification.topic === 'missed') this.#lookAt = 0
    else return
    this.#endpoints.clear()
    this.#loop?.wake()
  }

  async #round(): Promise<void> {
    for (const organizationId of this.#changed) {
      this.#changed.delete(organizationId)
      await this.#look(webhooksOf(organizationId))
    }
    if (performance.now() >= this.#lookAt) {
      this.#lookAt = performance.now() + LOOK_MS
      this.#reached = await this.#look({ ...ALL_WEBHOOKS, ...(this.#reached && { after: this.#reached }) })
    }
    if (this.#due.size === 0) return
    let open = await this.#readEndpoints()
    const places = new Reservation(this.#flight)
    try {
      // One for each endpoint in turn, until there are none.
      while (open.length > 0) open = open.filter((endpoint) => places.take(endpoint))
      await this.#claim(places)
    } finally {
      places.release()
    }
  }

  async #look(range: Parameters<typeof findDueWebhooks>[2]): Promise<WebhookKey | null> {
    const { due, reached } = await findDueWebhooks(this.#ctx.database, this.#claimant(), range, this.#ctx.clock())
    for (const { organization_id, webhook_id } of due) {
      if (!this.#due.has(webhook_id)) this.#due.set(webhook_id, organization_id)
    }
    return reached
  }

  /** The endpoints of the due webhooks; those that are not active any more are left out. */
  async #readEndpoints(): Promise<EndpointRow[]> {
    const now = performance.now()
    for (const [id, { readAt }] of this.#endpoints) if (now - readAt > KEEP_MS) this.#endpoints.delete(id)
    const unknown = [...this.#due].filter(([id]) => !this.#endpoints.has(id))
    if (unknown.length > 0) {
      const organizationIds = new Set(unknown.map(([, organizationId]) => organizationId))
      const rows = await listEndpoints(this.#ctx.database, [...organizationIds])
      for (const row of rows) this.#endpoints.set(row.id, { row, readAt: now })
    }
    for (const [id] of unknown) if (!this.#endpoints.has(id)) this.#due.delete(id)
    return [...this.#due.keys()].flatMap((id) => this.#endpoints.get(id)?.row ?? [])
  }

  async #claim(places: Reservation): Promise<void> {
    const wanted = places.unused().map(({ endpoint, count }) => {
      return { organization_id: endpoint.organization_id, webhook_id: endpoint.id, places: count }
    })
    if (wanted.length === 0) return
    // First, so that what becomes due meanwhile is noted.
    for (const { webhook_id } of wanted) this.#due.delete(webhook_id)
    try {
      const { database, clock } = this.#ctx
      for (const delivery of await claimDeliveries(database, this.#claimant(), wanted, clock())) places.start(delivery)
    } catch (error) {
      for (const webhook of wanted) this.add(webhook)
      throw error
    }
    // Where every place is used, there may be more.
    for (const { endpoint, count } of places.unused())
      if (count === 0) this.add({ organization_id: endpoint.organization_id, webhook_id: endpoint.id })
  }

  #claimant(): Claimant {
    return { processId: this.#ctx.processId, heldIds: this.#flight.heldIds() }
  }
}
