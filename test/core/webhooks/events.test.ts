import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { EVENT_KINDS } from '../../../src/model/webhooks/webhook.js'
import { post, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { signIn } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { pastText, receiveHistory } from '../../support/phone-history.js'
import { closeEndpoints, type Endpoint, startEndpoint } from '../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let endpoint: Endpoint
let digits: string
let people = 0

const seen = new Set<string>()

/** The contact's id in rows; a merge names its two contacts. */
const CONTACT_ID = '(?<!kept_|merged_)contact_id'

/** Content of rows only: names of columns, and secrets. */
const INTERNAL = [
  'secret',
  'token',
  'whsec_',
  'folded_name',
  'last_seq',
  'searchable_seq',
  'last_inbound_at',
  'opted_out_at',
  'opt_out_source',
  'upstream_id',
  CONTACT_ID,
  'media_id',
  'campaign_id',
  'generation',
  'claimed',
  'transaction',
  'failing_since',
  'event_id',
]

/** Those of them that the events of a kind show. */
const SHOWN: Record<string, readonly string[]> = {
  'message.scheduled': [CONTACT_ID],
  'number.updated': ['token'],
}

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
})

beforeEach(async () => {
  organization = await world.createOrganization()
  expect((await request('POST', '/templates/sync')).status).toBe(200)
  endpoint = await startEndpoint(world, organization)
  digits = `1650555${String(2_000 + ++people)}`
})

afterEach(async () => {
  for (const { text, body } of endpoint.received) {
    seen.add(body.type)
    expect(Object.keys(body)).toEqual(['type', 'timestamp', 'data'])
    expect(body.timestamp).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    const internal = INTERNAL.filter((word) => !SHOWN[body.type]?.includes(word))
    expect(internal.filter((word) => new RegExp(`"[^"]*${word}[^"]*":|whsec_`).test(text))).toEqual([])
    for (const secret of [organization.key, organization.appSecret, organization.verifyToken, endpoint.secret]) {
      expect(text).not.toContain(secret)
    }
  }
  await closeEndpoints()
})

const request = (method: string, path: string, body?: unknown) =>
  world.request(method, path, { key: organization.key, body })

/** The contact as the API shows it now. */
const shownContact = async () => (await request('GET', `/contact?chat_id=${digits}`)).body.contact

/** The newest message as the API shows it now. */
const shownMessage = async () => (await request('GET', `/conversations?chatNumber=${digits}&limit=1`)).body.messages[0]

/** The received events of a kind. */
const arrived = (type: string) => endpoint.received.flatMap(({ body }) => (body.type === type ? [body.data] : []))

async function send(body: object): Promise<string> {
  const answer = await request('POST', '/send-chat', { phone_number: digits, ...body })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.data.message_id
}

const sendText = () => send({ message_type: 'text', text: 'Hello' })

/** The upstream reports a status of a message. */
async function report(id: string, status: string, fields: object = {}): Promise<void> {
  const timestamp = String(Math.floor(world.now().getTime() / 1_000))
  await post(world, organization, { statuses: [{ id, status, timestamp, recipient_id: digits, ...fields }] })
  await world.drain()
}

