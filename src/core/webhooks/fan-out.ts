import type { Queryable } from '../../database/pool.js'
import { newId } from '../../lib/bytes/id.js'
import { gatewayEventFor, type WebhookInstance } from '../../model/instances/gateway-event.js'
import { gatewayEventKey } from '../../model/instances/gateway-webhook.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { EVENT_KINDS, EVERY_KIND } from '../../model/webhooks/webhook.js'
import { type EventPosition, type EventWindow, readEventWindows } from '../../storage/events/events.js'
import type { NewDelivery } from '../../storage/webhooks/deliveries.js'
import { listFeeds } from '../../storage/webhooks/feeds.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'

/** The next events of an organization, possibly none. */
export interface NewEvents extends EventWindow {
  /** The feed's position in the database when they were read. */
  stored: EventPosition
  /** There may be more of them. */
  hasMore: boolean
}

/** Reads what comes after the positions of feeds. */
export interface EventReader {
  /** At most `limit` new events of each of these organizations. */
  read(db: Queryable, organizationIds: readonly string[], limit: number): Promise<NewEvents[]>
  /** Moves on past events that no webhook wants; false if the position should be stored instead. */
  skip(events: NewEvents): boolean
}

/** A position that moved only past unwanted events is stored this often; after a crash these events are read again. */
const STORE_POSITION_MS = 30_000

/** Creates the reader of a process. How far it has skipped events is only in memory. */
export function createEventReader(): EventReader {
  const skipped = new Map<string, { stored: EventPosition; next: EventPosition; since: number }>()

  /** The position in the database, or what this process has skipped from there. */
  function startOf(organizationId: string, stored: EventPosition): EventPosition {
    const known = skipped.get(organizationId)
    if (known && isSamePosition(known.stored, stored)) return known.next
    skipped.delete(organizationId)
    return stored
  }

  return {
    read: async (db, organizationIds, limit) => {
      if (organizationIds.length === 0) return []
      const positions = await listFeeds(db, organizationIds)
      const starts = new Map(Array.from(positions, ([id, stored]) => [id, startOf(id, stored)]))
      const given = Array.from(starts, ([organizationId, start]) => ({ organizationId, ...start }))
      const windows = await readEventWindows(db, given, null, limit)
      return windows.map((window) => {
        const { organizationId, next } = window
        const stored = positions.get(organizationId) ?? next
        // After the last page of a window come the events since it was opened.
        const hasMore = next.windowTo !== null || starts.get(organizationId)?.windowTo !== null
        return { ...window, stored, hasMore }
      })
    },
    skip: ({ organizationId, events, stored, next }) => {
      const since = skipped.get(organizationId)?.since ?? performance.now()
      if (events.length > 0 && performance.now() - since > STORE_POSITION_MS) return false
      skipped.set(organizationId, { stored, next, since })
      return true
    },
  }
}

/** True if both are the same position. */
export function isSamePosition(one: EventPosition, other: EventPosition): boolean {
  return one.windowFrom === other.windowFrom && one.windowTo === other.windowTo && one.seq === other.seq
}

/**
 * The deliveries for new events of an organization, in order: one per webhook that wants the kind and was set or
 * enabled before the event.
 */
export function fanOut(events: readonly EventRow[], endpoints: readonly EndpointRow[]): [NewDelivery, EventRow][] {
  return endpoints.flatMap((endpoint) =>
    events
      .filter((event) => event.seq > endpoint.since_seq && wants(endpoint, event))
      .map((event): [NewDelivery, EventRow] => [toDelivery(endpoint, event), event]),
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
  return name !== null && (events.includes(EVERY_KIND) || events.includes(gatewayEventKey(name)))
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
