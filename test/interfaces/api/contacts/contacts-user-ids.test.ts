import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../../src/model/contacts/phone-number.js'
import { receive, seconds, textMessage, type WireMessage, wamid } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { readConversations } from '../../../support/conversations.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const request = requestAsDescribed(world)
const { newNumber, newUserId, take, lastSend } = peopleOf(() => ({ world, organization }))

const newParentId = () => newUserId().replace('US.', 'US.ENT.')
const fromUser = (userId: string, text: string, fields: WireMessage = {}): WireMessage => ({
  from_user_id: userId,
  id: wamid(),
  timestamp: seconds(),
  type: 'text',
  text: { body: text },
  ...fields,
})
const get = (query: Record<string, string>, key = organization.key) =>
  request('GET', `/contact?${new URLSearchParams(query)}`, { key })
const create = (body: object) => request('POST', '/contact', { key: organization.key, body })

describe('a contact shows the user id of the person', () => {
  it('from messages, with the parent id, and in the event', async () => {
    const [number, userId, parent] = [newNumber(), newUserId(), newParentId()]
    await take(textMessage(number, 'one'))
    expect((await get({ phone_number: number })).body.contact).toMatchObject({ user_id: null, parent_user_id: null })
    await take(textMessage(number, 'two', { from_user_id: userId, from_parent_user_id: parent }))
    const { contact } = (await get({ phone_number: number })).body
    expect(contact).toMatchObject({ user_id: userId, parent_user_id: parent })
    const told = (await eventsOfContact(world, contact.id)).filter(({ type }) => type === 'contact.updated')
    expect(told.at(-1)?.data.contact).toMatchObject({ user_id: userId, parent_user_id: parent })
  })

  it('from the profile', async () => {
    const [userId, parent_user_id] = [newUserId(), newParentId()]
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Una' }, user_id: userId, parent_user_id }],
      messages: [fromUser(userId, 'hi')],
    })
    expect((await get({ user_id: userId })).body.contact).toMatchObject({ user_id: userId, parent_user_id })
  })

  it('from a status', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await createContact(world, organization, `+${number}`)
    await receive(world, organization, {
      statuses: [await statusOfSend(number, { recipient_user_id: userId })],
    })
    expect((await get({ phone_number: number })).body.contact).toMatchObject({ user_id: userId })
  })

  it('and the new one after a change, whatever comes first', async () => {
    const [before, after] = [newUserId(), newUserId()]
    await take(fromUser(before, 'one'))
    const change = { previous: before, current: after }
    await receive(world, organization, { user_id_update: [{ user_id: change, timestamp: Number(seconds(1)) }] })
    const { contact } = (await get({ user_id: after })).body
    expect(contact.user_id).toBe(after)
    const parent = { previous: newParentId(), current: newParentId() }
    const again = { user_id: change, parent_user_id: parent, timestamp: Number(seconds(1)) }
    await receive(world, organization, { user_id_update: [again] })
    expect((await get({ user_id: parent.current })).body.contact).toMatchObject({ parent_user_id: parent.current })
    await take(fromUser(before, 'late', { timestamp: seconds() }))
    expect((await get({ user_id: before })).body.contact).toMatchObject({ id: contact.id, user_id: after })
  })
})

