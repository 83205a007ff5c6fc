import { describe, expect, it } from 'vitest'
import { fanOut } from '../../../../src/core/webhooks/delivery/fan-out.js'
import type { EventRow } from '../../../../src/model/webhooks/event.js'
import type { EndpointRow } from '../../../../src/storage/webhooks/health.js'

const endpoint = (id: string, fields: Partial<EndpointRow> = {}): EndpointRow => ({
  organization_id: 'organization',
  id,
  url: 'https://example.com/hook',
  events: ['*'],
  secret: Buffer.alloc(0),
  previous_secret: null,
  previous_secret_until: null,
  failing_since: null,
  since_seq: 0,
  by_events: false,
  with_base64: false,
  headers: null,
  instance: null,
  numbers: null,
  ...fields,
})

const event = (seq: number, fields: Partial<EventRow> = {}): EventRow => ({
  organization_id: 'organization',
  seq,
  id: `event-${seq}`,
  type: 'contact.updated',
  contact_id: 'ana',
  message_id: null,
  transaction_id: '101',
  created_at: new Date(0),
  data: {},
  ...fields,
})

/** The deliveries as `webhook: event`. */
const shown = (events: EventRow[], endpoints: EndpointRow[]) =>
  fanOut(events, endpoints).map(({ webhook_id, event_seq }) => `${webhook_id}: ${event_seq}`)

describe('fanning out events', () => {
  it('reaches each webhook that subscribed to their kind', () => {
    const events = [event(1, { type: 'contact.created' }), event(2), event(3, { type: 'webhook.test' })]
    const endpoints = [
      endpoint('all'),
      endpoint('one', { events: ['contact.updated'] }),
      endpoint('no', { events: [] }),
    ]
    expect(shown(events, endpoints)).toEqual(['all: 1', 'all: 2', 'one: 2'])
  })

  it('covers only events raised after the webhook was created, however old their transaction', () => {
    const events = [99, 100, 101, 1_000].map((seq) => event(seq, { transaction_id: String(2_000 - seq) }))
    expect(shown(events, [endpoint('w', { since_seq: 100 })])).toEqual(['w: 101', 'w: 1000'])
  })

  it('keeps the order of each contact', () => {
    const people = ['ana', 'bea', null, 'ana']
    const events = people.map((contact_id, index) => event(index + 1, { contact_id }))
    expect(fanOut(events, [endpoint('w')]).map(({ in_order }) => in_order)).toEqual([true, true, false, true])
  })

  it('creates deliveries with ids of their own that refer to their event', () => {
    const [one, other] = fanOut([event(7), event(8)], [endpoint('w')])
    const referred = { event_seq: 7, event_id: 'event-7', event_type: 'contact.updated', contact_id: 'ana' }
    expect(one).toMatchObject(referred)
    expect(one?.id).not.toBe(other?.id)
  })
})
