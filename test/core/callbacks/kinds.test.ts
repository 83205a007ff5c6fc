import { describe, expect, it } from 'vitest'
import { receive, receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

function person(): string {
  return `1650555${String(++people).padStart(4, '0')}`
}

/** The conversation's view of one message of the given type. */
async function shown(type: string, payload: unknown, fields: WireMessage = {}) {
  const from = person()
  await receiveMessages(world, organization, {
    from,
    id: wamid(),
    timestamp: seconds(),
    type,
    [type]: payload,
    ...fields,
  })
  const { body } = await conversation(world, organization, from)
  expect(body.count).toBe(1)
  return body.messages[0]
}

describe('the kinds of inbound message', () => {
  const media = { mime_type: 'x/y', sha256: 'c2hhMjU2', id: '1003383421387256' }
  const cases: [string, string, unknown, { message: string; media_type: string | null }][] = [
    ['a text', 'text', { body: 'Olá 👋🏽' }, { message: 'Olá 👋🏽', media_type: null }],
    ['a text without body', 'text', {}, { message: '', media_type: null }],
    ['an image', 'image', { ...media, caption: 'Taj Mahal' }, { message: 'Taj Mahal', media_type: 'image' }],
    ['an image without caption', 'image', media, { message: '', media_type: 'image' }],
    ['a video', 'video', { ...media, caption: 'Ride' }, { message: 'Ride', media_type: 'video' }],
    ['a voice note', 'audio', { ...media, voice: true }, { message: '', media_type: 'audio' }],
    ['an audio file', 'audio', { ...media, voice: false }, { message: '', media_type: 'audio' }],
    [
      'a document',
      'document',
      { ...media, caption: 'Bill', filename: 'bill.pdf' },
      { message: 'Bill', media_type: 'document' },
    ],
    [
      'a document without caption',
      'document',
      { ...media, filename: 'a.pdf' },
      { message: '', media_type: 'document' },
    ],
    ['a sticker', 'sticker', { ...media, animated: true }, { message: '[sticker]', media_type: 'image' }],
    ['a bare location', 'location', { latitude: -23.5, longitude: 0 }, { message: '-23.5, 0', media_type: null }],
    [
      'a location with its name',
      'location',
      { latitude: 1.5, longitude: 2, name: 'Café' },
      { message: 'Café (1.5, 2)', media_type: null },
    ],
    ['a location of nothing', 'location', {}, { message: '[location]', media_type: null }],
    [
      'contact cards',
      'contacts',
      [
        { name: { formatted_name: 'Ana B' } },
        { name: { first_name: 'Zé', last_name: 'Sá' } },
        { phones: [{ phone: '+1' }] },
      ],
      { message: 'Ana B, Zé Sá, +1', media_type: null },
    ],
    [
      'a chosen button',
      'interactive',
      { type: 'button_reply', button_reply: { id: 'b', title: 'Yes' } },
      { message: 'Yes', media_type: 'interactive' },
    ],
    [
      'a chosen row without description',
      'interactive',
      { type: 'list_reply', list_reply: { id: 'r', title: 'Row' } },
      { message: 'Row', media_type: 'interactive' },
    ],
    [
      'a filled-in form',
      'interactive',
      { type: 'nfm_reply', nfm_reply: { name: 'flow', body: 'Sent', response_json: '{"a":1}' } },
      { message: 'Sent', media_type: 'interactive' },
    ],
    ['a pressed button', 'button', { payload: 'STOP', text: 'Stop' }, { message: 'Stop', media_type: null }],
    [
      'an order with a note',
      'order',
      {
        catalog_id: '1',
        text: 'Ring twice',
        product_items: [{ product_retailer_id: 'tea', quantity: '3', item_price: 4.5, currency: 'BRL' }],
      },
      { message: 'Ring twice\n3 × tea (4.5 BRL)', media_type: null },
    ],
    [
      'an unsupported kind with its name',
      'unsupported',
      { type: 'poll' },
      { message: '[unsupported]', media_type: null },
    ],
    ['a kind of the future', 'hologram', { beam: 'up' }, { message: '[hologram]', media_type: null }],
    ['a kind without payload', 'image', undefined, { message: '', media_type: 'image' }],
    ['a payload of another shape', 'text', 'plain', { message: '', media_type: null }],
    ['a kind named like a property of objects', 'constructor', null, { message: '[constructor]', media_type: null }],
    [
      'an answer whether the business may call',
      'interactive',
      { type: 'call_permission_reply', call_permission_reply: { response: 'reject' } },
      { message: '[call permission: reject]', media_type: 'interactive' },
    ],
    [
      'a product that was forwarded',
      'interactive',
      { type: 'product', product: { catalog_id: 'c', product_retailer_id: 'tea' } },
      { message: '[product: tea]', media_type: 'interactive' },
    ],
    [
      'a reply of the future',
      'interactive',
      { type: 'wink_reply', wink_reply: {} },
      { message: '[wink_reply]', media_type: 'interactive' },
    ],
    [
      'a reply that could not be read',
      'interactive',
      undefined,
      { message: '[unsupported]', media_type: 'interactive' },
    ],
    ['a button without a text', 'button', {}, { message: '[button]', media_type: null }],
    ['an empty cart', 'order', { catalog_id: '1', product_items: [] }, { message: '[order]', media_type: null }],
    ['no cards', 'contacts', [], { message: '[contacts]', media_type: null }],
    ['an opened chat', 'request_welcome', undefined, { message: '[request_welcome]', media_type: null }],
  ]

  it.each(cases)('are stored: %s', async (_name, type, payload, expected) => {
    // The simulator does not have these files; tests in core/media cover fetching.
    const hasFile = typeof payload === 'object' && payload !== null && 'mime_type' in payload
    expect(await shown(type, payload)).toMatchObject({
      ...expected,
      message_type: type,
      sender_type: 'user-chat',
      message_status: 'delivered',
      created_at: '2025-06-15T15:06:40.000Z',
      context_message_id: null,
      media_url: null,
      error: hasFile ? { code: 'media_unavailable', text: expect.any(String) } : null,
      outcome: null,
      reactions: [],
    })
  })

  it('include unsupported with errors instead of a payload', async () => {
    const errors = [{ code: 131051, title: 'Message type unknown' }]
    expect(await shown('unsupported', undefined, { errors })).toMatchObject({
      message: '[unsupported]',
      message_type: 'unsupported',
    })
  })

  it('include a message without a type', async () => {
    const from = person()
    await receiveMessages(world, organization, { from, id: wamid(), timestamp: seconds() })
    const { body } = await conversation(world, organization, from)
    expect(body.messages).toMatchObject([{ message: '[unsupported]', message_type: 'unknown' }])
    const reply = { type: 'call_permission_reply', call_permission_reply: { response: 'accept' } }
    await receiveMessages(world, organization, { from, id: wamid(), timestamp: seconds(), interactive: reply })
    const { messages } = (await conversation(world, organization, from)).body
    expect(messages[1]).toMatchObject({
      message_type: 'interactive',
      content: { type: 'call_permission', response: 'accept' },
    })
  })
})

describe('context', () => {
  it('of a reply refers to the message that it answers', async () => {
    const id = wamid()
    expect(await shown('text', { body: 'yes' }, { context: { from: '15550001111', id } })).toMatchObject({
      context_message_id: id,
    })
  })

  it.each([[{ forwarded: true }], [{ frequently_forwarded: true }], [{}], [null], [{ id: 7 }]])(
    'is empty for %j',
    async (context) => {
      expect(await shown('text', { body: 'look' }, { context })).toMatchObject({ context_message_id: null })
    },
  )
})

describe('the time', () => {
  it.each([['yesterday'], [''], ['-5'], ['99999999999999'], [null], [undefined], [{}]])(
    'is the time of recording for %j',
    async (timestamp) => {
      const before = world.now().getTime()
      const message = await shown('text', { body: 'x' }, { timestamp })
      expect(Date.parse(message.created_at)).toBeGreaterThanOrEqual(before - 1)
      expect(Date.parse(message.created_at)).toBeLessThanOrEqual(world.now().getTime())
    },
  )

  it('may be a number', async () => {
    expect(await shown('text', { body: 'x' }, { timestamp: 1_750_000_001 })).toMatchObject({
      created_at: '2025-06-15T15:06:41.000Z',
    })
  })
})

describe('the sender', () => {
  it('gets the profile name once, and keeps a name set by the organization', async () => {
    const from = person()
    const named = (name: string) => ({
      contacts: [{ profile: { name }, wa_id: from }],
      messages: [textMessage(from, 'x')],
    })
    await receive(world, organization, { messages: [textMessage(from, 'nameless')] })
    expect((await contact(world, organization, from)).body.contact.full_name).toBeNull()
    await receive(world, organization, named('Ana'))
    await receive(world, organization, named('Someone else'))
    expect((await contact(world, organization, from)).body.contact.full_name).toBe('Ana')
    const events = (await eventsOf(world, organization)).filter((event) => event.data.contact?.chat_id === from)
    expect(events.map((event) => event.type)).toEqual([
      'contact.created',
      'message.received',
      'message.received',
      'contact.updated',
      'message.received',
    ])
    expect(events[0]?.data.contact).toMatchObject({ chat_id: from, source: { type: 'inbound_message' } })
    expect(events[2]?.data).toMatchObject({
      message: { text: 'x', sender_type: 'user-chat', status: 'delivered', seq: 2, assignee: null },
      contact: { full_name: 'Ana', has_unread_messages: true },
    })
  })

  it('gets the right profile if the callback contains several people', async () => {
    const [first, second] = [person(), person()]
    await receive(world, organization, {
      contacts: [
        { profile: { name: 'Second' }, wa_id: second },
        { profile: { name: 'First' }, wa_id: first },
      ],
      messages: [textMessage(first, 'a'), textMessage(second, 'b')],
    })
    expect((await contact(world, organization, first)).body.contact.full_name).toBe('First')
    expect((await contact(world, organization, second)).body.contact.full_name).toBe('Second')
  })

  it('does not get the profile of another person, even if it is the only one in the callback', async () => {
    const [writer, stranger] = [person(), person()]
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Stranger' }, wa_id: stranger, user_id: 'US.STRANGER' }],
      messages: [textMessage(writer, 'a'), textMessage(stranger, 'b')],
    })
    const found = await contact(world, organization, writer)
    expect(found.body.contact.full_name).toBeNull()
    expect((await conversation(world, organization, writer)).body.count).toBe(1)
    expect((await contact(world, organization, stranger)).body.contact.full_name).toBe('Stranger')
  })

  it('is active for 24 hours after writing, and unread until the conversation is read', async () => {
    const from = person()
    const now = Math.floor(world.now().getTime() / 1_000)
    await receiveMessages(world, organization, textMessage(from, 'x', { timestamp: String(now) }))
    expect((await contact(world, organization, from)).body.contact).toMatchObject({
      active_status: true,
      has_unread_messages: true,
    })
    await conversation(world, organization, from)
    expect((await contact(world, organization, from)).body.contact.has_unread_messages).toBe(true)
  })
})
