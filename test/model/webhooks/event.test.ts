import { describe, expect, it } from 'vitest'
import { type EventRow, presentEvent } from '../../../src/model/webhooks/event.js'

const addressOf = (organizationId: string, mediaId: string) => `https://chat.example/${organizationId}/${mediaId}`

const NO_NUMBERS = () => null

const event = (type: string, data: object): EventRow => ({
  organization_id: 'organization',
  seq: 1,
  id: 'event',
  type,
  contact_id: null,
  transaction_id: '5',
  created_at: new Date('2026-01-02T03:04:05.678Z'),
  data: data as EventRow['data'],
})

const AT = '2026-01-01T00:00:00+00:00'
const CONTACT = {
  created_at: AT,
  updated_at: AT,
  contact_summary_updated_at: null,
  id: 'ana',
  full_name: 'Ana',
  last_inbound_at: '2026-01-02T03:00:00+00:00',
  folded_name: 'ana',
  last_seq: 7,
}
const WEBHOOK = {
  created_at: AT,
  updated_at: AT,
  description: null,
  disabled_reason: 'it is gone',
  id: 'w',
  url: 'https://example.com',
  events: ['*'],
  secret: '\\x00',
  failing_since: null,
  active: false,
}

describe('the JSON of an event', () => {
  it('contains kind, time and data, and no other column', () => {
    const template = { name: 'promo', language: 'pt_BR', status: 'PAUSED', organization_id: 'organization' }
    expect(presentEvent(event('template.status_changed', { template }), addressOf, NO_NUMBERS)).toEqual({
      type: 'template.status_changed',
      timestamp: '2026-01-02T03:04:05.678Z',
      data: {
        template: {
          ...{ name: 'promo', language: 'pt_BR', status: 'PAUSED' },
          ...{ id: null, quality: null, rejected_reason: null, paused_until: null },
        },
      },
    })
  })

  it('contains the contact as it was then, without internal fields', () => {
    const shown = presentEvent(event('contact.updated', { contact: CONTACT }), addressOf, NO_NUMBERS)
    expect(Object.keys(shown.data)).toEqual(['contact'])
    expect(shown.data.contact).toMatchObject({ id: 'ana', full_name: 'Ana', active_status: true })
    expect(JSON.stringify(shown)).not.toMatch(/folded_name|last_seq|last_inbound_at/)
  })

  it('contains message, contact and previous status, in this order', () => {
    const message = {
      created_at: AT,
      id: 'm',
      text: 'Hi',
      media_id: 'file',
      media_expires_at: '2027-01-01T00:00:00+00:00',
    }
    const data = { contact: CONTACT, previous_status: 'sent', message: { ...message, organization_id: 'o' } }
    const shown = presentEvent(event('message.read', data), addressOf, NO_NUMBERS)
    expect(Object.keys(shown.data)).toEqual(['message', 'contact', 'previous_status'])
    expect(shown.data).toMatchObject({
      previous_status: 'sent',
      message: { id: 'm', media_url: 'https://chat.example/o/file' },
    })
    expect(
      presentEvent(event('message.sent', { message, contact: CONTACT }), addressOf, NO_NUMBERS).data,
    ).not.toHaveProperty('previous_status')
  })

  it('contains a webhook without its secrets, and why it was disabled', () => {
    const shown = presentEvent(
      event('webhook.disabled', { webhook: WEBHOOK, reason: 'it is gone' }),
      addressOf,
      NO_NUMBERS,
    )
    expect(shown.data).toMatchObject({ webhook: { id: 'w', active: false }, reason: 'it is gone' })
    expect(JSON.stringify(shown)).not.toMatch(/secret|failing_since/)
  })

  it('is the same whether its time was read as a date or as text with microseconds', () => {
    const data = { contact: CONTACT }
    const asText = { ...event('contact.updated', data), created_at: '2026-01-02T03:04:05.678999+00:00' }
    expect(JSON.stringify(presentEvent(asText, addressOf, NO_NUMBERS))).toBe(
      JSON.stringify(presentEvent(event('contact.updated', data), addressOf, NO_NUMBERS)),
    )
  })
})
