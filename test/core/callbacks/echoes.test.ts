import { beforeEach, describe, expect, it } from 'vitest'
import { gatewayEventOf } from '../../../src/model/instances/gateway-event.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { eventsOf } from '../../support/rows/events.js'
import { receiveSamples } from '../../support/samples.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const messages = async (at = organization) => (await conversation(world, at, ANA)).body.messages ?? []
const shownContact = async () => (await contact(world, organization, ANA)).body.contact

async function write(fields: object): Promise<void> {
  const body = { phone_number_id: organization.phoneNumberId, to: ANA, ...fields }
  expect((await world.sim('POST', '/echo', body)).status).toBe(200)
  await world.settle()
  await world.drain()
}

describe('a message written on the phone of the business number', () => {
  it('shows as sent by the team, as published', async () => {
    await receiveSamples(world, organization, 'phone-echo-text', 'phone-echo-text')
    expect(await messages()).toMatchObject([
      { message: 'Yes, from nine to five.', sender_type: 'human-chat', message_status: 'sent', message_type: 'text' },
    ])
    const sent = await eventsOf(world, organization, 'message.sent')
    expect(sent).toHaveLength(1)
    expect(await eventsOf(world, organization, 'message.received')).toEqual([])
  })

  it('opens no window; it ends the unread mark and pauses the bot', async () => {
    await receiveMessages(world, organization, textMessage(ANA, 'Is the shop open?'))
    await world.request('PATCH', `/contact?chat_id=${ANA}`, { key: organization.key, body: { bot_status: 'active' } })
    expect(await shownContact()).toMatchObject({ has_unread_messages: true, active_status: false })
    await receiveSamples(world, organization, 'phone-echo-text')
    expect(await shownContact()).toMatchObject({
      has_unread_messages: false,
      active_status: false,
      bot_status: 'paused',
    })
  })

  it('is edited and deleted there, as published', async () => {
    await receiveSamples(world, organization, 'phone-echo-text', 'phone-echo-edit')
    expect(await messages()).toMatchObject([{ message: 'Yes, from nine to six.' }])
    await receiveSamples(world, organization, 'phone-echo-revoke')
    expect(await messages()).toMatchObject([{ message: '' }])
    expect(await eventsOf(world, organization, 'message.edited')).toHaveLength(1)
    expect(await eventsOf(world, organization, 'message.deleted')).toHaveLength(1)
  })

  it('cannot be edited by the customer', async () => {
    await receiveSamples(world, organization, 'phone-echo-text')
    const [{ message_id: id }] = await messages()
    const edit = { original_message_id: id, message: { type: 'text', text: { body: 'forged' } } }
    await receiveMessages(world, organization, { ...textMessage(ANA, ''), type: 'edit', edit })
    expect(await messages()).toMatchObject([{ message: 'Yes, from nine to five.' }])
  })

  it('or a reaction is one of the phone for the gateway, too', async () => {
    await receiveMessages(world, organization, textMessage(ANA, 'Is the shop open?', { id: 'w1' }))
    await write({ type: 'text', text: { body: 'Yes' } })
    await write({ type: 'reaction', reaction: { message_id: 'w1', emoji: '👍' } })
    const events = await eventsOf(world, organization)
    const ours = events.filter(({ type }) => type === 'message.sent' || type === 'message.reaction')
    expect(ours.map(gatewayEventOf)).toEqual(['messages.upsert', 'messages.upsert'])
  })

  it('has its file', async () => {
    await write({ type: 'image', image: { caption: 'Our door' } })
    expect(await messages()).toMatchObject([
      { message: 'Our door', sender_type: 'human-chat', media_url: expect.stringMatching(/^http/) },
    ])
  })

  it('to a person without a number is in the conversation of the user id, as published', async () => {
    await receiveSamples(world, organization, 'phone-echo-text', 'phone-echo-without-number')
    expect((await messages()).map(({ message }: { message: string }) => message)).toEqual([
      'Yes, from nine to five.',
      'Hello',
    ])
  })

  it('of another organization is in its conversation only', async () => {
    const other = await world.createOrganization()
    await receiveSamples(world, other, 'phone-echo-text')
    expect(await messages()).toEqual([])
    expect(await messages(other)).toHaveLength(1)
  })
})
