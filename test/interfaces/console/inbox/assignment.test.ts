import { beforeAll, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { createInstance, scan } from '../../../support/instances.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let agent: SignedInMember

beforeAll(async () => {
  agent = await signIn(world, organization, { role: 'agent', fullName: 'Ana Agent' })
})

const assign = (contactId: string, memberId: unknown, by = agent) =>
  by.call('PUT', `/contacts/${contactId}/assignee`, { body: { member_id: memberId } })
const assigneesOf = async (contactId: string) =>
  (await agent.call('GET', `/contacts/${contactId}/messages`)).body.messages.map(
    ({ assignee }: { assignee: { full_name: string } | null }) => assignee?.full_name ?? null,
  )

it('a received message records the assignee of its contact at that moment, on any channel', async () => {
  const contactId = await createContact(world, organization, '+16505550001')
  await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX', number: '16505550900' })
  await world.request('GET', '/gateway/instance/connect/phone', { key: organization.key })
  await scan(world, organization, 'phone', '16505550900')
  await receiveMessages(world, organization, textMessage('16505550001', 'to nobody'))
  const answer = await assign(contactId, agent.member.id)
  expect([answer.status, answer.body.contact.assignee_id]).toEqual([200, agent.member.id])
  expect(answer.body.contact.last_message.text).toBe('to nobody')
  await receiveMessages(world, organization, textMessage('16505550001', 'to Ana'))
  await world.sim('POST', '/inbound', {
    organization_id: organization.id,
    instance: 'phone',
    ...textMessage('16505550001', 'to Ana by phone'),
  })
  await world.settle()
  expect((await assign(contactId, null)).body.contact.assignee_id).toBeNull()
  await receiveMessages(world, organization, textMessage('16505550001', 'to nobody again'))
  expect(await assigneesOf(contactId)).toEqual([null, 'Ana Agent', 'Ana Agent', null])
  const received = (await eventsOf(world, organization, 'message.received')).map(({ data }) => data.message.assignee)
  expect(received.map((one) => one?.id ?? null)).toEqual([null, agent.member.id, agent.member.id, null])
})

it('an assignment raises contact.updated if it changes anything', async () => {
  const contactId = await createContact(world, organization, '+16505550002')
  const updates = async () =>
    (await eventsOf(world, organization, 'contact.updated')).filter(({ contact_id }) => contact_id === contactId)
  await assign(contactId, agent.member.id)
  await assign(contactId, agent.member.id)
  expect((await updates()).map(({ data }) => data.contact.assignee_id)).toEqual([agent.member.id])
  const shown = await world.request('GET', '/contact?chat_id=16505550002', { key: organization.key })
  expect(shown.body.contact).not.toHaveProperty('assignee_id')
})

it('only team members of the same organization can be assigned', async () => {
  const contactId = await createContact(world, organization, '+16505550003')
  const stranger = await signIn(world, await world.createOrganization())
  const analyst = await signIn(world, organization, { role: 'analyst' })
  for (const memberId of [stranger.member.id, '00000000-0000-7000-8000-000000000000', 'nonsense', 3]) {
    const { status, body } = await assign(contactId, memberId)
    expect([status, body.error]).toEqual([400, 'Invalid field'])
  }
  expect((await agent.call('PUT', `/contacts/${contactId}/assignee`, { body: {} })).status).toBe(400)
  expect((await assign(contactId, agent.member.id, analyst)).status).toBe(403)
  expect((await assign(contactId, stranger.member.id, stranger)).status).toBe(404)
  expect((await agent.call('GET', `/inbox/${contactId}`)).body.contact.assignee_id).toBeNull()
})
