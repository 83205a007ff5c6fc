import type { Context } from '../../context.js'
import type { EventPosition, EventWindow } from '../../storage/events/events.js'
import { promoteAllWaiting } from '../../storage/webhooks/deliveries.js'
import { claimFeeds, countFeeds, listOwnedFeeds, releaseFeeds } from '../../storage/webhooks/feeds.js'
import { type EndpointRow, listEndpoints } from '../../storage/webhooks/health.js'
import type { EndpointQueue } from './endpoint-queue.js'

/** An organization whose events this process turns into deliveries. */
export interface Feed {
  organizationId: string
  position: EventPosition
  /** The position in the database. It lags behind while events are wanted by no webhook. */
  stored: EventPosition
  /** When the stored position was last equal, on the process's own clock. */
  storedAt: number
  /** The tick of reconcile at which the feed is fully refreshed. */
  tick: number
  /** The queues of the active webhooks, by webhook id. */
  queues: Map<string, EndpointQueue>
  /** There may be events after the position. */
  hasNewEvents: boolean
  /** The webhooks may have changed since the queues were set. */
  isStale: boolean
  /** Another process had the feed locked; its writes are pending. */
  isPostponed: boolean
  /** The last write may or may not have been committed; the position must be read again. */
  isUncertain: boolean
}

export interface OwnedFeeds {
  feeds(): Feed[]
  find(organizationId: string): Feed | undefined
  /** Claims or releases feeds until this process has its share, and checks all feeds for new events. */
  reconcile(): Promise<void>
  /** Updates the queues of these organizations, and of those whose webhooks changed. */
  refreshQueues(organizationIds: ReadonlySet<string>): Promise<void>
  /** Feeds with new events and webhooks, at most `maxQueues` queues in all, those taken longest ago first. */
  takeBatch(maxQueues: number): Feed[]
  hasNewEvents(): boolean
  retryPostponed(): void
  hasPostponed(): boolean
  /** Notes how far events have been read; `isStored`: the database has the same position. */
  advance(windows: readonly EventWindow[], isStored: boolean): void
  /** Stops working on an organization. */
  drop(organizationId: string): void
  /** Releases all feeds. */
  releaseAll(): Promise<void>
}

/** After this many rounds each feed is fully refreshed, in case a notification was lost. */
const TICKS = 15
const UNREAD = { hasNewEvents: true, isStale: true, isPostponed: false, isUncertain: false }