describe('events of a contact', () => {
  it('report its creation, as the API shows it', async () => {
    const { body } = await request('POST', '/contact', { phone_number: `+${digits}`, full_name: 'Ana', tags: ['vip'] })
    await world.drain()
    expect(arrived('contact.created')).toEqual([{ contact: body.contact }])
    expect(arrived('contact.created')).toEqual([{ contact: await shownContact() }])
  })

  it('report a change, as the API shows it', async () => {
    await createContact(world, organization, `+${digits}`)
    await request('PATCH', `/contact?chat_id=${digits}`, { full_name: 'Bea', contact_summary: 'asks a lot' })
    await world.drain()
    expect(arrived('contact.updated')).toEqual([{ contact: await shownContact() }])
  })

  it('report an opt-out and an opt-in, as the API shows them', async () => {
    await createContact(world, organization, `+${digits}`)
    await post(world, organization, { messages: [textMessage(digits, 'STOP')] })
    await world.drain()
    const contact = await shownContact()
    expect(contact.allow_broadcast).toBe(false)
    const consent = { source: 'reply', words: 'STOP', at: '2025-06-15T15:06:40.000Z' }
    expect(arrived('contact.opted_out')).toEqual([{ contact, ...consent }])
    const start = textMessage(digits, 'start', { timestamp: seconds(9) })
    await post(world, organization, { messages: [start] })
    await world.drain()
    const [again] = arrived('contact.opted_in')
    expect(again).toMatchObject({ source: 'reply', words: 'start', at: '2025-06-15T15:06:49.000Z' })
    expect(again.contact).toMatchObject({ allow_broadcast: true })
  })
})

describe('events of a message', () => {
  it('report that it is to be sent later', async () => {
    await createContact(world, organization, `+${digits}`)
    const scheduled_at = new Date(world.now().getTime() + 86_400_000).toISOString()
    const later = { phone_number: digits, message_type: 'text', text: 'Hello', scheduled_at }
    const { scheduled } = (await request('POST', '/send-chat', later)).body
    await world.drain()
    expect(arrived('message.scheduled')).toEqual([{ scheduled, contact: await shownContact() }])
  })

  it('report its arrival from an unknown person, with the new contact', async () => {
    const message = { phone_number_id: organization.phoneNumberId, from: digits, type: 'text', text: { body: 'Oi' } }
    expect((await world.sim('POST', '/inbound', message)).status).toBe(200)
    await world.settle()
    await world.drain()
    expect(endpoint.types()).toEqual(['contact.created', 'message.received'])
    expect(arrived('message.received')).toEqual([{ message: await shownMessage(), contact: await shownContact() }])
    expect(arrived('message.received')[0].contact).toMatchObject({ active_status: true, has_unread_messages: true })
  })

  it('report its arrival with a file, once the file is stored, with its URL', async () => {
    await world.sim('POST', '/inbound', {
      phone_number_id: organization.phoneNumberId,
      from: digits,
      type: 'image',
      image: { caption: 'Look' },
    })
    await world.settle()
    await world.drain()
    const [{ message }] = arrived('message.received')
    expect(message).toEqual(await shownMessage())
    expect(message.media_url).toMatch(/^http/)
    expect((await fetch(message.media_url)).status).toBe(200)
  })

  it('report sent, delivered and read, each with the status before', async () => {
    await createContact(world, organization, `+${digits}`)
    const id = await sendText()
    await world.drain()
    expect(arrived('message.sent')).toEqual([{ message: await shownMessage(), contact: await shownContact() }])
    await report(id, 'delivered')
    const contact = await shownContact()
    expect(arrived('message.delivered')).toEqual([{ message: await shownMessage(), contact, previous_status: 'sent' }])
    await report(id, 'read')
    expect(arrived('message.read')).toEqual([{ message: await shownMessage(), contact, previous_status: 'delivered' }])
    expect(arrived('message.read')[0].message.message_status).toBe('read')
  })

  it('report a later failure with the reason', async () => {
    await createContact(world, organization, `+${digits}`)
    const id = await sendText()
    await report(id, 'failed', { errors: [{ code: 131_026, title: 'Message undeliverable' }] })
    const message = await shownMessage()
    expect(message.error).toMatchObject({ code: 131_026 })
    expect(arrived('message.failed')).toEqual([{ message, contact: await shownContact(), previous_status: 'sent' }])
  })

  it('report an immediate refusal', async () => {
    await createContact(world, organization, `+${digits}`)
    await world.sim('PUT', `/recipients/${digits}`, { code: 131_026, by: 'answer' })
    const body = { phone_number: digits, message_type: 'text', text: 'Hello' }
    expect((await request('POST', '/send-chat', body)).status).toBeGreaterThanOrEqual(400)
    await world.drain()
    expect(arrived('message.sent')).toEqual([])
    expect(arrived('message.failed')).toEqual([
      { message: await shownMessage(), contact: await shownContact(), previous_status: 'sent' },
    ])
  })

  it('report a reaction to it, which the message then shows', async () => {
    await createContact(world, organization, `+${digits}`)
    const id = await sendText()
    const reaction = { type: 'reaction', text: undefined, reaction: { message_id: id, emoji: '👍' } }
    await post(world, organization, { messages: [{ ...textMessage(digits, ''), id: wamid(), ...reaction }] })
    await world.drain()
    const [got, ...others] = arrived('message.reaction')
    expect(others).toEqual([])
    expect(Object.keys(got)).toEqual(['message', 'contact'])
    expect(got.contact).toEqual(await shownContact())
    const shown = await shownMessage()
    expect(Object.keys(got.message)).toEqual(Object.keys(shown))
    expect(got.message).toMatchObject({ message_type: 'reaction', message: '👍', context_message_id: id })
    expect(shown.reactions).toMatchObject([{ emoji: '👍' }])
  })
})

