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
  /** The position that stands in the database: behind, where nothing has been for a webhook since. */
  stored: EventPosition
  /** Since when it may be behind, on the process's own clock. */
  storedAt: number
  /** At which turn of tending it is looked at as if it had changed. */
  tick: number
  /** Of the webhooks that are delivered to, by their ids. */
  queues: Map<string, EndpointQueue>
  /** There may be events after the position. */
  hasNewEvents: boolean
  /** The webhooks may be others than those of the lanes. */
  isStale: boolean
  /** Somebody else had it locked: what has come up is still to be written. */
  isPostponed: boolean
  /** What was written last may have been committed or not: the position is read again. */
  isUncertain: boolean
}

/** The organizations that this process holds. */
export interface OwnedFeeds {
  feeds(): Feed[]
  find(organizationId: string): Feed | undefined
  /** Holds as many organizations as fall to each process, and has the events of all of them looked at. */
  reconcile(): Promise<void>
  /** Brings the lanes of these organizations, and of those where something changed, up to the webhooks as they are now. */
  refreshQueues(organizationIds: ReadonlySet<string>): Promise<void>
  /** Some of those with news and webhooks, with at most `lanes` lanes together; who was taken longest ago comes first. */
  takeBatch(maxQueues: number): Feed[]
  hasNewEvents(): boolean
  /** Has what was postponed tried again. */
  retryPostponed(): void
  hasPostponed(): boolean
  /** Notes up to where events have been read; `isStored`: and that it stands so in the database. */
  advance(windows: readonly EventWindow[], isStored: boolean): void
  /** Works on an organization no more. */
  drop(organizationId: string): void
  /** Gives all organizations back. */
  releaseAll(): Promise<void>
}

/** In so many turns of tending every organization is looked at as if it had changed: a signal may have been lost. */
const TICKS = 15
const UNREAD = { hasNewEvents: true, isStale: true, isPostponed: false, isUncertain: false }

/** Holds nothing yet. */
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
      // Without webhooks no event has them looked at.
      if (feed.tick === tick || feed.queues.size === 0) refresh(feed)
    }
  }

  /** Reads the positions of those where it is uncertain, and drops what is not held any more; resolves to all that are held. */
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

  /** What the database broke off in the middle of, taking or giving back, is held by nobody who knows of it. */
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
      // Who made the first one active has set the position to where it begins.
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
      // Nobody reads its events: when a webhook becomes active, it begins at those that come then.
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
      // After the last page of a window comes what has happened since it was opened.
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

/** A position that stands so in the database. */
function atStored(position: EventPosition): Pick<Feed, 'position' | 'stored' | 'storedAt'> {
  return { position, stored: position, storedAt: performance.now() }
}

/** Has the webhooks and the due deliveries of an organization looked at again: they may be others than is known. */
export function refresh(feed: Feed): void {
  feed.isStale = true
  feed.hasNewEvents = true
  for (const queue of feed.queues.values()) queue.refresh()
}

/** The same where somebody has changed them: what is in memory counts no more. */
export function reload(feed: Feed): void {
  feed.isStale = true
  feed.hasNewEvents = true
  for (const queue of feed.queues.values()) queue.reload()
}

/** The same where something has failed in the middle: the position is to be read again, too. */
export function markUncertain(feed: Feed): void {
  refresh(feed)
  feed.isUncertain = true
}
