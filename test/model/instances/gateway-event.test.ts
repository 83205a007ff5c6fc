import { describe, expect, it } from 'vitest'
import {
  gatewayEventFor,
  gatewayEventOf,
  presentGatewayData,
  presentGatewayEvent,
  type ShownCode,
  type WebhookInstance,
} from '../../../src/model/instances/gateway-event.js'
import type { EventRow } from '../../../src/model/webhooks/event.js'

const INSTANCE: WebhookInstance = {
  id: 'line-1',
  name: 'shop',
  kind: 'linked_device',
  phone_number_id: null,
  owner: '5511900000000',
}
const AT = '2026-01-02T03:04:05.678+00:00'
const ANA = { id: 'ana', chat_id: '5511987654321', phone_number: '+5511987654321', full_name: 'Ana' }
const NO_CODE = { code: null, pairingCode: null, base64: null }

const message = (fields: object = {}) => ({
  organization_id: 'organization',
  id: '01a2000c-a875-728e-a792-61296b7d4114',
  upstream_id: 'wamid.1',
  sender_type: 'user-chat',
  message_type: 'text',
  text: 'Oi',
  media_id: null,
  media_expires_at: null,
  content: null,
  instance_id: 'line-1',
  network: null,
  status: 'delivered',
  outcome: null,
  context_upstream_id: null,
  created_at: AT,
  ...fields,
})

const event = (type: string, data: object): EventRow => ({
  organization_id: 'organization',
  seq: 1,
  id: 'event',
  type,
  contact_id: null,
  message_id: null,
  transaction_id: '5',
  created_at: AT,
  data: data as EventRow['data'],
})

const about = (type: string, fields: object = {}) => event(type, { message: message(fields), contact: ANA })
const ours = { sender_type: 'human-chat', status: 'sent' }
const fromPhone = { ...ours, network: { fromPhone: true } }
const subject = { id: 'line-1', name: 'shop', owner: '551190', profile_name: 'Shop', profile_picture_url: null }
const connection = (state: string, statusReason: number | null) =>
  event('instance.state', { instance: subject, connection: { state, statusReason } })

// biome-ignore lint/suspicious/noExplicitAny: tests look into data of every shape
const dataOf = (one: EventRow, code: ShownCode = NO_CODE): any =>
  presentGatewayData(one, INSTANCE, code, () => 'address')

describe("the gateway's name of an event", () => {
  it.each([
    ['messages.upsert', about('message.received')],
    ['send.message', about('message.sent', ours)],
    ['messages.upsert', about('message.sent', fromPhone)],
    ['messages.upsert', about('message.reaction')],
    ['send.message', about('message.reaction', ours)],
    ['messages.upsert', about('message.reaction', fromPhone)],
    ['messages.update', about('message.delivered', ours)],
    ['messages.update', about('message.read', ours)],
    ['messages.update', about('message.failed', ours)],
    ['messages.edited', about('message.edited')],
    ['messages.delete', about('message.deleted')],
    ['messages.edited', about('instance.message_edited')],
    ['messages.delete', about('instance.message_deleted')],
    ['call', about('call.missed', { sender_type: 'system' })],
    ['groups.update', about('group.updated', { message_type: 'group', content: { event: 'renamed' } })],
    [
      'presence.update',
      event('instance.signal', { instance: subject, signal: { event: 'presence.update', data: {} } }),
    ],
    ['contacts.upsert', event('contact.created', { contact: ANA })],
    ['contacts.update', event('contact.updated', { contact: ANA })],
    ['connection.update', connection('open', 200)],
    ['qrcode.updated', event('instance.qrcode', { instance: subject, qrcode: { sealed: '' } })],
    ['logout.instance', event('instance.logged_out', { instance: subject })],
  ])('is correct: %s', (name, one) => {
    expect(gatewayEventOf(one)).toBe(name)
  })

  it.each([
    about('message.received', { sender_type: 'system' }),
    ...['received', 'sent', 'reaction', 'delivered', 'edited', 'deleted'].map((name) =>
      about(`message.${name}`, { handled_by: 'upstream_agent' }),
    ),
    about('group.updated', { sender_type: 'system', message_type: 'group', content: { event: 'suspended' } }),
    about('group.updated', { sender_type: 'system', message_type: 'group', content: null }),
    about('conversation.handed_over', { sender_type: 'system' }),
    event('contact.opted_out', { contact: ANA }),
    event('broadcast.started', { broadcast: {} }),
    event('broadcast.completed', { broadcast: {} }),
    event('template.status_changed', { template: {} }),
    event('webhook.disabled', { webhook: {} }),
    event('webhook.test', { webhook: {} }),
  ])('is empty if the gateway has no such event: $type', (one) => {
    expect(gatewayEventOf(one)).toBeNull()
  })
})

