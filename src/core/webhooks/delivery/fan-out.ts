import type { Context } from '../../../context.js'
import type { Queryable } from '../../../database/pool.js'
import { sleep } from '../../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import type { Semaphore } from '../../../lib/async/semaphore.js'
import { newId } from '../../../lib/bytes/id.js'
import { gatewayEventFor, type WebhookInstance } from '../../../model/instances/gateway-event.js'
import { gatewayEventKeys } from '../../../model/instances/gateway-webhook.js'
import type { Notification } from '../../../model/notification.js'
import type { EventRow } from '../../../model/webhooks/event.js'
import { EVENT_KINDS, EVERY_KIND } from '../../../model/webhooks/webhook.js'
import { insertDeliveries, type NewDelivery } from '../../../storage/webhooks/deliveries.js'
import { type Feed, findUnreadFeeds, moveFeeds, readFeeds } from '../../../storage/webhooks/feeds.js'
import type { EndpointRow } from '../../../storage/webhooks/health.js'
import type { Claims } from './claim.js'
import type { KnownEndpoints } from './known-endpoints.js'
import { createEventReader, type NewEvents } from './new-events.js'

export type FanOutContext = Pick<Context, 'database' | 'clock' | 'log'>

/** What fan-out needs of the other parts. */
export interface FanOutOptions {
  endpoints: KnownEndpoints
  claims: Pick<Claims, 'add'>
  /** The transactions of this process that lock feeds run one at a time. */
  oneAtATime: Semaphore
}

/** How often it looks for new events whose notification was lost. */
const LOOK_MS = 2_000
/** Delay before feeds are tried again that another transaction has locked. */
const LOCKED_MS = 10
/** Limits of one transaction, so that it is short and its rows fit one statement. */
const MAX_WEBHOOKS = 400
const MAX_EVENTS = 1_000
const MAX_DELIVERIES = 4_000

type FannedEvents = NewEvents & { deliveries: NewDelivery[] }

/**
 * Turns new events into deliveries. It reads on from the positions of feeds. In one transaction it moves the feeds,
 * unless another process was first, and inserts the deliveries.
 */
export class FanOut {
  readonly #ctx: FanOutContext
  readonly #options: FanOutOptions
  readonly #reader = createEventReader()
  /** Organizations that may have new events, those that have waited longest first. */
  readonly #fresh = new Set<string>()
  /** Organizations without active webhooks; until the next look, nothing is read for their events. */
  readonly #without = new Set<string>()
  #lookAt = 0
  #isLocked = false
  #loop: Loop | null = null

  constructor(ctx: FanOutContext, options: FanOutOptions) {
    this.#ctx = ctx
    this.#options = options
  }

