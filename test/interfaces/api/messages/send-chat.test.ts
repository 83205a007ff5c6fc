import { describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let people = 0

async function newContact(fields: object = {}): Promise<string> {
  const digits = `1650555${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`, fields)
  return digits
}

const send = (body: object, query = '') =>
  world.request('POST', `/send-chat${query}`, { key: organization.key, body: { message_type: 'text', ...body } })

/** The newest message at the simulator. */
async function lastSent() {
  const { body } = await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=1`)
  return body.messages[0]
}

async function newMember(owner = organization): Promise<{ id: string; email: string }> {
  const member = { email: `m${++people}@example.com`, full_name: 'Mia', role: 'agent' }
  return (await world.admin('POST', `/organizations/${owner.id}/members`, member)).body.member
}

describe('POST /send-chat with text', () => {
  it('returns 200 with the upstream, the recipient and the organization', async () => {
    const digits = await newContact()
    const answer = await send({ phone_number: `+${digits}`, text: 'Olá 👋' }, `?tenantId=${organization.slug}`)
    expect(answer.status).toBe(200)
    const { id } = await lastSent()
    expect(answer.body).toEqual({
      success: true,
      message: expect.any(String),
      data: {
        message_id: id,
        recipient: digits,
        message_type: 'text',
        organization: organization.name,
        meta_response: {
          messaging_product: 'whatsapp',
          contacts: [{ input: digits, wa_id: digits }],
          messages: [{ id }],
        },
      },
    })
  })

  it('calls the upstream with digits and our id', async () => {
    const digits = await newContact()
    await send({ phone_number: ` (${digits.slice(0, 4)}) ${digits.slice(4)} `, text: 'hi' })
    const shown = (await conversation(world, organization, digits)).body.messages[0]
    expect((await lastSent()).payload).toEqual({
      messaging_product: 'whatsapp',
      recipient_type: 'individual',
      to: digits,
      biz_opaque_callback_data: shown.id,
      type: 'text',
      text: { body: 'hi' },
    })
  })

  it('records the message at once', async () => {
    await world.sim('POST', '/settings', { statuses: false })
    const digits = await newContact()
    const sent = await send({ phone_number: digits, text: 'hi' })
    const { body } = await conversation(world, organization, digits)
    await world.sim('POST', '/settings', { statuses: true })
    expect(body.messages).toEqual([
      {
        message: 'hi',
        sender_type: 'bot-chat',
        created_at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        message_status: 'sent',
        media_type: null,
        media_url: null,
        content: null,
        assignee: null,
        voice_note_transcription: null,
        reactions: [],
        id: expect.stringMatching(/^[0-9a-f-]{36}$/),
        message_id: sent.body.data.message_id,
        message_type: 'text',
        context_message_id: null,
        error: null,
        outcome: null,
        business_number: { phone_number_id: organization.phoneNumberId, phone_number: null },
      },
    ])
    expect(body).toMatchObject({ stored: true, count: 1 })
  })

  it('raises message.sent, message.delivered and message.read, each with message and contact', async () => {
    const digits = await newContact({ full_name: 'Ada' })
    const sent = await send({ phone_number: digits, text: 'hi' })
    await world.settle()
    const events = (await eventsOf(world, organization)).filter((event) => event.data.message?.text === 'hi')
    const own = events.filter((event) => event.data.contact.chat_id === digits)
    expect(own.map((event) => [event.type, event.data.message.status, event.data.previous_status])).toEqual([
      ['message.sent', 'sent', undefined],
      ['message.delivered', 'delivered', 'sent'],
      ['message.read', 'read', 'delivered'],
    ])
    for (const { data } of own) {
      expect(data.contact).toMatchObject({ chat_id: digits, full_name: 'Ada', organization_id: organization.id })
      expect(data.message).toMatchObject({
        upstream_id: sent.body.data.message_id,
        organization_id: organization.id,
        sender_type: 'bot-chat',
      })
      // A missing value may be left out or be null.
      expect([data.message.reactions ?? null, data.message.assignee ?? null]).toEqual([null, null])
    }
    const { body } = await conversation(world, organization, digits)
    expect(body.messages).toMatchObject([{ message_status: 'read' }])
  })

  it.each([
    ['Brazil, area 31', '+5531999990000', '553199990000'],
    ['Mexico', '+525512340000', '5215512340000'],
    ['Argentina', '+541123450000', '5491123450000'],
  ])('keeps the id of the upstream as an alias: %s', async (_name, phone, waId) => {
    await createContact(world, organization, phone)
    const sent = await send({ phone_number: phone, text: 'hi' })
    expect(sent.body.data).toMatchObject({
      recipient: phone.slice(1),
      meta_response: { contacts: [{ input: phone.slice(1), wa_id: waId }] },
    })
    await receiveMessages(world, organization, textMessage(waId, 'answer'))
    const { body } = await conversation(world, organization, phone)
    expect(body.messages.map((message: { message: string }) => message.message)).toEqual(['hi', 'answer'])
  })

  it('accepts 4,096 characters, counted in code points', async () => {
    const digits = await newContact()
    for (const text of ['a'.repeat(4_096), '👍'.repeat(4_096)]) {
      expect((await send({ phone_number: digits, text })).status).toBe(200)
      expect((await lastSent()).payload.text.body).toBe(text)
    }
  })

  it('ignores unknown fields, and optional ones that are null', async () => {
    const digits = await newContact()
    const body = {
      phone_number: digits,
      text: 'hi',
      context_message_id: null,
      memberId: null,
      media_url: 5,
      x: { y: 1 },
    }
    expect((await send(body)).status).toBe(200)
  })
})

describe('memberId', () => {
  it('marks the message as sent by a human, with the member as assignee', async () => {
    const digits = await newContact()
    const member = await newMember()
    expect((await send({ phone_number: digits, text: 'me', memberId: member.id })).status).toBe(200)
    const { body } = await conversation(world, organization, digits)
    expect(body.messages).toMatchObject([
      { sender_type: 'human-chat', assignee: { id: member.id, full_name: 'Mia', email: member.email } },
    ])
    const sent = (await eventsOf(world, organization, 'message.sent')).at(-1)
    expect(sent?.data.message.assignee).toEqual({ id: member.id, full_name: 'Mia', email: member.email })
  })

  it('pauses an active bot and clears the unread mark, with one event', async () => {
    const digits = await newContact()
    const member = await newMember()
    const path = `/contact?chat_id=${digits}`
    await world.request('PATCH', path, { key: organization.key, body: { bot_status: 'active' } })
    await receiveMessages(world, organization, textMessage(digits, 'help'))
    const before = (await eventsOf(world, organization, 'contact.updated')).length

    await send({ phone_number: digits, text: 'by the bot' })
    expect((await contact(world, organization, digits)).body.contact).toMatchObject({
      bot_status: 'active',
      has_unread_messages: true,
    })
    for (const text of ['by me', 'by me again']) await send({ phone_number: digits, text, memberId: member.id })
    expect((await contact(world, organization, digits)).body.contact).toMatchObject({
      bot_status: 'paused',
      has_unread_messages: false,
    })
    const updated = (await eventsOf(world, organization, 'contact.updated')).slice(before)
    expect(updated.map((event) => event.data.contact)).toMatchObject([
      { chat_id: digits, bot_status: 'paused', has_unread_messages: false },
    ])
  })

  it('leaves a contact without a bot unchanged', async () => {
    const digits = await newContact()
    const member = await newMember()
    await send({ phone_number: digits, text: 'me', memberId: member.id })
    expect((await contact(world, organization, digits)).body.contact.bot_status).toBeNull()
  })

  it('that is unknown, of another organization, or malformed returns 400, and nothing is sent', async () => {
    const digits = await newContact()
    const foreign = await newMember(await world.createOrganization())
    for (const memberId of ['01a1fbdb-f2f0-727b-b64b-643e13b34149', foreign.id, 'mia', 5, true]) {
      const answer = await send({ phone_number: digits, text: 'me', memberId })
      expect(answer.status, String(memberId)).toBe(400)
      expect(answer.body).toMatchObject({ success: false, error: 'Invalid field' })
      expect(answer.body.message).toMatch(/^memberId /)
    }
    expect((await conversation(world, organization, digits)).body.count).toBe(0)
  })
})

describe('context_message_id', () => {
  it.each(['id', 'message_id'])('refers to a message by its %s', async (field) => {
    const digits = await newContact()
    const question = textMessage(digits, 'really?')
    await receiveMessages(world, organization, question)
    const [asked] = (await conversation(world, organization, digits)).body.messages
    const answer = await send({ phone_number: digits, text: 'really', context_message_id: asked[field] })
    expect(answer.status).toBe(200)
    expect((await lastSent()).payload.context).toEqual({ message_id: question.id })
    const { messages } = (await conversation(world, organization, digits)).body
    expect(messages[1]).toMatchObject({ message: 'really', context_message_id: question.id })
  })

  it('may refer to a sent message', async () => {
    const digits = await newContact()
    const first = await send({ phone_number: digits, text: 'one' })
    const { message_id } = first.body.data
    expect((await send({ phone_number: digits, text: 'two', context_message_id: message_id })).status).toBe(200)
  })

  it('of another conversation or organization, unknown, or of a reaction returns 404, and nothing is sent', async () => {
    const digits = await newContact()
    const stranger = await newContact()
    const other = await world.createOrganization()
    const [elsewhere, abroad, own] = [textMessage(stranger, 'x'), textMessage(digits, 'x'), textMessage(digits, 'x')]
    const liked = textMessage(digits, '', { type: 'reaction', reaction: { message_id: own.id, emoji: '👍' } })
    await receiveMessages(world, organization, elsewhere, own, liked)
    await receiveMessages(world, other, abroad)
    const foreign = (await conversation(world, other, digits)).body.messages[0]
    const ids = [elsewhere.id, abroad.id, foreign.id, liked.id, 'wamid.nothing', '01a1fbdb-f2f0-727b-b64b-643e13b34149']
    for (const context_message_id of ids) {
      const answer = await send({ phone_number: digits, text: 'reply', context_message_id })
      expect(answer.status, String(context_message_id)).toBe(404)
      expect(answer.body).toMatchObject({ success: false, error: 'Message not found' })
      expect(answer.body.message).toContain(String(context_message_id))
    }
    expect((await conversation(world, organization, digits)).body.count).toBe(1)
  })

  it('that is too long or of another type returns 400', async () => {
    const digits = await newContact()
    for (const context_message_id of ['x'.repeat(513), 5, {}]) {
      const answer = await send({ phone_number: digits, text: 'reply', context_message_id })
      expect(answer.status).toBe(400)
      expect(answer.body).toMatchObject({
        error: 'Invalid field',
        message: expect.stringMatching(/^context_message_id /),
      })
    }
  })
})
