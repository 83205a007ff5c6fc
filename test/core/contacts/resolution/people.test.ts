import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../../src/model/contacts/phone-number.js'
import { receive, receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { peopleOf } from '../../../support/people.js'
import { contactRow } from '../../../support/rows/contacts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { hearNotifications } from '../../../support/signals.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

const { newNumber, newUserId, take, texts, send, lastSend } = peopleOf(() => ({ world, organization }))

/** A message of a person with only a user id. */
function fromUser(userId: string, text: string, fields: WireMessage = {}): WireMessage {
  return { from_user_id: userId, id: wamid(), timestamp: seconds(), type: 'text', text: { body: text }, ...fields }
}

function moved(from: WireMessage, to: WireMessage, type = 'user_changed_number'): WireMessage {
  return { ...from, id: wamid(), timestamp: seconds(), type: 'system', system: { body: 'moved', type, ...to } }
}

async function numbersOf(contactId: string): Promise<number[]> {
  const { rows } = await world.database.pool.query<{ seq: number }>(
    'SELECT seq FROM messages WHERE organization_id = $1 AND contact_id = $2 AND seq IS NOT NULL ORDER BY seq',
    [organization.id, contactId],
  )
  return rows.map((row) => row.seq)
}

describe('a person without a phone number', () => {
  it('becomes a contact whose chat id is a 0 and 19 digits, and is found by it', async () => {
    const userId = newUserId()
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Una', username: 'una' }, user_id: userId }],
      messages: [fromUser(userId, 'hi')],
    })
    const chatId = userIdChatId(userId)
    expect(chatId).toMatch(/^0\d{19}$/)
    expect((await contact(world, organization, chatId)).body.contact).toMatchObject({
      chat_id: chatId,
      phone_number: null,
      full_name: 'Una',
      has_unread_messages: true,
      source: { type: 'inbound_message' },
    })
    expect(await texts(chatId)).toEqual(['hi'])
  })

  it('with empty strings in place of the number is the same person', async () => {
    const userId = newUserId()
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Ula' }, wa_id: '', user_id: userId }],
      messages: [fromUser(userId, 'hi', { from: '' }), fromUser(userId, 'again')],
    })
    expect(await texts(userIdChatId(userId))).toEqual(['hi', 'again'])
  })

  it('is identified by the profile if the message names no sender', async () => {
    const userId = newUserId()
    const { from_user_id: _, ...nameless } = fromUser(userId, 'hi')
    await receive(world, organization, { contacts: [{ user_id: userId }], messages: [nameless] })
    expect(await texts(userIdChatId(userId))).toEqual(['hi'])
  })

  it('is reached by the user id, and its statuses are applied', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    const chatId = userIdChatId(userId)
    const sent = await send(chatId)
    expect(sent.status).toBe(200)
    expect(sent.body.data).toMatchObject({
      recipient: chatId,
      meta_response: { contacts: [{ input: userId, user_id: userId }] },
    })
    const payload = await lastSend()
    expect(payload.recipient).toBe(userId)
    expect(payload).not.toHaveProperty('to')
    await world.settle()
    const { body } = await conversation(world, organization, chatId)
    expect(body.messages[1]).toMatchObject({ message_status: 'read', outcome: null })
  })

  it('is another person in another organization', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    const other = await world.createOrganization()
    const path = `/conversations?chatNumber=${userIdChatId(userId)}`
    expect((await world.request('GET', path, { key: other.key })).status).toBe(404)
  })

  it('is not confused with a number that looks like its chat id', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    await take(textMessage(userIdChatId(userId), 'forged'))
    expect(await texts(userIdChatId(userId))).toEqual(['hi'])
  })
})

