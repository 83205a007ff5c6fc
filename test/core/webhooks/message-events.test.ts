import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { WHOLE_DATA } from '../../../src/storage/events/message-rows.js'
import { post, receiveMessages, seconds, textMessage } from '../../support/callbacks.js'
import { signIn } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { type EventSource, openEventSource } from '../../support/event-source.js'
import { eventsOf, writeAsBefore } from '../../support/rows/events.js'
import { closeEndpoints, type Endpoint, MINUTE, rename, startEndpoint } from '../../support/webhook-endpoints.js'
import { insertDelivery, setWebhook } from '../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../support/world.js'
import { closeInstanceEndpoints, startInstanceEndpoint } from './delivery/gateway-support.js'

// Events of messages are short, or whole as those of 1.0: their readers show them alike.

const ANA = '16505550001'
const PRICE = { billable: true, pricing_model: 'PMP', type: 'regular', category: 'utility' }

const world = useWorld()
let organization: TestOrganization
let contactId: string
const open: EventSource[] = []

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
})

beforeEach(async () => {
  organization = await world.createOrganization()
  contactId = await createContact(world, organization, `+${ANA}`, { full_name: 'Ana' })
})

afterEach(async () => {
  await writeAsBefore(world, false)
  for (const source of open.splice(0)) source.close()
  await closeEndpoints()
  await closeInstanceEndpoints()
})

const request = (method: string, path: string, body?: unknown, { key } = organization) =>
  world.request(method, path, { key, body })

/** The events of messages, as the feed shows them. */
async function fed(owner = organization) {
  const { status, body } = await request('GET', '/events?limit=1000', undefined, owner)
  expect(status).toBe(200)
  // biome-ignore lint/suspicious/noExplicitAny: the body of an answer
  return body.events.filter(({ type }: { type: string }) => type.startsWith('message.')) as any[]
}

/** Sends a text; resolves to the upstream's id of it. */
async function send(): Promise<string> {
  const answer = await request('POST', '/send-chat', { phone_number: ANA, message_type: 'text', text: 'Hello' })
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return answer.body.data.message_id
}

async function report(id: string, status: string, fields: object = {}): Promise<void> {
  await post(world, organization, { statuses: [{ id, status, timestamp: seconds(), recipient_id: ANA, ...fields }] })
  await world.drain()
}

/** Lets deliveries be tried again that failed a few times, and what waited for them. */
async function tryAgain(): Promise<void> {
  for (const _ of [1, 2, 3]) {
    world.advance(10 * MINUTE)
    await world.drain()
  }
}

async function listen(cookie: string, lastEventId?: string): Promise<EventSource> {
  const source = await openEventSource(world, cookie, lastEventId === undefined ? {} : { lastEventId })
  open.push(source)
  await expect.poll(() => source.events.length).toBeGreaterThan(0)
  return source
}

/** What an event says of its message, whoever reads it. */
// biome-ignore lint/suspicious/noExplicitAny: events of several shapes
const told = ({ type, data }: { type: string | null; data: any }) => ({
  type,
  text: data.message.message,
  status: data.message.message_status,
  error: data.message.error,
  outcome: data.message.outcome,
  reactions: data.message.reactions.map(({ emoji }: { emoji: string }) => emoji),
  contact: data.contact.full_name,
  ...(data.previous_status && { previous: data.previous_status }),
  ...(data.pricing && { pricing: data.pricing }),
})

const COMMON = { text: 'Hello', error: null, outcome: null, reactions: [], contact: 'Ana' }
const PRICING = { billable: true, model: 'PMP', type: 'regular', category: 'utility', country: 'US' }
const STATUSES = [
  { ...COMMON, type: 'message.sent', status: 'sent' },
  { ...COMMON, type: 'message.delivered', status: 'delivered', previous: 'sent', pricing: PRICING },
  { ...COMMON, type: 'message.read', status: 'read', previous: 'delivered' },
]

