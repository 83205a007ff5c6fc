import { afterEach, beforeEach, expect, it } from 'vitest'
import { createSignals } from '../../../../src/core/instances/sessions/signals.js'
import { eventsOf } from '../../../support/rows/events.js'
import { closeEndpoints } from '../../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'
import { closeInstanceEndpoints, makeInstance, startInstanceEndpoint } from '../../webhooks/delivery/gateway-support.js'

const ANA = '5511987654321'
const JID = `${ANA}@s.whatsapp.net`
const GROUP = '120363000000000001@g.us'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

afterEach(async () => {
  await closeEndpoints()
  await closeInstanceEndpoints()
})

const typing = { event: 'presence.update' as const, data: { id: JID, presences: {} }, chat: JID }

it('reaches the webhook of the instance under the name that clients know, and no other webhook', async () => {
  const instance = await makeInstance(world, organization, { kind: 'linked_device' })
  const endpoint = await startInstanceEndpoint(world, organization, {}, instance)
  const other = await startInstanceEndpoint(world, organization)
  const signals = createSignals(world.app.ctx, instance)
  const groups = [{ id: GROUP, subject: 'Tea' }]
  signals.tell(typing)
  signals.tell({ event: 'groups.update', data: groups, chat: GROUP })
  const vote = { keyId: 'POLL', remoteJid: JID, fromMe: true, status: 'SERVER_ACK', pollUpdates: [] }
  signals.tell({ event: 'messages.update', data: vote, chat: JID })
  await signals.done()
  await world.drain()
  expect(endpoint.received.map(({ body }) => [body.event, body.data])).toEqual([
    ['presence.update', typing.data],
    ['groups.update', groups],
    ['messages.update', { ...vote, instanceId: instance.id }],
  ])
  expect(other.names()).toEqual([])
})

it.each([
  [['PRESENCE_UPDATE'], 1],
  [['GROUP_UPDATE'], 1],
  [['MESSAGES_UPSERT'], 0],
])('is raised only for a webhook that wants it: %j', async (events, count) => {
  const instance = await makeInstance(world, organization, { kind: 'linked_device' })
  const endpoint = await startInstanceEndpoint(world, organization, { events }, instance)
  const signals = createSignals(world.app.ctx, instance)
  signals.tell(typing)
  signals.tell({ event: 'groups.update', data: [{ id: GROUP }], chat: GROUP })
  await signals.done()
  await world.drain()
  expect(await eventsOf(world, organization, 'instance.signal')).toHaveLength(count)
  expect(endpoint.received).toHaveLength(count)
})

it('belongs to the contact of its chat, so that it is erased with it', async () => {
  const body = { phone_number: `+${ANA}` }
  const made = await world.request('POST', '/contact', { key: organization.key, body })
  const instance = await makeInstance(world, organization, { kind: 'linked_device' })
  await startInstanceEndpoint(world, organization, {}, instance)
  const signals = createSignals(world.app.ctx, instance)
  signals.tell(typing)
  await signals.done()
  const [event] = await eventsOf(world, organization, 'instance.signal')
  expect(event?.contact_id).toBe(made.body.contact.id)
})

it('is dropped while many wait if it is presence only', async () => {
  const instance = await makeInstance(world, organization, { kind: 'linked_device' })
  await startInstanceEndpoint(world, organization, {}, instance)
  const signals = createSignals(world.app.ctx, instance)
  const groups = Array.from({ length: 150 }, (_, n) => `12036300000000${n}@g.us`)
  for (const id of groups) {
    signals.tell(typing)
    signals.tell({ event: 'groups.update', data: [{ id }], chat: id })
  }
  await signals.done()
  const events = (await eventsOf(world, organization, 'instance.signal')).map(({ data }) => data.signal.event)
  expect(events.filter((event) => event === 'presence.update')).toHaveLength(50)
  expect(events.filter((event) => event === 'groups.update')).toHaveLength(150)
})

it('of a deleted instance is no event', async () => {
  const instance = await makeInstance(world, organization, { kind: 'linked_device' })
  const other = await world.createOrganization()
  const signals = createSignals(world.app.ctx, { ...instance, organization_id: other.id })
  signals.tell(typing)
  await signals.done()
  expect(await eventsOf(world, other, 'instance.signal')).toEqual([])
})