describe('a callback with number and user id', () => {
  it('stores both as addresses of one contact', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(
      textMessage(number, 'one', { from_user_id: userId }),
      fromUser(userId, 'two'),
      textMessage(number, 'three'),
    )
    expect(await texts(number)).toEqual(['one', 'two', 'three'])
    expect(await texts(userIdChatId(userId))).toEqual(['one', 'two', 'three'])
    expect((await contact(world, organization, number)).body.contact).toMatchObject({
      chat_id: number,
      phone_number: `+${number}`,
    })
  })

  it('adds the number to a contact without one', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(fromUser(userId, 'one'))
    const before = await contact(world, organization, userIdChatId(userId))
    await take(textMessage(number, 'two', { from_user_id: userId }))
    const after = await contact(world, organization, number)
    expect(after.body.contact).toMatchObject({
      id: before.body.contact.id,
      chat_id: number,
      phone_number: `+${number}`,
    })
    expect(await texts(userIdChatId(userId))).toEqual(['one', 'two'])
    await send(number)
    expect(await lastSend()).toMatchObject({ to: number })
  })

  it.each([
    ['the one with the number is older', true],
    ['the one with the user id is older', false],
  ])('merges two contacts into the older one, with numbers without gaps: %s', async (_name, numberFirst) => {
    const [number, userId] = [newNumber(), newUserId()]
    const ofNumber = [textMessage(number, 'n1'), textMessage(number, 'n2')]
    const ofUser = [fromUser(userId, 'u1'), fromUser(userId, 'u2'), fromUser(userId, 'u3')]
    await take(...(numberFirst ? [...ofNumber, ...ofUser] : [...ofUser, ...ofNumber]))
    const older = (await contact(world, organization, numberFirst ? number : userIdChatId(userId))).body.contact.id

    const heard = hearNotifications(world)
    await take(textMessage(number, 'both', { from_user_id: userId }))
    expect(heard()).toContainEqual({ topic: 'webhooks', organizationId: organization.id })
    const first = numberFirst ? ['n1', 'n2', 'u1', 'u2', 'u3'] : ['u1', 'u2', 'u3', 'n1', 'n2']
    expect(await texts(number)).toEqual([...first, 'both'])
    expect(await texts(userIdChatId(userId))).toEqual([...first, 'both'])
    const { body } = await contact(world, organization, number)
    expect(body.contact).toMatchObject({ id: older, chat_id: number, phone_number: `+${number}` })
    expect(await numbersOf(older)).toEqual([1, 2, 3, 4, 5, 6])
  })

  it('keeps what was known of either contact in a merge', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(fromUser(userId, 'older'))
    const chatId = userIdChatId(userId)
    const change = (path: string, body: object) =>
      world.request('PATCH', `/contact?chat_id=${path}`, { key: organization.key, body })
    await createContact(world, organization, `+${number}`, { full_name: 'Ada', email: 'ada@x.io', tags: ['vip', 'br'] })
    await change(number, { bot_status: 'active', allow_broadcast: false, contact_summary: 'likes tea' })
    await change(chatId, { tags: ['vip', 'new'] })
    await take(textMessage(number, 'both', { from_user_id: userId }))
    const { body } = await contact(world, organization, number)
    expect(body.contact).toMatchObject({
      full_name: 'Ada',
      email: 'ada@x.io',
      tags: ['vip', 'new', 'br'],
      bot_status: 'active',
      allow_broadcast: false,
      contact_summary: 'likes tea',
      has_unread_messages: true,
    })
    expect(body.contact.contact_summary_updated_at).not.toBeNull()
  })

  it('keeps reactions, replies and statuses on their messages in a merge', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const original = fromUser(userId, 'nice')
    await take(textMessage(number, 'first'), original)
    await take({
      from_user_id: userId,
      id: wamid(),
      timestamp: seconds(5),
      type: 'reaction',
      reaction: { message_id: original.id, emoji: '👍' },
    })
    const sent = await send(userIdChatId(userId))
    await take(textMessage(number, 'both', { from_user_id: userId }))
    await world.settle()
    const { messages } = (await conversation(world, organization, number)).body
    expect(messages.map((message: { message: string }) => message.message)).toEqual(['first', 'nice', 'hello', 'both'])
    expect(messages[1].reactions).toMatchObject([{ emoji: '👍' }])
    expect(messages[2]).toMatchObject({ message_id: sent.body.data.message_id, message_status: 'read' })
    const events = await eventsOf(world, organization, 'message.read')
    expect(events.at(-1)).toMatchObject({
      contact_id: (await contact(world, organization, number)).body.contact.id,
      data: { contact: { chat_id: number }, message: { upstream_id: sent.body.data.message_id } },
    })
  })
})