describe.each([
  ['short', false],
  ['whole', true],
])('%s events', (_form, isWhole) => {
  beforeEach(() => writeAsBefore(world, isWhole))

  it('show the status of then in the feed, webhooks, the gateway and the page, although the message went on', async () => {
    const { cookie } = await signIn(world, organization, { role: 'agent' })
    const before = await listen(cookie)
    const webhook = await startEndpoint(world, organization, ['message.sent', 'message.delivered', 'message.read'])
    const gateway = await startInstanceEndpoint(world, organization, { events: ['SEND_MESSAGE', 'MESSAGES_UPDATE'] })
    for (const endpoint of [webhook, gateway]) endpoint.respond(() => 503)
    const id = await send()
    await report(id, 'sent')
    await report(id, 'delivered', { pricing: PRICE })
    await report(id, 'read')
    webhook.received.length = 0
    gateway.received.length = 0
    for (const endpoint of [webhook, gateway]) endpoint.respond(() => 204)
    await tryAgain()

    expect((await fed()).map(told)).toEqual(STATUSES)
    expect(webhook.received.map(({ body }) => told(body))).toEqual(STATUSES)
    expect(gateway.received.map(({ body }) => [body.event, body.data.status])).toEqual([
      ['send.message', 'SERVER_ACK'],
      ['messages.update', 'SENT'],
      ['messages.update', 'DELIVERED'],
      ['messages.update', 'READ'],
    ])
    const page = await listen(cookie, before.events[0]?.id ?? undefined)
    const live = () => page.events.filter(({ type }) => type?.startsWith('message.'))
    await expect.poll(() => live().length).toBe(STATUSES.length)
    expect(live().map(({ type, data }) => [type, data.message.message_status, data.contact.full_name])).toEqual(
      STATUSES.map(({ type, status, contact }) => [type, status, contact]),
    )
  })

  it('show a failure with its reason, and reactions, only from then on', async () => {
    const id = await send()
    await report(id, 'failed', { errors: [{ code: 131_026, title: 'Message undeliverable' }] })
    const reaction = { type: 'reaction', text: undefined, reaction: { message_id: id, emoji: '👍' } }
    await receiveMessages(world, organization, textMessage(ANA, '', reaction))
    await report(id, 'delivered')
    const events = (await fed()).map(told).filter(({ type }) => type !== 'message.reaction')
    expect(events.map(({ type, error, reactions }) => [type, error?.code ?? null, reactions])).toEqual([
      ['message.sent', null, []],
      ['message.failed', 131_026, []],
      ['message.delivered', null, ['👍']],
    ])
  })

  it('of a message that came in have its text, and those of an edit the text of that edit', async () => {
    const original = textMessage(ANA, 'one')
    const edit = (text: string, at: number) => ({
      ...textMessage(ANA, '', { type: 'edit', text: undefined, timestamp: seconds(at) }),
      edit: { original_message_id: original.id, message: { type: 'text', text: { body: text } } },
    })
    await receiveMessages(world, organization, original)
    expect((await fed()).map(({ type, data }) => [type, data.message.message])).toEqual([['message.received', 'one']])
    await receiveMessages(world, organization, edit('two', 1))
    await receiveMessages(world, organization, edit('three', 2))
    const edits = (await fed()).filter(({ type }) => type === 'message.edited')
    expect(edits.map(({ data }) => [data.previous_message, data.message.message])).toEqual([
      ['one', 'two'],
      ['two', 'three'],
    ])
  })

  it('are replayed, and hidden with the contact', async () => {
    const id = await send()
    await report(id, 'read')
    const { id: webhookId } = await setWebhook(world, organization)
    const delivery = await insertDelivery(world, organization, webhookId)
    const replay = () => request('POST', `/webhook-deliveries/${delivery}/replay`)
    expect((await replay()).status).toBe(200)
    const other = await world.createOrganization()
    expect((await request('GET', `/webhook-deliveries/${delivery}`, undefined, other)).status).toBe(404)
    await request('DELETE', `/contact?chat_id=${ANA}`)
    expect(await fed()).toEqual([])
    expect((await replay()).status).toBe(404)
    await world.drain()
    const left = await eventsOf(world, organization)
    expect(left.filter(({ contact_id }) => contact_id === contactId).map(({ data }) => data)).not.toContainEqual(
      expect.objectContaining({ message: expect.anything() }),
    )
  })

  it('of a contact that became another one show that one', async () => {
    const userId = 'US.770011223344'
    const { from: _, ...byId } = textMessage('', 'by id', { from_user_id: userId })
    await receiveMessages(world, organization, textMessage(ANA, 'by number'), byId)
    await receiveMessages(world, organization, textMessage(ANA, 'both', { from_user_id: userId }))
    await world.drain()
    const events = await eventsOf(world, organization, 'message.received')
    expect(new Set(events.map(({ contact_id }) => contact_id))).toEqual(new Set([contactId]))
    const shown = await fed()
    expect(shown.map(({ data }) => data.message.message).sort()).toEqual(['both', 'by id', 'by number'])
    if (!isWhole) expect(new Set(shown.map(({ data }) => data.contact.id))).toEqual(new Set([contactId]))
  })
})

