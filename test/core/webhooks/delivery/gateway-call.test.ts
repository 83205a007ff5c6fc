import { createHmac } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { recordCode, recordState } from '../../../../src/core/instances/manage/connection-state.js'
import { receiveMessages, seconds, textMessage, wamid } from '../../../support/callbacks.js'
import type { ReceivedWebhook } from '../../../support/receiver.js'
import { deliveriesTo, deliveryTo } from '../../../support/rows/deliveries.js'
import { closeEndpoints, HOUR, MINUTE, SECOND, startEndpoint } from '../../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'
import {
  closeInstanceEndpoints,
  type InstanceEndpoint,
  makeInstance,
  startInstanceEndpoint,
} from './gateway-support.js'

const FROM = '16505551234'

const world = useWorld()
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

afterEach(async () => {
  await closeEndpoints()
  await closeInstanceEndpoints()
})

const headersOf = ({ headers }: ReceivedWebhook) => headers as Record<string, string>

async function receive(...texts: string[]): Promise<void> {
  await receiveMessages(world, organization, ...texts.map((text) => textMessage(FROM, text)))
}

async function send(text: string): Promise<void> {
  const body = { phone_number: FROM, text, message_type: 'text' }
  const { status, body: answer } = await world.request('POST', '/send-chat', { key: organization.key, body })
  if (status !== 200) throw new Error(`send: ${JSON.stringify(answer)}`)
  await world.settle()
}

/** The only received event. */
function onlyOf({ received }: InstanceEndpoint): ReceivedWebhook {
  expect(received).toHaveLength(1)
  return received[0] as ReceivedWebhook
}

