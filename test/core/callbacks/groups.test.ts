import { expect, it } from 'vitest'
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

it('a group cannot be replied to, and the error says so', async () => {
  organization = await world.createOrganization()
  await receiveMessages(world, organization, textMessage(newNumber(), 'hi', { group_id: GROUP }))
  const [group] = await groups()
  const body = { phone_number: group?.chat_id, message_type: 'text', text: 'hello' }
  const answer = await requestAsDescribed(world)('POST', '/send-chat', { key: organization.key, body })
  expect(answer.status).toBe(400)
  expect(answer.body).toMatchObject({ error: 'Contact not reachable', message: expect.stringContaining('is a group') })
  expect((await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}`)).body.total).toBe(0)
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
