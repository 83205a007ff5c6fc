import type { Context } from '../../context.js'
import type { EventPosition, EventWindow } from '../../storage/events.js'
import { promoteAllWaiting } from '../../storage/webhook-deliveries.js'
import { claimFeeds, countFeeds, listHeldFeeds, releaseFeeds } from '../../storage/webhook-feeds.js'
import { type EndpointRow, listEndpoints } from '../../storage/webhook-health.js'
import type { Lane } from './lane.js'

/** An organization whose events this process turns into deliveries. */
export interface Feed {
  organizationId: string
  position: EventPosition
  /** Of the webhooks that are delivered to, by their ids. */
  lanes: Map<string, Lane>
  /** There may be events after the position. */
  hasNews: boolean
  /** The webhooks may be others than those of the lanes. */
  isStale: boolean
}

/** The organizations that this process holds. */
export interface Holdings {
  feeds(): Feed[]
  find(organizationId: string): Feed | undefined
  lanes(): Lane[]
  laneOf(organizationId: string, webhookId: string): Lane | undefined
  /** Holds as many organizations as fall to each process, and has the events of all of them looked at. */
  tend(): Promise<void>
  /** Brings the lanes of these organizations, and of those where something changed, up to the webhooks as they are now. */
  refreshLanes(organizationIds: ReadonlySet<string>): Promise<void>
  /** At most `limit` of those with news; who was taken longest ago comes first. */
  takeTurns(limit: number): Feed[]
  /** Notes up to where events have been read; whether the next ones can be read at once. */
  advance(windows: readonly EventWindow[]): boolean
  /** Works on an organization no more. */
  drop(organizationId: string): void
  /** Gives all organizations back. */
  releaseAll(): Promise<void>
}

/** Holds nothing yet. */
export function createHoldings(
  ctx: Pick<Context, 'database' | 'clock' | 'processId'>,
  makeLane: (endpoint: EndpointRow) => Lane,
): Holdings {
  const feeds = new Map<string, Feed>()

  async function tend(): Promise<void> {
    const held = await listHeldFeeds(ctx.database, ctx.processId)
    for (const id of feeds.keys()) if (!held.has(id)) drop(id)
    await giveBackStrays(held)
    const { feeds: total, processes } = await countFeeds(ctx.database)
    const share = Math.ceil(total / Math.max(1, processes))
    if (feeds.size < share) await claim(share - feeds.size)
    else if (feeds.size > share) await release(feeds.size - share)
    for (const feed of feeds.values()) feed.hasNews = true
  }

  /** What the database broke off in the middle of, taking or giving back, is held by nobody who knows of it. */
  async function giveBackStrays(held: ReadonlySet<string>): Promise<void> {
    const strays = [...held].filter((id) => !feeds.has(id))
    if (strays.length > 0) await releaseFeeds(ctx.database, ctx.processId, strays)
  }

  async function claim(limit: number): Promise<void> {
    const claimed = await claimFeeds(ctx.database, ctx.processId, limit)
    if (claimed.length === 0) return
    const ids = claimed.map(({ organizationId }) => organizationId)
    await promoteAllWaiting(ctx.database, ids, ctx.clock())
    for (const { organizationId, ...position } of claimed) {
      feeds.set(organizationId, { organizationId, position, lanes: new Map(), hasNews: true, isStale: true })
    }
  }

  async function release(surplus: number): Promise<void> {
    const idle = [...feeds.values()].filter(({ lanes }) => [...lanes.values()].every((lane) => lane.isIdle()))
    const ids = idle.slice(0, surplus).map(({ organizationId }) => organizationId)
    for (const id of ids) drop(id)
    if (ids.length > 0) await releaseFeeds(ctx.database, ctx.processId, ids)
  }

  function drop(organizationId: string): void {
    for (const lane of feeds.get(organizationId)?.lanes.values() ?? []) lane.close()
    feeds.delete(organizationId)
  }

  async function refreshLanes(organizationIds: ReadonlySet<string>): Promise<void> {
    const asked = [...feeds.values()].filter((feed) => feed.isStale || organizationIds.has(feed.organizationId))
    if (asked.length === 0) return
    for (const feed of asked) feed.isStale = false
    try {
      const endpoints = await listEndpoints(
        ctx.database,
        asked.map(({ organizationId }) => organizationId),
      )
      for (const feed of asked) {
        setLanes(
          feed,
          endpoints.filter((endpoint) => endpoint.organization_id === feed.organizationId),
        )
      }
    } catch (error) {
      for (const feed of asked) feed.isStale = true
      throw error
    }
  }

  function setLanes({ lanes }: Feed, endpoints: readonly EndpointRow[]): void {
    const ids = new Set(endpoints.map(({ id }) => id))
    for (const [id, lane] of lanes) {
      if (ids.has(id)) continue
      lane.close()
      lanes.delete(id)
    }
    for (const endpoint of endpoints) {
      const lane = lanes.get(endpoint.id)
      if (lane) lane.endpoint = endpoint
      else lanes.set(endpoint.id, makeLane(endpoint))
    }
  }

  function takeTurns(limit: number): Feed[] {
    const taken = [...feeds.values()].filter(({ hasNews }) => hasNews).slice(0, limit)
    for (const feed of taken) {
      feeds.delete(feed.organizationId)
      feeds.set(feed.organizationId, feed)
    }
    return taken
  }

  function advance(windows: readonly EventWindow[]): boolean {
    let canGoOn = false
    for (const { organizationId, next, hasLater } of windows) {
      const feed = feeds.get(organizationId)
      if (!feed) continue
      const wasOlder = feed.position.windowTo !== null
      feed.position = next
      feed.hasNews ||= hasLater || next.windowTo !== null
      canGoOn ||= next.windowTo !== null || (wasOlder && hasLater)
    }
    return canGoOn
  }

  return {
    feeds: () => [...feeds.values()],
    find: (organizationId) => feeds.get(organizationId),
    lanes: () => [...feeds.values()].flatMap(({ lanes }) => [...lanes.values()]),
    laneOf: (organizationId, webhookId) => feeds.get(organizationId)?.lanes.get(webhookId),
    tend,
    refreshLanes,
    takeTurns,
    advance,
    drop,
    releaseAll: async () => {
      for (const id of [...feeds.keys()]) drop(id)
      await releaseFeeds(ctx.database, ctx.processId, null)
    },
  }
}

/** Has the webhooks and the due deliveries of an organization looked at again: somebody else has changed them. */
export function lookAgain(feed: Feed): void {
  feed.isStale = true
  feed.hasNews = true
  for (const lane of feed.lanes.values()) lane.lookAgain()
}