describe('the webhook of an instance receives an event', () => {
  it("in the gateway's envelope, signed so that the public library verifies it", async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    await receive('Oi')
    const got = onlyOf(endpoint)
    expect(got.body).toEqual({
      event: 'messages.upsert',
      instance: endpoint.instance.name,
      data: expect.objectContaining({
        key: { remoteJid: `${FROM}@s.whatsapp.net`, fromMe: false, id: expect.any(String) },
        message: { conversation: 'Oi' },
        instanceId: endpoint.instance.id,
      }),
      destination: endpoint.url,
      date_time: expect.stringMatching(/^\d{4}-.*Z$/),
      sender: '5511900000000@s.whatsapp.net',
      server_url: `${world.app.url}/gateway`,
      apikey: null,
    })
    expect(new Webhook(endpoint.secret).verify(got.text, headersOf(got))).toEqual(got.body)
    expect(headersOf(got)).toMatchObject({
      'content-type': 'application/json',
      'x-event-type': 'messages.upsert',
      'x-instance-id': endpoint.instance.id,
      'x-instance-name': endpoint.instance.name,
    })
  })

  it('for received and sent messages, their statuses, and new contacts', async () => {
    const endpoint = await startInstanceEndpoint(world, organization)
    await receive('Oi')
    await send('Olá')
    const names = endpoint.names()
    expect(names.filter((name) => name !== 'contacts.update')).toEqual([
      'contacts.upsert',
      'messages.upsert',
      'send.message',
      'messages.update',
      'messages.update',
      'messages.update',
    ])
    const updates = endpoint.received.filter(({ body }) => body.event === 'messages.update')
    const sent = endpoint.received.find(({ body }) => body.event === 'send.message')
    expect(updates.map(({ body }) => body.data.status)).toEqual(['SENT', 'DELIVERED', 'READ'])
    expect(updates[0]?.body.data).toMatchObject({ keyId: sent?.body.data.key.id, fromMe: true })
  })

  it('for reactions, with the key of their target as in stored messages', async () => {
    const events = ['SEND_MESSAGE', 'MESSAGES_UPSERT']
    const endpoint = await startInstanceEndpoint(world, organization, { events })
    const { name } = endpoint.instance
    const ask = async (path: string, body: object) => {
      const answer = await world.request('POST', `/gateway/${path}/${name}`, { key: organization.key, body })
      await world.settle()
      return answer.body
    }
    await receive('Oi')
    const { key: ours } = await ask('message/sendText', { number: FROM, text: 'Olá' })
    const theirs = endpoint.received[0]?.body.data.key
    const ids: string[] = []
    for (const key of [ours, theirs]) ids.push((await ask('message/sendReaction', { key, reaction: '👍' })).key.id)
    const reaction = { message_id: ours.id, emoji: '❤️' }
    await receiveMessages(world, organization, {
      ...textMessage(FROM, ''),
      type: 'reaction',
      text: undefined,
      reaction,
    })
    await world.settle()
    const posted = endpoint.received.slice(2).map(({ body }) => body.data)
    const keys = posted.map(({ message }) => message.reactionMessage?.key)
    expect(keys).toEqual([ours, theirs, ours])
    expect([ours.fromMe, theirs.fromMe]).toEqual([true, false])
    for (const [index, id] of ids.entries()) {
      const { messages } = await ask('chat/findMessages', { where: { key: { id } } })
      expect(messages.records[0].message.reactionMessage.key).toEqual(keys[index])
    }
  })

  it('for edits and revocations by contacts, under the names of the gateway', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, {
      events: ['messages.edited', 'messages-delete'],
    })
    const all = await startEndpoint(world, organization)
    const message = textMessage(FROM, 'before')
    const id = String(message.id)
    const edited = { original_message_id: id, message: { type: 'text', text: { body: 'after' } } }
    await receiveMessages(
      world,
      organization,
      message,
      { from: FROM, id: wamid(), timestamp: seconds(1), type: 'edit', edit: edited },
      { from: FROM, id: wamid(), timestamp: seconds(2), type: 'revoke', revoke: { original_message_id: id } },
    )
    expect(endpoint.received.map(({ body }) => [body.event, body.data.key.id])).toEqual([
      ['messages.edited', id],
      ['messages.delete', id],
    ])
    expect(endpoint.received[0]?.body.data.editedMessage).toEqual({ conversation: 'after' })
    expect(all.types().filter((type) => /edited|deleted/.test(type))).toEqual(['message.edited', 'message.deleted'])
    const feed = await world.request('GET', '/events', { key: organization.key })
    expect(JSON.stringify(feed.body)).not.toContain('instance.')
    expect((await world.request('GET', '/events?types=instance.state', { key: organization.key })).status).toBe(400)
  })

  it('for its own connection and codes, not for those of other instances', async () => {
    const endpoint = await startInstanceEndpoint(world, organization)
    const other = await startInstanceEndpoint(world, organization)
    const { ctx } = world.app
    await recordState(ctx, endpoint.instance, { state: 'close', code: 401 })
    await recordCode(ctx, endpoint.instance, { code: '2@ref,key', pairingCode: null, count: 1 })
    await world.drain()
    const byName = new Map(endpoint.received.map(({ body }) => [body.event, body.data]))
    expect(byName.get('connection.update')).toEqual({
      instance: endpoint.instance.name,
      state: 'close',
      statusReason: 401,
    })
    expect(byName.get('qrcode.updated').qrcode).toEqual({
      instance: endpoint.instance.name,
      pairingCode: null,
      code: '2@ref,key',
      base64: expect.stringMatching(/^data:image\/png;base64,/),
    })
    expect(other.received).toEqual([])
    const { rows } = await world.database.pool.query("SELECT data::text FROM events WHERE type = 'instance.qrcode'")
    expect(JSON.stringify(rows)).not.toContain('2@ref')
  })

  it('only if its connection carried the message, in the same organization', async () => {
    const device = await makeInstance(world, organization, { kind: 'linked_device' })
    const ofDevice = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] }, device)
    const ofOrganization = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    const ofOther = await startInstanceEndpoint(world, await world.createOrganization())
    await receive('Oi')
    expect(ofOrganization.received).toHaveLength(1)
    expect(ofDevice.received).toEqual([])
    expect(ofOther.received).toEqual([])
  })

  it('at a separate path per event if requested, before the query string', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { enabled: false })
    const url = `${endpoint.url}/?tenant=1`
    await endpoint.set({ url, byEvents: true, events: ['MESSAGES_UPSERT'] })
    await receive('Oi')
    const got = onlyOf(endpoint)
    expect(got.path).toBe('/hook/messages-upsert?tenant=1')
    expect(got.body.destination).toBe(url)
  })

  it('with the configured headers, and a new token at every attempt', async () => {
    const headers = { 'X-Tenant': 'blue', Authorization: 'Basic x', 'Content-Type': 'text/plain', jwt_key: 'hush' }
    const endpoint = await startInstanceEndpoint(world, organization, { headers, events: ['MESSAGES_UPSERT'] })
    await receive('Oi')
    const got = headersOf(onlyOf(endpoint))
    expect(got).toMatchObject({ 'x-tenant': 'blue', 'content-type': 'application/json' })
    expect(got).not.toHaveProperty('jwt_key')
    const [header, claims = '', signature] = (got.authorization as string).replace(/^Bearer /, '').split('.')
    expect(signature).toBe(createHmac('sha256', 'hush').update(`${header}.${claims}`).digest('base64url'))
    const { iat, exp, ...rest } = JSON.parse(Buffer.from(claims, 'base64url').toString())
    expect(exp - iat).toBe(600)
    expect(iat).toBe(Number(got['webhook-timestamp']))
    expect(rest).toEqual({ app: 'evolution', action: 'webhook' })
    const { rows } = await world.database.pool.query('SELECT headers FROM webhooks WHERE id = $1', [endpoint.id])
    expect(rows[0].headers.toString('latin1')).not.toMatch(/hush|blue/)
  })
})