describe('events of a changed message', () => {
  it('report an edit with the text before, and a deletion without it, as the API shows the message', async () => {
    const original = textMessage(digits, 'Helo')
    const id = String(original.id)
    const change = (type: string, fields: object) => ({ ...textMessage(digits, ''), type, text: undefined, ...fields })
    const edited = { original_message_id: id, message: { type: 'text', text: { body: 'Hello' } } }
    await post(world, organization, { messages: [original] })
    await post(world, organization, { messages: [change('edit', { timestamp: seconds(1), edit: edited })] })
    await world.drain()
    const shown = await shownMessage()
    expect(shown.message).toBe('Hello')
    const contact = await shownContact()
    expect(arrived('message.edited')).toEqual([{ message: shown, contact, previous_message: 'Helo' }])
    const revoke = { timestamp: seconds(2), revoke: { original_message_id: id } }
    await post(world, organization, { messages: [change('revoke', revoke)] })
    await world.drain()
    const deleted = await shownMessage()
    expect(deleted.message).toBe('')
    expect(arrived('message.deleted')).toEqual([{ message: deleted, contact: await shownContact() }])
  })
})

describe('events of a merge', () => {
  it('report who became one, and that a member undid it', async () => {
    const userId = `US.7700112233${digits}`
    const { from: _, ...byId } = textMessage('', 'by id', { from_user_id: userId })
    const both = textMessage(digits, 'both', { from_user_id: userId, timestamp: seconds(1) })
    for (const message of [textMessage(digits, 'by number'), byId, both]) {
      await post(world, organization, { messages: [message] })
    }
    await world.drain()
    const kept = await shownContact()
    const [merged] = arrived('contact.merged')
    const contact = expect.objectContaining({ id: kept.id, user_id: userId })
    expect(merged).toEqual({ contact, merged_contact_id: expect.any(String), cause: 'seen_together' })
    const agent = await signIn(world, organization, { role: 'agent' })
    const { body } = await agent.call('GET', `/contacts/${kept.id}/merges`)
    const undone = await agent.call('POST', `/merges/${body.merges[0].id}/undo`, { body: {} })
    expect(undone.status).toBe(200)
    await world.drain()
    const restored = (await request('GET', `/contact?user_id=${userId}`)).body.contact
    expect(arrived('contact.unmerged')).toEqual([{ contact: restored, kept_contact_id: kept.id }])
    expect(restored.id).toBe(merged.merged_contact_id)
  })
})