export function createOwnedFeeds(
  ctx: Pick<Context, 'database' | 'clock' | 'processId'>,
  createQueue: (endpoint: EndpointRow) => EndpointQueue,
): OwnedFeeds {
  const feeds = new Map<string, Feed>()
  let tick = 0
  let claims = 0

  async function reconcile(): Promise<void> {
    await releaseStrays(await readPositions())
    const { feeds: total, processes } = await countFeeds(ctx.database)
    const share = Math.ceil(total / Math.max(1, processes))
    if (feeds.size < share) await claim(share - feeds.size)
    else if (feeds.size > share) await release(feeds.size - share)
    tick = (tick + 1) % TICKS
    for (const feed of feeds.values()) {
      feed.hasNewEvents = true
      // Without webhooks, no event triggers a refresh.
      if (feed.tick === tick || feed.queues.size === 0) refresh(feed)
    }
  }

  /** Reads uncertain positions again and drops feeds that are no longer owned. Returns all owned feeds. */
  async function readPositions(): Promise<string[]> {
    const owned = await listOwnedFeeds(ctx.database, ctx.processId)
    const positions = new Map(owned.map(({ organizationId, ...position }) => [organizationId, position]))
    for (const feed of feeds.values()) {
      const position = positions.get(feed.organizationId)
      if (!position) drop(feed.organizationId)
      else if (feed.isUncertain) Object.assign(feed, { ...atStored(position), isUncertain: false })
    }
    return [...positions.keys()]
  }

  /** A claim or release that a database error interrupted leaves a feed owned in the table but not in memory. */
  async function releaseStrays(owned: readonly string[]): Promise<void> {
    const strays = owned.filter((id) => !feeds.has(id))
    if (strays.length > 0) await releaseFeeds(ctx.database, ctx.processId, strays)
  }

  async function claim(limit: number): Promise<void> {
    const claimed = await claimFeeds(ctx.database, ctx.processId, limit)
    if (claimed.length === 0) return
    const ids = claimed.map(({ organizationId }) => organizationId)
    await promoteAllWaiting(ctx.database, ids, ctx.clock())
    for (const { organizationId, ...position } of claimed) {
      claims += 1
      const fresh = { ...atStored(position), tick: claims % TICKS, queues: new Map(), ...UNREAD }
      feeds.set(organizationId, { organizationId, ...fresh })
    }
  }

  async function release(surplus: number): Promise<void> {
    const idle = [...feeds.values()].filter(({ queues }) => [...queues.values()].every((queue) => queue.isIdle()))
    const ids = idle.slice(0, surplus).map(({ organizationId }) => organizationId)
    for (const id of ids) drop(id)
    if (ids.length > 0) await releaseFeeds(ctx.database, ctx.processId, ids)
  }

  function drop(organizationId: string): void {
    for (const queue of feeds.get(organizationId)?.queues.values() ?? []) queue.close()
    feeds.delete(organizationId)
  }

  async function refreshQueues(organizationIds: ReadonlySet<string>): Promise<void> {
    const asked = [...feeds.values()].filter((feed) => feed.isStale || organizationIds.has(feed.organizationId))
    if (asked.length === 0) return
    const ids = asked.map(({ organizationId }) => organizationId)
    const byOrganization = new Map<string, EndpointRow[]>(ids.map((id) => [id, []]))
    for (const feed of asked) feed.isStale = false
    for (const endpoint of await listEndpoints(ctx.database, ids)) {
      byOrganization.get(endpoint.organization_id)?.push(endpoint)
    }
    for (const feed of asked) {
      const hadNone = feed.queues.size === 0
      setQueues(feed, byOrganization.get(feed.organizationId) ?? [])
      // The transaction that enabled the first webhook has set the position.
      if (hadNone && feed.queues.size > 0) feed.isUncertain = true
    }
    if (asked.some(({ isUncertain }) => isUncertain)) await readPositions()
  }

  function setQueues({ queues }: Feed, endpoints: readonly EndpointRow[]): void {
    const ids = new Set(endpoints.map(({ id }) => id))
    for (const [id, queue] of queues) {
      if (ids.has(id)) continue
      queue.close()
      queues.delete(id)
    }
    for (const endpoint of endpoints) {
      const queue = queues.get(endpoint.id)
      if (queue) queue.endpoint = endpoint
      else queues.set(endpoint.id, createQueue(endpoint))
    }
  }

  function takeBatch(maxQueues: number): Feed[] {
    const taken: Feed[] = []
    let room = maxQueues
    for (const feed of feeds.values()) {
      // No webhook reads these events; a webhook that becomes active starts at the events after that.
      if (feed.queues.size === 0) feed.hasNewEvents = feed.isStale
      if (!feed.hasNewEvents || feed.queues.size === 0) continue
      room -= Math.max(1, feed.queues.size)
      if (room < 0 && taken.length > 0) break
      taken.push(feed)
    }
    for (const feed of taken) {
      feeds.delete(feed.organizationId)
      feeds.set(feed.organizationId, feed)
    }
    return taken
  }

  function advance(windows: readonly EventWindow[], isStored: boolean): void {
    for (const { organizationId, next } of windows) {
      const feed = feeds.get(organizationId)
      if (!feed) continue
      // After the last page of a window come the events since it was opened.
      feed.hasNewEvents ||= next.windowTo !== null || feed.position.windowTo !== null
      feed.position = next
      if (isStored) Object.assign(feed, atStored(next))
    }
  }

  return {
    feeds: () => [...feeds.values()],
    find: (organizationId) => feeds.get(organizationId),
    reconcile,
    refreshQueues,
    takeBatch,
    hasNewEvents: () => [...feeds.values()].some((feed) => feed.hasNewEvents),
    retryPostponed: () => {
      for (const feed of feeds.values())
        if (feed.isPostponed) Object.assign(feed, { isPostponed: false, hasNewEvents: true })
    },
    hasPostponed: () => [...feeds.values()].some((feed) => feed.isPostponed),
    advance,
    drop,
    releaseAll: async () => {
      for (const id of [...feeds.keys()]) drop(id)
      await releaseFeeds(ctx.database, ctx.processId, null)
    },
  }
}

/** A position that equals the stored one. */
function atStored(position: EventPosition): Pick<Feed, 'position' | 'stored' | 'storedAt'> {
  return { position, stored: position, storedAt: performance.now() }
}

/** Reads the webhooks and due deliveries of an organization again, because they may have changed. */
export function refresh(feed: Feed): void {
  feed.isStale = true
  feed.hasNewEvents = true
  for (const queue of feed.queues.values()) queue.refresh()
}

/** Like refresh, and discards what is in memory, because it has changed. */
export function reload(feed: Feed): void {
  feed.isStale = true
  feed.hasNewEvents = true
  for (const queue of feed.queues.values()) queue.reload()
}

/** Like refresh, and reads the position again, because a write failed halfway. */
export function markUncertain(feed: Feed): void {
  refresh(feed)
  feed.isUncertain = true
}