describe('a failing delivery', () => {
  it('is retried with the same id and bytes, on the schedule of all webhooks', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    endpoint.respond(() => 503)
    await receive('Oi')
    expect(endpoint.received).toHaveLength(1)
    endpoint.respond(() => 204)
    world.advance(7 * SECOND)
    await world.drain()
    const [first, second] = endpoint.received as [ReceivedWebhook, ReceivedWebhook]
    expect(second.text).toBe(first.text)
    expect(headersOf(second)['webhook-id']).toBe(headersOf(first)['webhook-id'])
    expect(headersOf(second)['webhook-timestamp']).not.toBe(headersOf(first)['webhook-timestamp'])
    expect(await deliveryTo(world, endpoint.id)).toMatchObject({ status: 'delivered', event_type: 'message.received' })
  })

  it('delays the later ones of its contact', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    endpoint.respond(() => 503)
    await receive('one', 'two')
    expect(endpoint.received).toHaveLength(1)
    endpoint.respond(() => 204)
    world.advance(10 * MINUTE)
    await world.drain()
    expect(endpoint.received.map(({ body }) => body.data.message.conversation)).toEqual(['one', 'one', 'two'])
  })

  it('with 410 disables the webhook; setting it again enables it, with its secret, for later events', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    endpoint.respond(() => 410)
    await receive('gone')
    await receive('missed')
    expect(endpoint.received).toHaveLength(1)
    endpoint.respond(() => 204)
    const { webhook, secret } = await endpoint.set({ events: ['MESSAGES_UPSERT'] })
    expect(webhook).toMatchObject({ id: endpoint.id, active: true, disabled_reason: null, failing_since: null })
    expect(secret).toBeNull()
    await receive('back')
    const got = endpoint.received[1] as ReceivedWebhook
    expect(got.body.data.message.conversation).toBe('back')
    expect(endpoint.received).toHaveLength(2)
    const { 'webhook-id': id, 'webhook-timestamp': at, 'webhook-signature': signature } = headersOf(got)
    const expected = new Webhook(endpoint.secret).sign(id as string, new Date(Number(at) * 1_000), got.text)
    expect(signature).toBe(expected)
  })
})

describe('a disabled webhook', () => {
  it('receives nothing, and no event reports that it was disabled', async () => {
    const endpoint = await startInstanceEndpoint(world, organization)
    const all = await startEndpoint(world, organization)
    const { webhook } = await endpoint.set({ enabled: false })
    expect(webhook).toMatchObject({ active: false, disabled_reason: null })
    await receive('Oi')
    expect(endpoint.received).toEqual([])
    expect(all.types()).not.toContain('webhook.disabled')
    await endpoint.set()
    await receive('again')
    expect(endpoint.names()).toContain('messages.upsert')
    expect(endpoint.received.some(({ text }) => text.includes('Oi"'))).toBe(false)
  })
})