describe('an event concerns an instance', () => {
  const business: WebhookInstance = { ...INSTANCE, kind: 'business_api' }
  const ownNumber: WebhookInstance = { ...business, phone_number_id: '10' }

  it("if it is about a message of the instance's channel", () => {
    expect(gatewayEventFor(about('message.received'), INSTANCE)).toBe('messages.upsert')
    expect(gatewayEventFor(about('message.received', { instance_id: 'line-2' }), INSTANCE)).toBeNull()
    expect(gatewayEventFor(about('message.received', { instance_id: null }), INSTANCE)).toBeNull()
    expect(gatewayEventFor(about('message.received', { instance_id: null }), ownNumber)).toBeNull()
  })

  it("if it is about a message of the organization's number, and the instance stands for that", () => {
    expect(gatewayEventFor(about('message.received', { instance_id: null }), business)).toBe('messages.upsert')
    expect(gatewayEventFor(about('message.received', { instance_id: undefined }), business)).toBe('messages.upsert')
    expect(gatewayEventFor(about('message.received'), business)).toBeNull()
  })

  it('if it is about the instance itself', () => {
    expect(gatewayEventFor(connection('open', 200), INSTANCE)).toBe('connection.update')
    expect(gatewayEventFor(connection('open', 200), { ...INSTANCE, id: 'line-2' })).toBeNull()
  })

  it('if it is about any contact of the organization', () => {
    const created = event('contact.created', { contact: ANA })
    expect(gatewayEventFor(created, business)).toBe('contacts.upsert')
    expect(gatewayEventFor(created, INSTANCE)).toBe('contacts.upsert')
  })
})

describe('the data of an event', () => {
  it('contains the received message', () => {
    expect(dataOf(about('message.received'))).toMatchObject({
      key: { remoteJid: '5511987654321@s.whatsapp.net', fromMe: false, id: 'wamid.1' },
      pushName: 'Ana',
      message: { conversation: 'Oi' },
      messageType: 'conversation',
      messageTimestamp: 1_767_323_045,
      instanceId: 'line-1',
    })
  })

  it('marks a message typed on the phone', () => {
    expect(dataOf(about('message.sent', fromPhone)).key.fromMe).toBe(true)
  })

  it.each([
    ['message.delivered', 'DELIVERY_ACK'],
    ['message.read', 'READ'],
    ['message.failed', 'ERROR'],
  ])('contains the status after %s', (type, status) => {
    const network = { participant: '5511911112222@s.whatsapp.net' }
    expect(dataOf(about(type, { ...ours, network }))).toEqual({
      messageId: '01a2000c-a875-728e-a792-61296b7d4114',
      keyId: 'wamid.1',
      remoteJid: '5511987654321@s.whatsapp.net',
      fromMe: true,
      participant: '5511911112222@s.whatsapp.net',
      status,
      instanceId: 'line-1',
    })
  })

  it('contains the new text of an edit, in each form of the network', () => {
    const network = { message: { conversation: 'before' } }
    expect(dataOf(about('message.edited', { network, text: 'after' }))).toMatchObject({
      key: { id: 'wamid.1', fromMe: false },
      type: 'MESSAGE_EDIT',
      editedMessage: { conversation: 'after' },
      timestampMs: 1_767_323_045_678,
    })
  })

  it('contains a deleted message, with its key at the top too', () => {
    const told = dataOf(about('message.deleted', { text: '' }))
    expect(told).toMatchObject({ id: 'wamid.1', remoteJid: '5511987654321@s.whatsapp.net', fromMe: false })
    expect(told).toMatchObject({ key: { id: 'wamid.1' }, status: 'DELETED', instanceId: 'line-1' })
  })

  it('contains the public fields of a contact', () => {
    expect(dataOf(event('contact.updated', { contact: ANA }))).toEqual({
      remoteJid: '5511987654321@s.whatsapp.net',
      pushName: 'Ana',
      profilePicUrl: null,
      instanceId: 'line-1',
    })
  })

  it('contains the state of a connection, with the profile if it is open', () => {
    expect(dataOf(connection('connecting', null))).toEqual({
      instance: 'shop',
      state: 'connecting',
      statusReason: 200,
    })
    expect(dataOf(connection('close', 401))).toEqual({ instance: 'shop', state: 'close', statusReason: 401 })
    expect(dataOf(connection('open', 200))).toEqual({
      instance: 'shop',
      state: 'open',
      statusReason: 200,
      wuid: '551190@s.whatsapp.net',
      profileName: 'Shop',
      profilePictureUrl: null,
    })
  })

  it('contains the code', () => {
    const qrcode = event('instance.qrcode', { instance: subject, qrcode: { sealed: 'secret' } })
    const code = { code: '2@abc', pairingCode: 'ABCD1234', base64: 'data:image/png;base64,AA==' }
    expect(dataOf(qrcode, code)).toEqual({ qrcode: { instance: 'shop', ...code } })
  })

  it('contains nothing more at the end of a session', () => {
    expect(dataOf(event('instance.logged_out', { instance: subject }))).toBeNull()
  })
})

describe('the envelope of an event', () => {
  const target = { instance: INSTANCE, url: 'https://example.com/hook', serverUrl: 'https://chat.example/gateway' }

  it('contains instance, time and URL, and never a key', () => {
    expect(presentGatewayEvent(about('message.received'), 'messages.upsert', target, { any: 1 })).toEqual({
      event: 'messages.upsert',
      instance: 'shop',
      data: { any: 1 },
      destination: 'https://example.com/hook',
      date_time: '2026-01-02T03:04:05.678Z',
      sender: '5511900000000@s.whatsapp.net',
      server_url: 'https://chat.example/gateway',
      apikey: null,
    })
  })

  it('has no sender if the number is unknown', () => {
    const unknown = { ...target, instance: { ...INSTANCE, owner: null } }
    expect(presentGatewayEvent(about('message.received'), 'messages.upsert', unknown, null).sender).toBe('')
  })
})
