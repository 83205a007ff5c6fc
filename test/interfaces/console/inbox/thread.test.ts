import { beforeAll, describe, expect, it } from 'vitest'
import { post, receive, receiveMessages, textMessage, wamid } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { insertMessages, moveToInstance } from '../../../support/conversations.js'
import { json, startHttpServer } from '../../../support/http-server.js'
import { createInstance, scan } from '../../../support/instances.js'
import { useStarted } from '../../../support/started.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember
let stranger: SignedInMember
let people = 0

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  agent = await signIn(world, organization, { role: 'agent', fullName: 'Ana Agent' })
  stranger = await signIn(world, await world.createOrganization())
})

async function newContact(): Promise<{ id: string; digits: string }> {
  const digits = `1650555${String(++people).padStart(4, '0')}`
  return { id: await createContact(world, organization, `+${digits}`), digits }
}

const read = (contactId: string, query: Record<string, string> = {}, by = agent) =>
  by.call('GET', `/contacts/${contactId}/messages?${new URLSearchParams(query)}`)
// biome-ignore lint/suspicious/noExplicitAny: tests look into messages of every shape
const messagesOf = async (contactId: string): Promise<any[]> => (await read(contactId)).body.messages
const send = (body: object) => agent.call('POST', '/send-chat', { body })
const inbound = async (from: string, body: object) => {
  const answer = await world.sim('POST', '/inbound', { phone_number_id: organization.phoneNumberId, from, ...body })
  if (answer.status !== 200) throw new Error(JSON.stringify(answer.body))
  await world.settle()
}

const secondsFromNow = (seconds: number) => String(Math.floor(Date.now() / 1000) + seconds)