describe('events of a call', () => {
  it('report a missed one and an answered one, as the API shows them', async () => {
    const person = { phone_number_id: organization.phoneNumberId, from: digits }
    await world.sim('POST', '/call', person)
    await world.settle()
    await world.drain()
    const missed = { direction: 'inbound', outcome: 'missed', seconds: null }
    const shown = await shownMessage()
    expect(arrived('call.missed')).toEqual([{ message: shown, call: missed, contact: await shownContact() }])
    await world.sim('POST', '/call', { ...person, seconds: 5 })
    await world.settle()
    await world.drain()
    expect(arrived('call.ended')).toMatchObject([{ call: { outcome: 'answered', seconds: 5 } }])
  })
})

describe('events of a hand-over', () => {
  it('report who answers from now on', async () => {
    const recipient = { phone_number_id: organization.phoneNumberId, display_phone_number: '15550001111' }
    const passed = { type: 'control_passed', control_passed: { metadata: 'asks for a person' } }
    const value = { recipient, sender: { phone_number: digits }, timestamp: seconds(), ...passed }
    await world.sim('POST', '/callback', {
      phone_number_id: organization.phoneNumberId,
      field: 'messaging_handovers',
      value,
    })
    await world.settle()
    await world.drain()
    expect(arrived('conversation.handed_over')).toMatchObject([
      { message: await shownMessage(), handover: { holder: 'us', note: 'asks for a person' } },
    ])
  })
})

describe('events of a group', () => {
  it('report a change of it, as the API shows it', async () => {
    const change = { group_id: '120363040000000001', event: 'created', subject: 'Choir' }
    await world.sim('POST', '/group', { phone_number_id: organization.phoneNumberId, ...change })
    await world.settle()
    await world.drain()
    const { body } = await request('GET', '/conversations?action=contacts')
    const contact = body.contacts.find((one: { is_group?: true }) => one.is_group)
    const { messages } = (await request('GET', `/conversations?contactId=${contact.id}`)).body
    expect(arrived('group.updated')).toMatchObject([
      { message: messages[0], contact: { id: contact.id, full_name: 'Choir', is_group: true } },
    ])
  })
})

describe('events of a broadcast', () => {
  it('report its start and completion, as the API shows it', async () => {
    await createContact(world, organization, `+${digits}`)
    const body = { name: 'News', templateName: 'hello_world', audience: { recipients: [{ chatNumber: digits }] } }
    const made = await request('POST', '/broadcasts', body)
    expect(made.status, JSON.stringify(made.body)).toBe(202)
    await world.drain()
    const shown = (await request('GET', `/broadcasts/${made.body.broadcast.id}`)).body.broadcast
    const [{ broadcast: started }] = arrived('broadcast.started')
    const [{ broadcast: completed }] = arrived('broadcast.completed')
    expect(shown).toMatchObject(completed)
    expect(completed).toMatchObject({ status: 'completed', completed_at: expect.any(String), totalRecipients: 1 })
    expect(Object.keys(started)).toEqual(Object.keys(completed))
    expect(Object.keys(started)).toEqual(Object.keys(made.body.broadcast).filter((field) => field in started))
    expect(started).toEqual({ ...completed, status: started.status, completed_at: null })
    expect(arrived('broadcast.started')).toEqual([{ broadcast: started }])
    expect(arrived('broadcast.completed')).toEqual([{ broadcast: completed }])
  })
})

describe('events of a template', () => {
  it('report a changed status, as the API shows it', async () => {
    const template = { name: 'hello_world', language: 'en_US', event: 'PAUSED' }
    const number = { phone_number_id: organization.phoneNumberId }
    const told = await world.sim('POST', '/templates/status', { ...number, ...template })
    expect(told.status, JSON.stringify(told.body)).toBe(200)
    await world.settle()
    await world.drain()
    const { body } = await request('GET', '/templates')
    const shown = body.templates.find(({ name }: { name: string }) => name === 'hello_world')
    expect(shown.status).toBe('PAUSED')
    expect(arrived('template.status_changed')).toEqual([{ template: shown }])
  })

  it('report a changed content', async () => {
    const components = [{ type: 'BODY', text: 'Good day to you' }]
    await request('PATCH', '/templates?name=hello_world&language=en_US', { components })
    await world.settle()
    await world.drain()
    const { body } = await request('GET', '/templates')
    const shown = body.templates.find(({ name }: { name: string }) => name === 'hello_world')
    expect(shown.components).toEqual(components)
    expect(arrived('template.updated')).toEqual([{ template: shown }])
  })
})

