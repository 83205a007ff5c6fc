import { newId } from '../../lib/bytes/id.js'
import { gatewayEventFor, type WebhookInstance } from '../../model/instances/gateway-event.js'
import { gatewayEventKey } from '../../model/instances/gateway-webhook.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { EVENT_KINDS, EVERY_KIND } from '../../model/webhooks/webhook.js'
import type { NewDelivery } from '../../storage/webhooks/deliveries.js'
import type { EndpointRow } from '../../storage/webhooks/health.js'

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