describe("a contact's message", () => {
  it.each([
    ['text', { text: 'hello' }, { message: 'hello', media_type: null, content: null }],
    [
      'location',
      { location: { latitude: 1.5, longitude: -2.5, name: 'Office', address: 'Street 1' } },
      { content: { type: 'location', latitude: 1.5, longitude: -2.5, name: 'Office', address: 'Street 1' } },
    ],
    [
      'contacts',
      { contacts: [{ name: { formatted_name: 'Eve' }, phones: [{ phone: '+1 650' }] }] },
      { message: 'Eve', content: { type: 'contacts', contacts: [{ name: 'Eve', phones: [{ phone: '+1 650' }] }] } },
    ],
    [
      'interactive',
      { interactive: { type: 'button_reply', button_reply: { id: 'yes', title: 'Yes' } } },
      { message: 'Yes', content: { type: 'button_reply', id: 'yes', title: 'Yes' } },
    ],
    [
      'interactive',
      { interactive: { type: 'list_reply', list_reply: { id: 'r1', title: 'Row', description: 'D' } } },
      { content: { type: 'list_reply', id: 'r1', title: 'Row', description: 'D' } },
    ],
    [
      'button',
      { button: { text: 'Stop it', payload: 'P' } },
      { message: 'Stop it', content: { type: 'button', title: 'Stop it', payload: 'P' } },
    ],
    [
      'order',
      {
        order: {
          catalog_id: 'c',
          text: 'please',
          product_items: [{ product_retailer_id: 'p', quantity: 2, item_price: 3, currency: 'EUR' }],
        },
      },
      { content: { type: 'order', catalog_id: 'c', items: [{ product_id: 'p', quantity: 2 }], total: 6 } },
    ],
    ['unsupported', {}, { message_type: 'unsupported' }],
  ])('shows its content: %s', async (type, fields, shown) => {
    const { id, digits } = await newContact()
    await inbound(digits, { type, ...fields })
    const messages = await messagesOf(id)
    expect(messages).toHaveLength(1)
    expect(messages[0]).toMatchObject({
      message_type: type,
      contact_id: id,
      seq: 1,
      sender_type: 'user-chat',
      instance: null,
      context: null,
      ...shown,
    })
  })

  it.each(['image', 'document'])('shows its file: %s', async (type) => {
    const { id, digits } = await newContact()
    await inbound(digits, { type, [type]: { caption: 'look' } })
    const [message] = await messagesOf(id)
    expect(message).toMatchObject({
      message_type: type,
      media_type: type,
      message: 'look',
      media_url: expect.stringContaining('/media/'),
    })
    expect(message.content).toMatchObject({ mime_type: expect.any(String) })
  })

  it('shows edits, revocations, reactions, and the message it replies to', async () => {
    const { id, digits } = await newContact()
    const [first, second, third] = [wamid(), wamid(), wamid()]
    await receiveMessages(
      world,
      organization,
      textMessage(digits, 'q'.repeat(300), { id: first }),
      textMessage(digits, 'answer', { id: second, context: { id: first, from: digits } }),
      textMessage(digits, 'oh no', { id: third }),
    )
    await inbound(digits, { type: 'reaction', reaction: { message_id: second, emoji: '🎉' } })
    await inbound(digits, {
      type: 'edit',
      edit: { original_message_id: second, message: { type: 'text', text: { body: 'edited' } } },
    })
    await inbound(digits, { type: 'revoke', revoke: { original_message_id: third } })
    const messages = await messagesOf(id)
    expect(messages.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect(messages[1]).toMatchObject({
      message: 'edited',
      reactions: [{ emoji: '🎉', sender_type: 'user-chat' }],
      context: {
        id: messages[0].id,
        seq: 1,
        message: 'q'.repeat(200),
        sender_type: 'user-chat',
        message_type: 'text',
        media_type: null,
      },
    })
    expect(messages[2].message).not.toBe('oh no')
    expect(messages.map(({ changed }) => changed)).toEqual([null, 'edited', 'revoked'])
  })

  it('can be revoked after an edit, or if it is a picture without text', async () => {
    const { id, digits } = await newContact()
    const [text, picture] = [wamid(), wamid()]
    await receiveMessages(world, organization, textMessage(digits, 'one', { id: text }))
    await inbound(digits, { type: 'image', id: picture, image: {} })
    const edit = { original_message_id: text, message: { type: 'text', text: { body: 'two' } } }
    await inbound(digits, { type: 'edit', timestamp: secondsFromNow(10), edit })
    await inbound(digits, { type: 'revoke', timestamp: secondsFromNow(20), revoke: { original_message_id: text } })
    await inbound(digits, { type: 'revoke', revoke: { original_message_id: picture } })
    expect((await messagesOf(id)).map(({ changed, message_type }) => [changed, message_type])).toEqual([
      ['revoked', 'text'],
      ['revoked', 'image'],
    ])
  })

  it('cannot be changed by another contact, through another channel, or by the team', async () => {
    const { id, digits } = await newContact()
    const other = await newContact()
    const [theirs, first] = [wamid(), wamid()]
    await receiveMessages(world, organization, textMessage(digits, 'mine', { id: theirs }))
    await receiveMessages(world, organization, textMessage(other.digits, 'x', { id: first }))
    await inbound(other.digits, { type: 'revoke', revoke: { original_message_id: theirs } })
    const sent = await send({ phone_number: digits, message_type: 'text', text: 'ours' })
    const ours = sent.body.data.message_id
    await inbound(digits, { type: 'revoke', revoke: { original_message_id: ours } })
    expect((await messagesOf(id)).map(({ changed, message }) => [changed, message])).toEqual([
      [null, 'mine'],
      [null, 'ours'],
    ])
    await createInstance(world, organization, { instanceName: 'second', integration: 'SANDBOX', number: '16505550901' })
    const { rows } = await world.database.pool.query(
      "SELECT id FROM instances WHERE organization_id = $1 AND name = 'second'",
      [organization.id],
    )
    const elsewhere = wamid()
    await receiveMessages(world, organization, textMessage(digits, 'through another', { id: elsewhere }))
    await moveToInstance(world, id, rows[0].id, [3])
    for (const original_message_id of [elsewhere, theirs]) {
      await inbound(digits, { type: 'revoke', revoke: { original_message_id } })
    }
    expect((await messagesOf(id)).map(({ changed, instance }) => [changed, instance])).toEqual([
      ['revoked', null],
      [null, null],
      [null, 'second'],
    ])
  })
})

describe('a message of the team', () => {
  it('shows buttons, lists, locations and cards with their content and the member', async () => {
    const { id, digits } = await newContact()
    const to = { phone_number: digits }
    const buttons = { type: 'button', body: 'Well?', buttons: [{ id: 'y', title: 'Yes' }] }
    const rows = {
      type: 'list',
      body: 'Which?',
      button: 'Open',
      sections: [{ title: 'S', rows: [{ id: 'r', title: 'Row' }] }],
    }
    for (const body of [
      { ...to, message_type: 'text', text: 'hi' },
      { ...to, message_type: 'interactive', interactive: buttons },
      { ...to, message_type: 'interactive', interactive: rows },
      { ...to, message_type: 'location', location: { latitude: 1, longitude: 2 } },
      { ...to, message_type: 'contacts', contacts: [{ name: { formatted_name: 'Eve' }, phones: [{ phone: '1' }] }] },
    ]) {
      const answer = await send(body)
      expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    }
    const messages = await messagesOf(id)
    expect(messages.map(({ sender_type, assignee }) => [sender_type, assignee?.full_name])).toEqual(
      Array(5).fill(['human-chat', 'Ana Agent']),
    )
    expect(messages[1].content).toMatchObject({ type: 'buttons', buttons: [{ id: 'y', title: 'Yes' }] })
    expect(messages[2].content).toMatchObject({
      type: 'list',
      button: 'Open',
      sections: [{ rows: [{ title: 'Row' }] }],
    })
    expect(messages[3].content).toMatchObject({ latitude: 1, longitude: 2 })
    expect(messages[4].content).toMatchObject({ type: 'contacts', contacts: [{ name: 'Eve' }] })
  })

  it('shows why it failed', async () => {
    const { body } = await agent.call('POST', '/contact', { body: { phone_number: '+16505000001' } })
    expect((await send({ phone_number: '16505000001', message_type: 'text', text: 'x' })).status).toBe(400)
    const [failed] = await messagesOf(body.contact.id)
    expect(failed).toMatchObject({ message_status: 'failed', error: { code: 131026, text: expect.any(String) } })
    const inbox = await agent.call('GET', `/inbox/${body.contact.id}`)
    expect(inbox.body.contact.last_message).toMatchObject({ status: 'failed', has_error: true })
  })

  it('is sent through the given instance, and shows it', async () => {
    const { id, digits } = await newContact()
    await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
    const by = (instance: string, fields: object = {}) =>
      send({ phone_number: digits, message_type: 'text', text: 'by phone', instance, ...fields })
    expect((await by('nobody')).body).toMatchObject({ success: false, error: 'Instance not found' })
    const closed = await by('phone')
    expect([closed.status, closed.body.error]).toEqual([500, 'Connection Closed'])
    await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
    await scan(world, organization, 'phone', '16505550900')
    await world.settle()
    const sent = await by('phone')
    expect(sent.status, JSON.stringify(sent.body)).toBe(200)
    expect(await messagesOf(id)).toMatchObject([{ message: 'by phone', instance: 'phone', seq: 1 }])
    const foreign = await stranger.call('POST', '/send-chat', {
      body: { phone_number: digits, message_type: 'text', text: 'x', instance: 'phone' },
    })
    expect(foreign.body.error).toBe('Instance not found')
    const key = await world.request('POST', '/send-chat', {
      key: organization.key,
      body: { phone_number: digits, message_type: 'text', text: 'by key', instance: 'phone' },
    })
    expect(key.status).toBe(200)
  })

  it('is refused if the kind of the instance cannot send it', async () => {
    const { digits } = await newContact()
    await world.database.pool.query(
      `INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash)
       VALUES ($1, gen_random_uuid(), 'linked', 'linked_device', 'open', '', '')`,
      [organization.id],
    )
    const interactive = { type: 'button', body: 'Well?', buttons: [{ id: 'y', title: 'Yes' }] }
    const answer = await send({ phone_number: digits, message_type: 'interactive', interactive, instance: 'linked' })
    expect([answer.status, answer.body.error]).toEqual([501, 'Not supported'])
  })
})

describe('a part of a thread', () => {
  it('starts before, after and around a number, and at the ends', async () => {
    const { id } = await newContact()
    await insertMessages(
      world,
      id,
      Array.from({ length: 100 }, (_, index) => `m${index + 1}`),
    )
    const range = async (query: Record<string, string>) => {
      const { body } = await read(id, query)
      expect(body.last_seq).toBe(100)
      const seqs = body.messages.map(({ seq }: { seq: number }) => seq)
      expect(seqs).toEqual(seqs.map((_: number, index: number) => seqs[0] + index))
      return seqs.length === 0 ? [] : [seqs[0], seqs.at(-1)]
    }
    expect(await range({})).toEqual([51, 100])
    expect(await range({ limit: '200' })).toEqual([1, 100])
    expect(await range({ before: '51', limit: '10' })).toEqual([41, 50])
    expect(await range({ before: '5', limit: '10' })).toEqual([1, 4])
    expect(await range({ before: '1' })).toEqual([])
    expect(await range({ before: '1000', limit: '10' })).toEqual([91, 100])
    expect(await range({ after: '50', limit: '10' })).toEqual([51, 60])
    expect(await range({ after: '95', limit: '10' })).toEqual([96, 100])
    expect(await range({ after: '100' })).toEqual([])
    expect(await range({ after: '0', limit: '10' })).toEqual([1, 10])
    expect(await range({ around: '50', limit: '10' })).toEqual([45, 54])
    expect(await range({ around: '1', limit: '10' })).toEqual([1, 10])
    expect(await range({ around: '100', limit: '10' })).toEqual([91, 100])
    expect(await range({ around: '5000', limit: '10' })).toEqual([91, 100])
  })

  it('takes one position only, and a contact of the organization', async () => {
    const { id } = await newContact()
    expect((await read(id)).body).toEqual({ success: true, messages: [], notes: [], first_seq: 1, last_seq: 0 })
    expect((await read(id, { before: '1', after: '1' })).status).toBe(400)
    expect((await read(id, { limit: '201' })).status).toBe(400)
    expect((await read(id, { around: 'x' })).status).toBe(400)
    expect((await read(id, {}, stranger)).status).toBe(404)
  })
})

describe('POST /console/api/contacts/{contactId}/read', () => {
  const upstream = useStarted(() =>
    startHttpServer((request, response) => {
      const isRefused = request.body.includes('wamid.REFUSED')
      const error = { code: 131009, message: 'title', error_data: { details: 'unknown' } }
      json(isRefused ? 400 : 200, isRefused ? { error } : { success: true })(request, response)
    }),
  )
  const own = useWorld(() => ({ PARLEY_UPSTREAM_URL: `${upstream.url}/v23.0` }))
  const team = useOrganization(own)
  let member: SignedInMember

  beforeAll(async () => {
    member = await signIn(own, team, { role: 'agent' })
  })

  const marked = (since: number) =>
    upstream.taken
      .slice(since)
      .filter(({ method }) => method === 'POST')
      .map(({ body }) => JSON.parse(String(body)).message_id)
  const markRead = (contactId: string, seq: unknown, by = member) =>
    by.call('POST', `/contacts/${contactId}/read`, { body: { seq } })
  const stateOf = async (contactId: string) => {
    const { contact } = (await member.call('GET', `/inbox/${contactId}`)).body
    const { messages } = (await member.call('GET', `/contacts/${contactId}/messages`)).body
    const statuses = messages.map(({ message_status }: { message_status: string }) => message_status)
    return [contact.has_unread_messages, ...statuses]
  }

  it('clears the unread mark, and marks the newest message as read at the network', async () => {
    const contactId = await createContact(own, team, '+16505550001')
    const messages = ['one', 'two', 'three'].map((text) => textMessage('16505550001', text))
    await receiveMessages(own, team, ...messages)
    const since = upstream.taken.length
    expect((await markRead(contactId, 2)).status).toBe(200)
    expect(await stateOf(contactId)).toEqual([true, 'read', 'read', 'delivered'])
    expect((await markRead(contactId, 3)).body).toEqual({ success: true })
    expect(await stateOf(contactId)).toEqual([false, 'read', 'read', 'read'])
    expect((await markRead(contactId, 3)).status).toBe(200)
    expect(marked(since)).toEqual([messages[1]?.id, messages[2]?.id])
  })

  it('marks everything for a number beyond the last message', async () => {
    const contactId = await createContact(own, team, '+16505550009')
    await receiveMessages(own, team, textMessage('16505550009', 'one'))
    expect((await markRead(contactId, 2 ** 31)).status).toBe(200)
    expect(await stateOf(contactId)).toEqual([false, 'read'])
    expect((await markRead(contactId, Number.MAX_SAFE_INTEGER)).status).toBe(200)
  })

  it('marks as read here even if the network refuses', async () => {
    const contactId = await createContact(own, team, '+16505550002')
    await receiveMessages(own, team, textMessage('16505550002', 'x', { id: 'wamid.REFUSED' }))
    expect((await markRead(contactId, 1)).status).toBe(200)
    expect(await stateOf(contactId)).toEqual([false, 'read'])
  })

  it('reports to every channel its own messages', async () => {
    const contactId = await createContact(own, team, '+16505550003')
    await createInstance(own, team, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
    await own.request('GET', '/gateway/instance/connect/phone', { key: team.key })
    await scan(own, team, 'phone', '16505550900')
    const byNumber = textMessage('16505550003', 'by number')
    await receiveMessages(own, team, byNumber)
    const byPhone = textMessage('16505550003', 'by phone')
    await own.sim('POST', '/inbound', { organization_id: team.id, instance: 'phone', ...byPhone })
    await own.settle()
    const since = upstream.taken.length
    expect((await markRead(contactId, 2)).status).toBe(200)
    expect(await stateOf(contactId)).toEqual([false, 'read', 'read'])
    expect(marked(since)).toEqual([byNumber.id])
    const { body } = await own.sim('GET', `/phones?organization_id=${team.id}`)
    const phone = body.phones.find(({ organization_id }: { organization_id: string }) => organization_id === team.id)
    const keys = [{ remoteJid: '16505550003@s.whatsapp.net', fromMe: false, id: byPhone.id }]
    expect(phone.commands.at(-1)?.command).toEqual({ verb: 'mark_read', keys })
  })

  it('refuses analysts, members of others, and an invalid number', async () => {
    const contactId = await createContact(own, team, '+16505550004')
    await post(own, team, { messages: [textMessage('16505550004', 'x')] })
    await receive(own, team, { messages: [] })
    const analyst = await signIn(own, team, { role: 'analyst' })
    const foreign = await signIn(own, await own.createOrganization())
    expect((await markRead(contactId, 1, analyst)).status).toBe(403)
    expect((await markRead(contactId, 1, foreign)).status).toBe(404)
    expect((await markRead(contactId, 'x')).status).toBe(400)
    expect((await markRead(contactId, undefined)).status).toBe(400)
    expect(await stateOf(contactId)).toEqual([true, 'delivered'])
  })
})