describe('the delivery log of Interface A', () => {
  const request = (method: string, path: string, body?: object) =>
    world.request(method, path, { key: organization.key, body })

  it('shows deliveries to instances with the envelope, without codes', async () => {
    const endpoint = await startInstanceEndpoint(world, organization)
    const code = { code: '2@ref', pairingCode: 'ABCD1234', count: 1 }
    await world.database.pool.query("UPDATE instances SET state = 'connecting' WHERE id = $1", [endpoint.instance.id])
    await recordCode(world.app.ctx, endpoint.instance, code)
    await receive('Oi')
    const { body: log } = await request('GET', `/webhook-deliveries?webhook_id=${endpoint.id}`)
    const idOf = (type: string) => log.deliveries.find((one: { event_type: string }) => one.event_type === type).id
    const shown = await request('GET', `/webhook-deliveries/${idOf('message.received')}`)
    expect(shown.body.body).toEqual(endpoint.received.find(({ body }) => body.event === 'messages.upsert')?.body)
    const ofCode = await request('GET', `/webhook-deliveries/${idOf('instance.qrcode')}`)
    expect(ofCode.body.body.data.qrcode).toMatchObject({ code: null, pairingCode: null, base64: null })
    const foreign = await world.createOrganization()
    const path = `/webhook-deliveries/${idOf('message.received')}`
    expect((await world.request('GET', path, { key: foreign.key })).status).toBe(404)
  })

  it('replays one, and those of a time range that the webhook subscribes to', async () => {
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    const from = new Date(world.now().getTime() - HOUR).toISOString()
    const device = await makeInstance(world, organization, { kind: 'linked_device' })
    await recordState(world.app.ctx, device, { state: 'close', code: 401 })
    await receive('one', 'two')
    const [first] = await deliveriesTo(world, endpoint.id)
    expect((await request('POST', `/webhook-deliveries/${first?.id}/replay`)).status).toBe(200)
    await world.drain()
    expect(endpoint.received[2]?.text).toBe(endpoint.received[0]?.text)
    const to = new Date(world.now().getTime() + HOUR).toISOString()
    const replayed = await request('POST', '/webhook-deliveries/replay', { webhook_id: endpoint.id, from, to })
    expect(replayed.body).toMatchObject({ count: 2 })
    await world.drain()
    expect(endpoint.names()).toEqual(Array(5).fill('messages.upsert'))
  })

  it('does not replay events of the gateway to a webhook of Interface A that takes everything', async () => {
    const all = await startEndpoint(world, organization)
    const device = await makeInstance(world, organization, { kind: 'linked_device' })
    await recordState(world.app.ctx, device, { state: 'close', code: 401 })
    const from = new Date(world.now().getTime() - HOUR).toISOString()
    const to = new Date(world.now().getTime() + HOUR).toISOString()
    const replayed = await request('POST', '/webhook-deliveries/replay', { webhook_id: all.id, from, to })
    expect(replayed.body).toMatchObject({ count: 0 })
    await world.drain()
    expect(all.received).toEqual([])
  })

  it('cannot replay to a disabled webhook', async () => {
    const endpoint = await startInstanceEndpoint(world, organization)
    await receive('one')
    await endpoint.set({ enabled: false })
    const [first] = await deliveriesTo(world, endpoint.id)
    const refused = await request('POST', `/webhook-deliveries/${first?.id}/replay`)
    expect(refused.status).toBe(409)
    expect(refused.body.message).toContain('POST /gateway/webhook/set/{instance}')
  })
})

describe('webhooks of Interface A', () => {
  it('are separate: those of instances are neither shown, changed nor counted', async () => {
    const { key } = organization
    const endpoint = await startInstanceEndpoint(world, organization, { events: ['MESSAGES_UPSERT'] })
    expect((await world.request('GET', '/get-webhooks', { key })).body.webhooks).toEqual([])
    const path = `/set-webhooks/${endpoint.id}`
    expect((await world.request('DELETE', '/set-webhooks', { key, body: { id: endpoint.id } })).status).toBe(404)
    for (const verb of ['rotate-secret', 'enable', 'test']) {
      expect((await world.request('POST', `${path}/${verb}`, { key })).status).toBe(404)
    }
    await receive('Oi')
    expect(endpoint.received).toHaveLength(1)
    await world.database.pool.query(
      `INSERT INTO webhooks (organization_id, id, url, events, secret)
       SELECT $1, gen_random_uuid(), 'http://127.0.0.1:9', '{*}', '' FROM generate_series(1, 199)`,
      [organization.id],
    )
    const body = { url: 'http://127.0.0.1:9/hook', events: ['message.received'] }
    expect((await world.request('POST', '/set-webhooks', { key, body })).status).toBe(201)
    expect((await world.request('POST', '/set-webhooks', { key, body })).status).toBe(409)
  })
})
