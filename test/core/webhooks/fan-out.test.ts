import { describe, expect, it } from 'vitest'
import { fanOut } from '../../../src/core/webhooks/fan-out.js'
import type { EventRow } from '../../../src/model/event.js'
import type { EndpointRow } from '../../../src/storage/webhook-health.js'

const endpoint = (id: string, fields: Partial<EndpointRow> = {}): EndpointRow => ({
  organization_id: 'organization',
  id,
  url: 'https://example.com/hook',
  events: ['*'],
  secret: Buffer.alloc(0),
  previous_secret: null,
  previous_secret_until: null,
  failing_since: null,
  since_transaction: '100',
  ...fields,
})

const event = (seq: number, fields: Partial<EventRow> = {}): EventRow => ({
  organization_id: 'organization',
  seq,
  id: `event-${seq}`,
  type: 'contact.updated',
  contact_id: 'ana',
  transaction_id: '101',
  created_at: new Date(0),
  data: {},
  ...fields,
})

/** The deliveries as `webhook: event`, with a mark where no other comes before. */
const shown = (events: EventRow[], endpoints: EndpointRow[]) =>
  fanOut(events, endpoints).map(
    ([{ webhook_id, event_seq, is_first }]) => `${webhook_id}: ${event_seq}${is_first ? ' first' : ''}`,
  )

describe('events fan out', () => {
  it('to each webhook that takes their kind', () => {
    const events = [event(1, { type: 'contact.created' }), event(2), event(3, { type: 'webhook.test' })]
    const endpoints = [
      endpoint('all'),
      endpoint('one', { events: ['contact.updated'] }),
      endpoint('no', { events: [] }),
    ]
    expect(shown(events, endpoints)).toEqual(['all: 1 first', 'all: 2', 'one: 2 first'])
  })

  it('only where their transaction is later than the one that set the webhook, as a number', () => {
    const events = ['99', '100', '101', '1000'].map((transaction_id, seq) => event(seq, { transaction_id }))
    expect(shown(events, [endpoint('w')])).toEqual(['w: 2 first', 'w: 3'])
  })

  it('with the first of each contact marked, and all that are about nobody', () => {
    const people = ['ana', 'bea', 'ana', null, null, 'bea']
    const events = people.map((contact_id, seq) => event(seq, { contact_id }))
    expect(shown(events, [endpoint('w')])).toEqual([
      'w: 0 first',
      'w: 1 first',
      'w: 2',
      'w: 3 first',
      'w: 4 first',
      'w: 5',
    ])
    expect(fanOut(events, [endpoint('w')]).map(([delivery]) => delivery.in_order)).toEqual(
      people.map((contact) => contact !== null),
    )
  })

  it('into deliveries with ids of their own that know their event', () => {
    const [one, other] = fanOut([event(7), event(8)], [endpoint('w')])
    expect(one?.[0]).toMatchObject({ event_id: 'event-7', event_type: 'contact.updated', contact_id: 'ana' })
    expect(one?.[1].seq).toBe(7)
    expect(one?.[0].id).not.toBe(other?.[0].id)
  })
})