describe('a user id is accepted wherever a number is', () => {
  it('to look up, change and erase a contact, in a field of its own or in that of the number', async () => {
    const [number, userId, parent] = [newNumber(), newUserId(), newParentId()]
    await take(textMessage(number, 'one', { from_user_id: userId, from_parent_user_id: parent }))
    const { id } = (await get({ phone_number: number })).body.contact
    for (const given of [userId, parent]) {
      for (const name of ['user_id', 'phone_number', 'chat_id']) {
        expect({ given, name, id: (await get({ [name]: given })).body.contact?.id }).toEqual({ given, name, id })
      }
      const read = await readConversations({ request }, organization, { chatNumber: given })
      expect(read.body.messages.map(({ message }: { message: string }) => message)).toEqual(['one'])
    }
    const { key } = organization
    const changed = await request('PATCH', `/contact?user_id=${userId}`, { key, body: { full_name: 'Una' } })
    expect(changed.body.contact).toMatchObject({ id, full_name: 'Una' })
    expect((await request('DELETE', `/contact?user_id=${userId}`, { key })).status).toBe(200)
    expect((await get({ user_id: userId })).status).toBe(404)
  })

  it('to search for a contact', async () => {
    const [number, userId, parent] = [newNumber(), newUserId(), newParentId()]
    await take(textMessage(number, 'one', { from_user_id: userId, from_parent_user_id: parent }))
    for (const search of [userId, parent]) {
      const { body } = await readConversations({ request }, organization, { action: 'contacts', search })
      expect(body.contacts.map(({ chat_id }: { chat_id: string }) => chat_id)).toEqual([number])
    }
  })

  it('in an imported file, in the column of the number or in one of its own', async () => {
    const [userId, parent, unknown] = [newUserId(), newParentId(), newUserId()]
    await take(fromUser(userId, 'hi', { from_parent_user_id: parent }))
    const load = async (rows: string) => {
      const headers = { 'content-type': 'text/csv' }
      const body = `phone_number,user_id,full_name\n${rows}\n`
      return (await request('POST', '/contacts/import', { key: organization.key, body, headers })).body
    }
    for (const [row, name] of [
      [`${userId},,One`, 'One'],
      [`,${userId},Two`, 'Two'],
      [`${parent},,Three`, 'Three'],
    ] as const) {
      expect((await load(row)).summary).toMatchObject({ updated: 1, failed: 0 })
      expect((await get({ user_id: userId })).body.contact).toMatchObject({ full_name: name, user_id: userId })
    }
    expect((await load(`,${unknown},Four`)).failures).toMatchObject([{ error: 'Contact not found' }])
    // The ids of another system are no user ids.
    expect((await load(`,4711,Five`)).failures).toMatchObject([{ error: 'Missing required field' }])
  })

  it('to create a contact, with or without a number', async () => {
    const [number, userId, other] = [newNumber(), newUserId(), newUserId()]
    const both = await create({ phone_number: number, user_id: userId, full_name: 'Una' })
    expect(both.body.contact).toMatchObject({ phone_number: `+${number}`, user_id: userId })
    const alone = await create({ user_id: other })
    expect(alone.body.contact).toMatchObject({ phone_number: null, user_id: other, chat_id: userIdChatId(other) })
    await take(fromUser(userId, 'from Una'), fromUser(other, 'from the other'))
    for (const [id, text] of [
      [both.body.contact.id, 'from Una'],
      [alone.body.contact.id, 'from the other'],
    ]) {
      const { body } = await readConversations({ request }, organization, { contactId: id })
      expect(body.messages.map(({ message }: { message: string }) => message)).toEqual([text])
    }
    for (const taken of [
      { user_id: userId },
      { phone_number: userId },
      { phone_number: newNumber(), user_id: userId },
    ]) {
      const refused = await create(taken)
      expect([refused.status, refused.body.id]).toEqual([409, both.body.contact.id])
    }
  })

  it.each(['Una', 'us.123', 'US.ENT.123', '13491208655302741918'])('but not %s for a new contact', async (user_id) => {
    const answer = await create({ user_id })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
    expect(answer.body.message).toMatch(/^user_id "/)
  })

  it('and names nobody in another organization', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    const other = await world.createOrganization()
    expect((await get({ user_id: userId }, other.key)).status).toBe(404)
    expect((await get({ phone_number: userId }, other.key)).status).toBe(404)
  })
})

describe('to_user_id of POST /send-chat', () => {
  const send = (fields: object, key = organization.key) =>
    request('POST', '/send-chat', { key, body: { message_type: 'text', text: 'hello', ...fields } })

  it('reaches a person without a number by the id', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    const sent = await send({ to_user_id: userId })
    expect(sent.body.data).toMatchObject({ recipient: userIdChatId(userId) })
    expect(await lastSend()).toMatchObject({ recipient: userId })
  })

  it('reaches a person with a number by the number, also by the parent id', async () => {
    const [number, userId, parent] = [newNumber(), newUserId(), newParentId()]
    await take(textMessage(number, 'hi', { from_user_id: userId, from_parent_user_id: parent }))
    for (const to_user_id of [userId, parent]) {
      expect((await send({ to_user_id })).body.data).toMatchObject({ recipient: number })
      expect(await lastSend()).toMatchObject({ to: number })
    }
  })

  it('is not read if there is a number', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await createContact(world, organization, `+${number}`)
    await take(fromUser(userId, 'hi'))
    expect((await send({ phone_number: number, to_user_id: userId })).body.data.recipient).toBe(number)
  })

  it('names the unknown id', async () => {
    const to_user_id = newUserId()
    const answer = await send({ to_user_id })
    expect([answer.status, answer.body.error]).toEqual([404, 'Contact not found'])
    expect(answer.body.message).toContain(`user id ${to_user_id}`)
  })

  it('reaches nobody of another organization', async () => {
    const userId = newUserId()
    await take(fromUser(userId, 'hi'))
    const other = await world.createOrganization()
    expect((await send({ to_user_id: userId }, other.key)).status).toBe(404)
  })

  it('or phone_number is required', async () => {
    const answer = await send({})
    expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
    expect(answer.body.message).toContain('to_user_id')
  })
})

/** Sends to the number; resolves to a status of that message. */
async function statusOfSend(number: string, fields: object): Promise<object> {
  await world.sim('POST', '/settings', { statuses: false })
  const body = { phone_number: number, message_type: 'text', text: 'hello' }
  const sent = await world.request('POST', '/send-chat', { key: organization.key, body })
  await world.sim('POST', '/settings', { statuses: true })
  return { id: sent.body.data.message_id, status: 'delivered', timestamp: seconds(), recipient_id: number, ...fields }
}
