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
  message_id: null,
  transaction_id: '5',
  created_at: new Date('2026-01-02T03:04:05.678Z'),
  data: data as EventRow['data'],
})

/** The event as it is shown days later. */
const present = (one: EventRow) => presentEvent(one, addressOf, NO_NUMBERS, new Date('2026-01-09T00:00:00Z'))

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
    expect(present(event('template.status_changed', { template }))).toEqual({
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
    const shown = present(event('contact.updated', { contact: CONTACT }))
    expect(Object.keys(shown.data)).toEqual(['contact'])
    expect(shown.data.contact).toMatchObject({ id: 'ana', full_name: 'Ana', active_status: true })
    expect(JSON.stringify(shown)).not.toMatch(/folded_name|last_seq|last_inbound_at/)
  })

  it('of a message whose contact is as of now says whether it wrote lately', () => {
    const named = { ...event('message.sent', { contact: CONTACT }), message_id: 'm' }
    expect(present(named).data.contact).toMatchObject({ active_status: false })
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
    const shown = present(event('message.read', data))
    expect(Object.keys(shown.data)).toEqual(['message', 'contact', 'previous_status'])
    expect(shown.data).toMatchObject({
      previous_status: 'sent',
      message: { id: 'm', media_url: 'https://chat.example/o/file' },
    })
    expect(present(event('message.sent', { message, contact: CONTACT })).data).not.toHaveProperty('previous_status')
  })

  it('contains a webhook without its secrets, and why it was disabled', () => {
    const shown = present(event('webhook.disabled', { webhook: WEBHOOK, reason: 'it is gone' }))
    expect(shown.data).toMatchObject({ webhook: { id: 'w', active: false }, reason: 'it is gone' })
    expect(JSON.stringify(shown)).not.toMatch(/secret|failing_since/)
  })

  it('is the same whether its time was read as a date or as text with microseconds', () => {
    const data = { contact: CONTACT }
    const asText = { ...event('contact.updated', data), created_at: '2026-01-02T03:04:05.678999+00:00' }
    expect(JSON.stringify(present(asText))).toBe(JSON.stringify(present(event('contact.updated', data))))
  })
})