describe('a changed address', () => {
  it('moves the contact to the new number, and messages go there', async () => {
    const [old, next] = [newNumber(), newNumber()]
    await take(textMessage(old, 'one'), moved({ from: old }, { wa_id: next }), textMessage(next, 'two'))
    expect(await texts(next)).toEqual(['one', 'moved', 'two'])
    expect(await texts(old)).toEqual(['one', 'moved', 'two'])
    await send(old)
    expect(await lastSend()).toMatchObject({ to: next })
  })

  it('keeps the order within a burst of callbacks', async () => {
    const [old, next] = [newNumber(), newNumber()]
    const notice = moved({ from: old }, { wa_id: next })
    await receiveMessages(world, organization, textMessage(old, 'one'), notice, textMessage(next, 'two'))
    expect(await texts(next)).toEqual(['one', 'moved', 'two'])
  })

  it('does not move a contact back if the callback is repeated', async () => {
    const [first, second, third] = [newNumber(), newNumber(), newNumber()]
    const notice = moved({ from: first }, { wa_id: second })
    await take(textMessage(first, 'one'), notice, moved({ from: second }, { wa_id: third }), notice)
    expect((await contact(world, organization, first)).body.contact.chat_id).toBe(third)
  })

  it('to a number with its own conversation leaves both', async () => {
    const [old, next] = [newNumber(), newNumber()]
    await take(textMessage(old, 'mine'), textMessage(next, 'theirs'), moved({ from: old }, { wa_id: next }))
    expect(await texts(old)).toEqual(['mine', 'moved'])
    expect(await texts(next)).toEqual(['theirs'])
  })

  it('of the user id directs messages to the new id', async () => {
    const [old, next] = [newUserId(), newUserId()]
    await take(fromUser(old, 'one'))
    await take(moved({ from_user_id: old }, { user_id: next }, 'user_changed_user_id'))
    await take(fromUser(next, 'two'))
    expect(await texts(userIdChatId(old))).toEqual(['one', 'moved', 'two'])
    await send(userIdChatId(old))
    expect((await lastSend()).recipient).toBe(next)
  })

  it.each([
    ['another notice', 'customer_identity_changed', { wa_id: '16505559999' }],
    ['a change to nothing', 'user_changed_number', {}],
    ['a change to rubbish', 'user_changed_number', { wa_id: 'soon' }],
  ])('moves no contact: %s', async (_name, type, to) => {
    const number = newNumber()
    await take(textMessage(number, 'one'), moved({ from: number }, to, type))
    expect((await contact(world, organization, number)).body.contact.chat_id).toBe(number)
    expect(await texts(number)).toEqual(['one', 'moved'])
  })

  it('shows as a system message without an unread mark', async () => {
    const [old, next] = [newNumber(), newNumber()]
    await createContact(world, organization, `+${old}`)
    await take(moved({ from: old }, { wa_id: next }))
    const { body } = await conversation(world, organization, next)
    expect(body.messages).toMatchObject([{ sender_type: 'system', message_type: 'system', message: 'moved' }])
    expect((await contact(world, organization, next)).body.contact).toMatchObject({
      has_unread_messages: false,
      active_status: false,
    })
  })
})

describe('forms of a number', () => {
  it.each([
    ['Brazil', '5531999998888', '553199998888'],
    ['Mexico', '525512345678', '5215512345678'],
    ['Argentina', '5491123456789', '541123456789'],
  ])('of %s belong to one contact', async (_country, canonical, other) => {
    const id = await createContact(world, organization, `+${canonical}`)
    await take(textMessage(other, 'hi'))
    const { body } = await contact(world, organization, other)
    expect(body.contact).toMatchObject({ id, chat_id: canonical })
    expect(await texts(canonical)).toEqual(['hi'])
  })

  it('that no country uses stay as they are', async () => {
    await take(textMessage('99912', 'hi'))
    expect((await contactRow(world, { chat_id: '99912' })).phone_number).toBe('+99912')
  })
})
