import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import {
  closeInstanceEndpoints,
  type InstanceEndpoint,
  startInstanceEndpoint,
} from '../../../core/webhooks/delivery/gateway-support.js'
import { post, receiveMessages, seconds, textMessage } from '../../../support/callbacks.js'
import { eventsOf } from '../../../support/rows/events.js'
import { receiveSamples } from '../../../support/samples.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const GROUP = 'Z3JvdXAtb2YtdGhlLXNhbXBsZXM'
const JID = `${GROUP}@g.us`
const ANA = '12025550147'

const world = useWorld()
let organization: TestOrganization
let endpoint: InstanceEndpoint

beforeEach(async () => {
  organization = await world.createOrganization()
  endpoint = await startInstanceEndpoint(world, organization)
})

afterEach(closeInstanceEndpoints)

const send = (verb: string, body: object, { key } = organization) =>
  world.request('POST', `/gateway/message/${verb}/${endpoint.instance.name}`, { key, body })

const statusOf = (id: string, status: string) => ({ id, status, timestamp: seconds(), recipient_id: ANA })

const eventsNamed = (...names: string[]) =>
  endpoint.received.filter(({ body }) => names.includes(body.event)).map(({ body }) => body.data)

describe('a group of a business number', () => {
  it('is told to the webhook of the instance, with who wrote', async () => {
    await receiveSamples(world, organization, 'group-text')
    const [message] = eventsNamed('messages.upsert')
    expect(message).toMatchObject({
      key: { remoteJid: JID, fromMe: false, participant: `${ANA}@s.whatsapp.net` },
      ...{ pushName: 'Ana Example', message: { conversation: 'Shall we meet at noon?' } },
    })
    expect(message.key.participantAlt).toBeUndefined()
  })

  it('is told with its changes, as clients know them of linked devices', async () => {
    await receiveSamples(world, organization, 'group-created', 'group-settings', 'group-joined', 'group-left')
    await receiveSamples(world, organization, 'group-join-request', 'group-suspended')
    expect(eventsNamed('groups.upsert', 'groups.update', 'group-participants.update')).toEqual([
      [{ id: JID, subject: 'Friends of mugs' }],
      [{ id: JID, subject: 'Friends of tea' }],
      { id: JID, participants: [`${ANA}@s.whatsapp.net`], action: 'add' },
      { id: JID, participants: [`${ANA}@s.whatsapp.net`], action: 'remove' },
    ])
    expect(eventsNamed('messages.upsert')).toEqual([])
  })

  it('is answered, once it has written', async () => {
    const before = await send('sendText', { number: JID, text: 'hello' })
    expect(before.status).toBe(501)
    expect(JSON.stringify(before.body)).toContain('No group')
    await receiveMessages(world, organization, textMessage(ANA, 'hi', { group_id: GROUP }))
    const sent = await send('sendText', { number: JID, text: 'hello' })
    expect(sent).toMatchObject({ status: 201, body: { key: { remoteJid: JID, fromMe: true } } })
    const { messages } = (await world.sim('GET', `/messages?to=${GROUP}&phone_number_id=${organization.phoneNumberId}`))
      .body
    expect(messages).toMatchObject([{ payload: { recipient_type: 'group', to: GROUP, text: { body: 'hello' } } }])
  })

  it('does not get a location, a list or a reaction, and the error says so', async () => {
    const message = textMessage(ANA, 'hi', { group_id: GROUP })
    await receiveMessages(world, organization, message)
    const place = await send('sendLocation', { number: JID, name: 'Shop', address: '', latitude: 1, longitude: 2 })
    expect(place.status).toBe(501)
    expect(JSON.stringify(place.body)).toContain('a location')
    const key = { remoteJid: JID, fromMe: false, id: message.id }
    expect((await send('sendReaction', { key, reaction: '👍' })).status).toBe(501)
  })

  it("of another organization's number is not reached", async () => {
    const other = await world.createOrganization()
    await receiveMessages(world, other, textMessage(ANA, 'hi', { group_id: GROUP }))
    expect((await send('sendText', { number: JID, text: 'hello' })).status).toBe(501)
    expect((await send('sendText', { number: JID, text: 'hello' }, other)).status).toBe(404)
  })
})

it('tells the statuses of a business number in its own words', async () => {
  await receiveMessages(world, organization, textMessage(ANA, 'hi'))
  await send('sendText', { number: ANA, text: 'hello' })
  await world.settle()
  expect(eventsNamed('messages.update').map(({ status }) => status)).toEqual(['SENT', 'DELIVERED', 'READ'])
  await receiveMessages(world, organization, textMessage('5511999000001', 'hi'))
  await world.sim('PUT', '/recipients/5511988880000', { code: 131_026, by: 'status' })
  await send('sendText', { number: '5511988880000', text: 'hello' })
  await world.settle()
  expect(eventsNamed('messages.update').at(-1)).toMatchObject({ status: 'FAILED' })
})

it('does not tell that a message is sent after it was delivered', async () => {
  await receiveMessages(world, organization, textMessage(ANA, 'hi'))
  await send('sendText', { number: ANA, text: 'hello' })
  await world.settle()
  const [{ keyId }] = eventsNamed('messages.update')
  await post(world, organization, { statuses: [statusOf(keyId, 'sent')] })
  await world.settle()
  expect(eventsNamed('messages.update').map(({ status }) => status)).toEqual(['SENT', 'DELIVERED', 'READ'])
})

it('records nothing for clients of another number', async () => {
  const other = await world.createOrganization()
  const own = await startInstanceEndpoint(world, other)
  await world.database.pool.query(
    "UPDATE instances SET phone_number_id = '424242', business_account_id = '242424' WHERE id = $1",
    [own.instance.id],
  )
  await receiveMessages(world, other, textMessage(ANA, 'hi'))
  const body = { phone_number: ANA, text: 'hello', message_type: 'text' }
  expect((await world.request('POST', '/send-chat', { key: other.key, body })).status).toBe(200)
  await world.settle()
  const types = (await eventsOf(world, other)).map(({ type }) => type)
  expect(types).toContain('message.read')
  expect(types).not.toContain('instance.message_sent')
})

it('tells calls of a business number', async () => {
  const call = { phone_number_id: organization.phoneNumberId, from: ANA, name: 'Ana', id: 'wacid.1' }
  await world.sim('POST', '/call', call)
  await world.settle()
  const jid = `${ANA}@s.whatsapp.net`
  expect(eventsNamed('call')).toMatchObject([{ chatId: jid, from: jid, id: 'wacid.1', status: 'timeout' }])
})

it('answers 501 to a PIX button, with or without a title', async () => {
  const pix = { type: 'pix', currency: 'BRL', name: 'Shop', keyType: 'random', key: 'abc' }
  for (const title of [undefined, '', 'Pay']) {
    const answer = await send('sendButtons', { number: ANA, title, description: '', footer: '', buttons: [pix] })
    expect(answer.status).toBe(501)
    expect(JSON.stringify(answer.body)).toContain('Buttons of type pix')
  }
})