  start(): void {
    this.#loop = startLoop({
      round: () => this.#round(),
      pauseMs: () => (this.#isLocked ? LOCKED_MS : Math.max(1, this.#lookAt - performance.now())),
      onFailure: (error) => this.#ctx.log.warn({ err: error }, 'new events could not be fanned out; trying again'),
    })
  }

  async stop(): Promise<void> {
    await this.#loop?.stop()
  }

  /**
   * For tests, instead of start: works on all new events. False if feeds are locked by another transaction; some time has
   * passed then. Rejects if the database fails.
   */
  async run(): Promise<boolean> {
    this.#lookAt = 0
    while (await this.#round()) {}
    if (this.#isLocked) await sleep(LOCKED_MS)
    return !this.#isLocked
  }

  onNotification(notification: Notification): void {
    if (notification.topic === 'events' && notification.organizationIds) {
      for (const id of notification.organizationIds) if (!this.#without.has(id)) this.#fresh.add(id)
    } else if (notification.topic === 'webhooks') this.#fresh.add(notification.organizationId)
    else if (notification.topic === 'events' || notification.topic === 'missed') this.#lookAt = 0
    if (this.#fresh.size > 0 || this.#lookAt === 0) this.#loop?.wake()
  }

  /** Returns true if there is more to do at once. */
  async #round(): Promise<boolean> {
    if (performance.now() >= this.#lookAt) await this.#look()
    try {
      const feeds = await this.#readFeeds()
      const left = feeds.size > 0 ? await this.#fanOut(feeds) : []
      for (const id of left) this.#fresh.add(id)
      this.#isLocked = left.length > 0
    } catch (error) {
      this.#lookAt = 0
      throw error
    }
    return this.#fresh.size > 0 && !this.#isLocked
  }

  async #look(): Promise<void> {
    this.#lookAt = performance.now() + LOOK_MS
    this.#without.clear()
    for (const id of await findUnreadFeeds(this.#ctx.database)) this.#fresh.add(id)
  }

  /** The feeds of the organizations whose turn it is. */
  async #readFeeds(): Promise<Map<string, Feed>> {
    const ids = [...this.#fresh].slice(0, MAX_WEBHOOKS)
    if (ids.length === 0) return new Map()
    for (const id of ids) this.#fresh.delete(id)
    const feeds = await readFeeds(this.#ctx.database, ids)
    let webhooks = 0
    for (const id of ids) {
      const { webhooks: count = 0 } = feeds.get(id) ?? {}
      if (count > 0) this.#without.delete(id)
      // Unless there was a notification meanwhile.
      else if (!this.#fresh.has(id)) this.#without.add(id)
      if (webhooks > 0 && webhooks + count > MAX_WEBHOOKS) {
        this.#fresh.add(id)
        feeds.delete(id)
      } else webhooks += count
    }
    return feeds
  }

  /** Returns the organizations whose feeds are locked, or were moved by another process. */
  async #fanOut(feeds: ReadonlyMap<string, Feed>): Promise<string[]> {
    const { database } = this.#ctx
    const webhooks = [...feeds.values()].reduce((sum, feed) => sum + feed.webhooks, 0)
    const positions = new Map(Array.from(feeds, ([id, { position }]) => [id, position]))
    const limit = Math.min(MAX_EVENTS, Math.ceil(MAX_DELIVERIES / webhooks))
    const found = await this.#reader.read(database, positions, limit)
    for (const { organizationId, hasMore } of found) if (hasMore) this.#fresh.add(organizationId)
    const ids = found.flatMap(({ organizationId, events }) => (events.length > 0 ? [organizationId] : []))
    // Read after the events, to include webhooks that were set before an event.
    const endpoints = ids.length > 0 ? await this.#options.endpoints.readOf(database, ids) : []
    const fanned = found.map((one) => {
      const own = endpoints.filter(({ organization_id }) => organization_id === one.organizationId)
      return { ...one, deliveries: fanOut(one.events, own) }
    })
    const wanted = fanned.filter((one) => one.deliveries.length > 0 || !this.#reader.skip(one))
    if (wanted.length === 0) return []
    const moved = await this.#insert(wanted)
    return wanted.flatMap(({ organizationId }) => (moved.has(organizationId) ? [] : [organizationId]))
  }

  /** Inserts the deliveries. Returns the organizations whose feeds are moved. */
  async #insert(fanned: readonly FannedEvents[]): Promise<ReadonlySet<string>> {
    const { database, clock } = this.#ctx
    const write = async (transaction: Queryable) => {
      const moved = await moveFeeds(transaction, fanned)
      const deliveries = fanned.flatMap((one) => (moved.has(one.organizationId) ? one.deliveries : []))
      return { moved, due: await insertDeliveries(transaction, deliveries, clock()) }
    }
    const { moved, due } = await this.#options.oneAtATime(() => database.transaction(write))
    for (const webhook of due) this.#options.claims.add(webhook)
    return moved
  }
}

/**
 * The deliveries for new events of an organization, in order: one per webhook that wants the kind and was set or
 * enabled before the event.
 */
export function fanOut(events: readonly EventRow[], endpoints: readonly EndpointRow[]): NewDelivery[] {
  return endpoints.flatMap((endpoint) =>
    events
      .filter((event) => event.seq > endpoint.since_seq && wants(endpoint, event))
      .map((event) => toDelivery(endpoint, event)),
  )
}

/** True if a webhook wants the event; webhooks of instances want only events of their instance. */
export function wants({ events, instance }: Pick<EndpointRow, 'events' | 'instance'>, event: EventRow): boolean {
  if (instance !== null) return wantsOfGateway(events, instance, event)
  // EVERY_KIND excludes events that are only for a test, the gateway or the team.
  return events.includes(event.type) || (events.includes(EVERY_KIND) && EVENT_KINDS.some((kind) => kind === event.type))
}

function wantsOfGateway(events: readonly string[], instance: WebhookInstance, event: EventRow): boolean {
  const name = gatewayEventFor(event, instance)
  return name !== null && (events.includes(EVERY_KIND) || gatewayEventKeys(name).some((key) => events.includes(key)))
}

function toDelivery(endpoint: EndpointRow, event: EventRow): NewDelivery {
  return {
    organization_id: event.organization_id,
    id: newId(),
    webhook_id: endpoint.id,
    event_seq: event.seq,
    event_id: event.id,
    event_type: event.type,
    contact_id: event.contact_id,
    in_order: event.contact_id !== null,
  }
}
