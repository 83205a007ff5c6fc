import { newId } from '../../lib/id.js'
import type { EventRow } from '../../model/event.js'
import { EVERY_KIND, TEST_KIND } from '../../model/webhook.js'
import type { NewDelivery } from '../../storage/webhook-deliveries.js'
import type { EndpointRow } from '../../storage/webhook-health.js'

/**
 * The deliveries that new events of an organization (in their order) make for its webhooks: one for each webhook that takes the kind and was there before
 * the event's transaction began.
 */
export function fanOut(events: readonly EventRow[], endpoints: readonly EndpointRow[]): [NewDelivery, EventRow][] {
  return endpoints.flatMap((endpoint) => {
    const contacts = new Set<string>()
    return events
      .filter((event) => takes(endpoint, event))
      .map((event): [NewDelivery, EventRow] => {
        const { contact_id } = event
        const isFirst = contact_id === null || !contacts.has(contact_id)
        if (contact_id !== null) contacts.add(contact_id)
        return [toDelivery(endpoint, event, isFirst), event]
      })
  })
}

function takes({ events, since_transaction }: EndpointRow, { type, transaction_id }: EventRow): boolean {
  if (type === TEST_KIND || BigInt(transaction_id) <= BigInt(since_transaction)) return false
  return events.includes(type) || events.includes(EVERY_KIND)
}

function toDelivery(endpoint: EndpointRow, event: EventRow, isFirst: boolean): NewDelivery {
  return {
    organization_id: event.organization_id,
    id: newId(),
    webhook_id: endpoint.id,
    event_seq: event.seq,
    event_id: event.id,
    event_type: event.type,
    contact_id: event.contact_id,
    in_order: event.contact_id !== null,
    is_first: isFirst,
  }
}
