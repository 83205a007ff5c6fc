import { newId } from '../../lib/id.js'
import type { EventRow } from '../../model/event.js'
import { EVERY_KIND, TEST_KIND } from '../../model/webhook.js'
import type { NewDelivery } from '../../storage/webhook-deliveries.js'
import type { EndpointRow } from '../../storage/webhook-health.js'

/**
 * The deliveries that new events of an organization (in their order) make for its webhooks: one for each webhook that takes the
 * kind and was set or enabled before the event was raised.
 */
export function fanOut(events: readonly EventRow[], endpoints: readonly EndpointRow[]): [NewDelivery, EventRow][] {
  return endpoints.flatMap((endpoint) =>
    events
      .filter((event) => takes(endpoint, event))
      .map((event): [NewDelivery, EventRow] => [toDelivery(endpoint, event), event]),
  )
}

function takes({ events, since_seq }: EndpointRow, { type, seq }: EventRow): boolean {
  if (type === TEST_KIND || seq <= since_seq) return false
  return events.includes(type) || events.includes(EVERY_KIND)
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
