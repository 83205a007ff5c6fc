import { beforeEach, describe, expect, it } from 'vitest'
import { receive, receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../support/callbacks.js'
import { conversation } from '../../support/conversations.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let people = 0

const newNumber = () => `1650557${String(++people).padStart(4, '0')}`
const GROUP = 'Y2FwaV9ncm91cDoxNzA1NTU1MDEzOToxMjAzNjM0MDQ2OTQyMzM4MjAZD'

interface Shown {
  message: string
  author?: object
  reactions: object[]
  message_status?: string
}

/** The organization's contacts, persons and groups. */
async function contacts() {
  const { body } = await world.request('GET', '/conversations?action=contacts', { key: organization.key })
  return body.contacts as { id: string; chat_id: string; is_group?: true; has_unread_messages: boolean }[]
}

async function groups() {
  return (await contacts()).filter((contact) => contact.is_group)
}

async function messagesOf(contactId: string): Promise<Shown[]> {
  const path = `/conversations?contactId=${contactId}&ascending=true`
  return (await requestAsDescribed(world)('GET', path, { key: organization.key })).body.messages
}

it.each<[string, WireMessage]>([
  ['group_id', { group_id: GROUP }],
  ['group.id', { group: { id: GROUP, subject: 'Choir' } }],
  ['a context with group_id', { context: { group_id: GROUP } }],
  ['recipient_type', { recipient_type: 'group', to: GROUP }],
  ['recipient_type alone', { recipient_type: 'group' }],
])('a group message is stored in the group, not with its sender: %s', async (_name, fields) => {
  organization = await world.createOrganization()
  const number = newNumber()
  await receiveMessages(world, organization, textMessage(number, 'private'))
  await world.request('PATCH', `/contact?chat_id=${number}`, { key: organization.key, body: { full_name: 'Gil' } })
  const before = (await conversation(world, organization, number)).body
  const profile = { profile: { name: 'Gilberto' }, wa_id: number }
  await receive(world, organization, { contacts: [profile], messages: [textMessage(number, 'STOP', fields)] })

  const after = (await conversation(world, organization, number)).body
  expect(after).toEqual(before)
  const [group, ...others] = await groups()
  expect(others).toEqual([])
  const shown = await messagesOf(group?.id ?? '')
  const author = { name: 'Gilberto', phone_number: `+${number}`, user_id: null }
  expect(shown).toMatchObject([{ message: 'STOP', author }])
  const received = await eventsOf(world, organization, 'message.received')
  expect(received.at(-1)?.contact_id).toBe(group?.id)
})

it('a group message changes nothing for the member: no contact, no unread mark, no opt-out, no activity', async () => {
  organization = await world.createOrganization()
  const number = newNumber()
  const message = textMessage(number, 'STOP', { group_id: GROUP, timestamp: String(Math.floor(Date.now() / 1_000)) })
  await receiveMessages(world, organization, message)
  expect((await contacts()).map((contact) => contact.is_group)).toEqual([true])
  const made = await world.request('POST', '/contact', { key: organization.key, body: { phone_number: `+${number}` } })
  const after = textMessage(number, 'STOP', { group_id: GROUP, timestamp: String(Math.floor(Date.now() / 1_000)) })
  await receiveMessages(world, organization, after)
  const { body } = await world.request('GET', `/contact?chat_id=${number}`, { key: organization.key })
  expect(body.contact).toEqual(made.body.contact)
  expect(body.contact).toMatchObject({ active_status: false, has_unread_messages: false, allow_broadcast: true })
  expect(await eventsOf(world, organization, 'contact.opted_out')).toEqual([])
})

it('reactions, edits and revocations in a group carry their senders', async () => {
  organization = await world.createOrganization()
  const [one, two] = [newNumber(), newNumber()]
  const [first, second] = [
    textMessage(one, 'first', { group_id: GROUP }),
    textMessage(two, 'second', { group_id: GROUP }),
  ]
  const about = (from: string, type: string, payload: object, group_id?: string) => ({
    from,
    group_id,
    id: wamid(),
    timestamp: seconds(5),
    type,
    [type]: payload,
  })
  const edited = (id: unknown, body: string) => ({
    original_message_id: id,
    message: { type: 'text', text: { body } },
  })
  await receiveMessages(world, organization, first, second)
  await receiveMessages(
    world,
    organization,
    about(two, 'reaction', { message_id: first.id, emoji: '👍' }, GROUP),
    about(one, 'edit', edited(first.id, 'changed'), GROUP),
    about(one, 'edit', edited(second.id, 'forged'), GROUP),
    about(two, 'revoke', { original_message_id: second.id }, GROUP),
  )
  const [group] = await groups()
  const shown = await messagesOf(group?.id ?? '')
  expect(shown).toMatchObject([
    { message: 'changed', reactions: [{ emoji: '👍' }] },
    { message: '', reactions: [] },
  ])
  expect(await contacts()).toHaveLength(1)
})

describe('a group', () => {
  let chatId: string
  const send = (fields: object, key = organization.key) =>
    requestAsDescribed(world)('POST', '/send-chat', { key, body: { phone_number: chatId, ...fields } })
  const arrived = async () => {
    const path = `/messages?to=${encodeURIComponent(GROUP)}&phone_number_id=${organization.phoneNumberId}`
    return (await world.sim('GET', path)).body.messages
  }

  beforeEach(async () => {
    organization = await world.createOrganization()
    await receiveMessages(world, organization, textMessage(newNumber(), 'hi', { group_id: GROUP }))
    chatId = (await groups())[0]?.chat_id ?? ''
  })

  it('is answered by its id, and has the statuses of its members', async () => {
    const from = newNumber()
    const inbound = { phone_number_id: organization.phoneNumberId, from, group_id: GROUP, type: 'text', text: 'hi' }
    await world.sim('POST', '/inbound', inbound)
    await world.settle()
    const answer = await send({ message_type: 'text', text: 'Noon is fine' })
    expect(answer).toMatchObject({ status: 200, body: { data: { recipient: chatId } } })
    await world.settle()
    const [sent] = await arrived()
    const { message_id: id } = answer.body.data
    expect(sent).toMatchObject({ id, payload: { recipient_type: 'group', to: GROUP, text: { body: 'Noon is fine' } } })
    expect(sent.payload.recipient).toBeUndefined()
    const [group] = await groups()
    expect((await messagesOf(group?.id ?? '')).at(-1)).toMatchObject({
      message: 'Noon is fine',
      message_status: 'read',
    })
    expect(await contacts()).toHaveLength(1)
  })

  it('quotes what it answers', async () => {
    const question = textMessage(newNumber(), 'when?', { group_id: GROUP })
    await receiveMessages(world, organization, question)
    const sent = await send({ message_type: 'text', text: 'At noon', context_message_id: question.id })
    expect(sent.status).toBe(200)
    expect((await arrived()).at(-1).payload.context).toEqual({ message_id: question.id })
  })

  it('is named by its JID as well, in which case matters', async () => {
    const to = (jid: string) => send({ phone_number: jid, message_type: 'text', text: 'hello' })
    expect((await to(`${GROUP}@g.us`)).status).toBe(200)
    expect((await to(`${GROUP.toLowerCase()}@g.us`)).status).toBe(404)
  })

  it.each([
    ['a location', { message_type: 'location', location: { latitude: 1, longitude: 2 } }],
    [
      'an interactive message of type button',
      { message_type: 'interactive', interactive: { type: 'button', body: 'a', buttons: [{ id: 'a', title: 'a' }] } },
    ],
  ])('does not get %s, and the error says so', async (what, fields) => {
    const answer = await send(fields)
    expect(answer).toMatchObject({ status: 501, body: { error: 'Not supported', chat_id: chatId } })
    expect(answer.body.message).toContain(what)
    expect(await arrived()).toEqual([])
  })

  it('sees neither that somebody types nor that a message was read, and the errors and answers say so', async () => {
    const ask = (verb: string) =>
      requestAsDescribed(world)('POST', `/conversations/${verb}`, {
        key: organization.key,
        body: { phone_number: chatId },
      })
    const typing = await ask('typing')
    expect(typing).toMatchObject({ status: 501, body: { error: 'Not supported' } })
    expect(typing.body.message).toContain('is a group')
    expect((await ask('read')).status).toBe(200)
    expect((await groups())[0]?.has_unread_messages).toBe(false)
  })

  it('of another number is not reached, and the error says so', async () => {
    const { pool } = world.database
    await pool.query(
      `UPDATE contacts SET business_group = business_group || '{"instance_id": "019a0000-0000-7000-8000-000000000000"}'
       WHERE organization_id = $1`,
      [organization.id],
    )
    const answer = await send({ message_type: 'text', text: 'hello' })
    expect(answer).toMatchObject({ status: 400, body: { error: 'Contact not reachable' } })
    expect(answer.body.message).toContain('is a group that this number is not in')
    expect(await arrived()).toEqual([])
  })

  it('of another organization is not found', async () => {
    const other = await world.createOrganization()
    expect((await send({ message_type: 'text', text: 'hello' }, other.key)).status).toBe(404)
    expect((await send({ phone_number: `${GROUP}@g.us`, message_type: 'text', text: 'a' }, other.key)).status).toBe(404)
  })

  it('keeps its opt-in when one member wants no marketing', async () => {
    const sent = await send({ message_type: 'text', text: 'hello' })
    const failed = { status: 'failed', timestamp: seconds(5), recipient_type: 'group', recipient_id: GROUP }
    const errors = [{ code: 131_050, title: 'User has stopped' }]
    await receive(world, organization, { statuses: [{ id: sent.body.data.message_id, ...failed, errors }] })
    expect(await eventsOf(world, organization, 'contact.opted_out')).toEqual([])
  })

  it('has a message that one member could not get, but not for all', async () => {
    await world.sim('POST', '/settings', { statuses: false })
    const sent = await send({ message_type: 'text', text: 'hello' })
    const status = {
      id: sent.body.data.message_id,
      timestamp: seconds(5),
      recipient_type: 'group',
      recipient_id: GROUP,
    }
    const failed = { ...status, status: 'failed', errors: [{ code: 131_026, title: 'Undeliverable' }] }
    await receive(world, organization, { statuses: [{ ...failed, recipient_participant_id: newNumber() }] })
    const [group] = await groups()
    const last = async () => (await messagesOf(group?.id ?? '')).at(-1)
    expect(await last()).toMatchObject({ message_status: 'sent', error: null })
    await receive(world, organization, {
      statuses: [{ ...status, status: 'delivered', participant_recipient_id: newNumber() }],
    })
    expect(await last()).toMatchObject({ message_status: 'delivered' })
    await world.sim('POST', '/settings', { statuses: true })
  })
})

it('statuses in a group do not add addresses to a contact', async () => {
  organization = await world.createOrganization()
  const [number, member] = [newNumber(), newNumber()]
  await world.request('POST', '/contact', { key: organization.key, body: { phone_number: `+${number}` } })
  const text = { phone_number: number, message_type: 'text', text: 'hello' }
  const sent = await world.request('POST', '/send-chat', { key: organization.key, body: text })
  await receive(world, organization, {
    statuses: [
      {
        ...{ id: sent.body.data.message_id, status: 'read', timestamp: seconds(5), recipient_type: 'group' },
        ...{ recipient_id: GROUP, recipient_participant_id: member, recipient_participant_user_id: 'US.99120865530' },
      },
    ],
  })
  await receiveMessages(world, organization, textMessage(member, 'hi', { from_user_id: 'US.99120865530' }))
  expect((await conversation(world, organization, number)).body.messages).toHaveLength(1)
})