it('events of both forms stand side by side and look the same', async () => {
  const id = await send()
  await report(id, 'delivered', { pricing: PRICE })
  const [sent, delivered] = await fed()
  // As a process of 1.0 wrote it.
  await world.database.pool.query(
    `INSERT INTO events (organization_id, id, type, contact_id, data)
     SELECT e.organization_id, gen_random_uuid(), e.type, e.contact_id, ${WHOLE_DATA} FROM events e
     WHERE e.organization_id = $1 AND e.type LIKE 'message.%' ORDER BY e.seq`,
    [organization.id],
  )
  const data = (await fed()).map((event) => event.data)
  expect(data).toEqual([sent.data, delivered.data, sent.data, delivered.data])
})

it('a short event has no words of people and no number', async () => {
  await receiveMessages(world, organization, textMessage(ANA, 'a secret'))
  await report(await send(), 'read')
  const { rows } = await world.database.pool.query<{ data: string; of: string | null }>(
    `SELECT data::text, message_id AS of FROM events WHERE organization_id = $1 AND type LIKE 'message.%'`,
    [organization.id],
  )
  expect(rows).toHaveLength(3)
  for (const { data, of } of rows) {
    expect(of).not.toBeNull()
    expect(data).not.toMatch(/secret|Hello|Ana|16505550001/)
  }
})

it('a whole event of several messages at once has the contact as it was then', async () => {
  await writeAsBefore(world, true)
  for (const text of ['one', 'two', 'three']) await post(world, organization, { messages: [textMessage(ANA, text)] })
  await world.drain()
  const received = await eventsOf(world, organization, 'message.received')
  received.sort((one, other) => one.seq - other.seq)
  expect(received.map(({ data }) => [data.message.text, data.contact.last_seq])).toEqual([
    ['one', 1],
    ['two', 2],
    ['three', 3],
  ])
})

it('a retry shows the contact as it is then, under the same id', async () => {
  const endpoint: Endpoint = await startEndpoint(world, organization, ['message.received'])
  endpoint.respond(() => 503)
  await receiveMessages(world, organization, textMessage(ANA, 'Hi'))
  await world.drain()
  await rename(world, organization, contactId, 'Ana Maria')
  endpoint.respond(() => 204)
  await tryAgain()
  expect(endpoint.received.map(({ body }) => body.data.contact.full_name)).toEqual(['Ana', 'Ana Maria'])
  expect(new Set(endpoint.received.map(({ headers }) => headers['webhook-id'])).size).toBe(1)
})

it.each([
  ['as of now in a short event', false],
  ['as of then in a whole one', true],
])('whether the contact wrote lately is %s', async (_form, isWhole) => {
  await writeAsBefore(world, isWhole)
  const { cookie } = await signIn(world, organization, { role: 'agent' })
  const before = await listen(cookie)
  const endpoint = await startEndpoint(world, organization, ['message.received'])
  const timestamp = String(Math.trunc(Date.now() / 1_000))
  await receiveMessages(world, organization, textMessage(ANA, 'Hi', { timestamp }))
  await world.drain()
  world.advance(25 * 60 * MINUTE)
  const { cookie: later } = await signIn(world, organization, { role: 'agent' })
  const page = await listen(later, before.events[0]?.id ?? undefined)
  const live = () => page.events.filter(({ type }) => type === 'message.received')
  await expect.poll(() => live().length).toBe(1)
  const [delivery] = (await request('GET', '/webhook-deliveries')).body.deliveries
  const stored = await request('GET', `/webhook-deliveries/${delivery.id}`)
  const active = (data: { contact: { active_status: boolean } }) => data.contact.active_status
  expect(endpoint.received.map(({ body }) => active(body.data))).toEqual([true])
  expect([(await fed())[0].data, stored.body.body.data, live()[0]?.data].map(active)).toEqual(Array(3).fill(isWhole))
})

it('a short event is not shown without its message, nor to another organization', async () => {
  await send()
  await world.drain()
  const other = await world.createOrganization()
  await world.database.pool.query(
    `INSERT INTO events (organization_id, id, type, message_id, data)
     SELECT $2, gen_random_uuid(), type, message_id, data FROM events
     WHERE organization_id = $1 AND type = 'message.sent'`,
    [organization.id, other.id],
  )
  expect(await fed(other)).toEqual([])
  expect(await fed()).toHaveLength(1)
  await world.database.pool.query('DELETE FROM messages WHERE organization_id = $1', [organization.id])
  expect(await fed()).toEqual([])
})