describe('events of a number', () => {
  it('report what a check has found, as its health shows it', async () => {
    const { id, phoneNumberId, businessAccountId, appSecret } = organization
    // Without an access token there, the one of the organization is not valid.
    const registration = { business_account_id: businessAccountId, app_secret: appSecret, callback_url: world.app.url }
    await world.sim('PUT', `/numbers/${phoneNumberId}`, registration)
    const { body } = await world.admin('GET', `/organizations/${id}/upstream/health?refresh=true`)
    const [{ last_send_at: _at, ...shown }] = body.numbers
    expect(shown).toMatchObject({ state: 'failed', steps: [{ reason: 'token_refused' }] })
    await world.drain()
    const [{ number, previous_state }] = arrived('number.updated')
    expect([number, previous_state]).toEqual([shown, null])
  })
})

describe('events of the account', () => {
  it('report what the upstream says about the account, a number and a template', async () => {
    const say = async (field: string, value: object) => {
      const callback = { phone_number_id: organization.phoneNumberId, field, value }
      expect((await world.sim('POST', '/callback', callback)).status).toBe(200)
    }
    await say('account_update', { event: 'ACCOUNT_VIOLATION', violation_info: { violation_type: 'SPAM' } })
    await say('phone_number_quality_update', { display_phone_number: '15550001111', event: 'FLAGGED' })
    const template = { message_template_name: 'hello_world', message_template_language: 'en_US' }
    await say('message_template_quality_update', { ...template, new_quality_score: 'YELLOW' })
    await world.settle()
    await world.drain()
    expect(arrived('account.updated')).toMatchObject([
      {
        notice: { field: 'account_update', kind: 'ACCOUNT_VIOLATION', severity: 'warning', value: expect.any(Object) },
      },
    ])
    expect(arrived('number.updated')).toMatchObject([{ notice: { kind: 'FLAGGED', severity: 'warning' } }])
    expect(arrived('template.quality_changed')).toMatchObject([
      { template: { name: 'hello_world' }, quality: 'YELLOW', previous_quality: null },
    ])
  })
})

describe('events of a history', () => {
  it('report how far it is, and nothing of its messages', async () => {
    const messages = [pastText('wamid.past', 1_790_000_000, 'long ago', { from: digits })]
    await receiveHistory(world, organization, { person: digits, messages })
    expect(arrived('history.imported')).toMatchObject([{ history: { status: 'running', progress: 50, messages: 1 } }])
    expect(arrived('message.received')).toEqual([])
  })
})

describe('events of a webhook', () => {
  it('report at the other webhooks that it was disabled, and why, as the API shows it', async () => {
    const gone = await startEndpoint(world, organization)
    gone.respond(() => 410)
    await createContact(world, organization, `+${digits}`)
    await world.drain()
    const { body } = await request('GET', '/get-webhooks')
    const shown = body.webhooks.find(({ id }: { id: string }) => id === gone.id)
    expect(shown).toMatchObject({ active: false, disabled_reason: expect.stringContaining('410') })
    expect(arrived('webhook.disabled')).toEqual([{ webhook: shown, reason: shown.disabled_reason }])
    expect(gone.types()).toEqual(['contact.created'])
  })
})

describe('all events together', () => {
  it('are the kinds that a webhook can subscribe to', () => {
    expect([...seen].sort()).toEqual([...EVENT_KINDS].sort())
  })
})
