import { randomUUID } from 'node:crypto'
import { Webhook } from 'standardwebhooks'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { GATEWAY_EVENTS } from '../../../src/model/instances/gateway-webhook.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { type Receiver, startReceiver } from '../../support/receiver.js'
import { forgetAnswers, URL_OF_NOBODY } from '../../support/webhooks.js'
import { type Answer, type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization
/** Of the instance `shop`. */
let token: string
let instanceId: string
let receiver: Receiver | null = null

beforeEach(async () => {
  organization = await world.createOrganization()
  const made = await create('shop')
  token = made.body.hash
  instanceId = made.body.instance.instanceId
})

afterEach(async () => {
  await receiver?.close()
  receiver = null
})

function create(instanceName: string, owner = organization): Promise<Answer> {
  const body = { instanceName, integration: 'WHATSAPP-BUSINESS' }
  return world.request('POST', '/gateway/instance/create', { key: owner.key, body })
}

const set = (body: unknown, { key = organization.key, name = 'shop', headers = {} } = {}) =>
  world.request('POST', `/gateway/webhook/set/${name}`, { key, body, headers })

const find = ({ key = organization.key, name = 'shop' } = {}) =>
  world.request('GET', `/gateway/webhook/find/${name}`, { key })

const NEWER = { webhook: { enabled: true, url: URL_OF_NOBODY, events: ['MESSAGES_UPSERT'] } }

describe('POST /webhook/set/{instance}', () => {
  it('creates the webhook, and shows its secret once', async () => {
    const made = await set({
      webhook: {
        enabled: true,
        url: URL_OF_NOBODY,
        headers: { 'X-Tenant': 'blue' },
        byEvents: true,
        base64: true,
        events: ['messages.upsert', 'send-message', 'CONNECTION_UPDATE'],
      },
    })
    expect(made.status).toBe(201)
    const { secret, ...row } = made.body
    expect(secret).toMatch(/^whsec_/)
    expect(row).toEqual({
      id: expect.any(String),
      url: URL_OF_NOBODY,
      headers: { 'X-Tenant': 'blue' },
      enabled: true,
      events: ['MESSAGES_UPSERT', 'SEND_MESSAGE', 'CONNECTION_UPDATE'],
      webhookByEvents: true,
      webhookBase64: true,
      createdAt: expect.stringMatching(/Z$/),
      updatedAt: expect.stringMatching(/Z$/),
      instanceId,
    })
    expect((await find()).body).toEqual(row)
  })

  it('changes the existing webhook without showing its secret', async () => {
    const made = await set(NEWER)
    const changed = await set({
      webhook: { url: 'http://127.0.0.1:9/other', webhookByEvents: true, webhookBase64: true },
    })
    expect(changed.status).toBe(201)
    expect(changed.body).not.toHaveProperty('secret')
    expect(changed.body).toMatchObject({
      id: made.body.id,
      url: 'http://127.0.0.1:9/other',
      enabled: true,
      webhookByEvents: true,
      webhookBase64: true,
      headers: {},
    })
    expect(changed.body.events).toEqual(GATEWAY_EVENTS)
  })

  it.each([
    ['left out', {}],
    ['empty', { events: [] }],
    ['null', { events: null }],
  ])('subscribes to all events if they are %s', async (_, events) => {
    expect((await set({ webhook: { url: URL_OF_NOBODY, ...events } })).body.events).toEqual(GATEWAY_EVENTS)
  })

  it('accepts the flat body of older clients, and responds in their form', async () => {
    const flat = { url: URL_OF_NOBODY, events: ['QRCODE_UPDATED'], webhook_by_events: true, webhook_base64: false }
    const made = await set(flat)
    expect(made.status).toBe(201)
    const webhook = { enabled: true, ...flat }
    expect(made.body).toEqual({
      webhook: { instanceName: 'shop', webhook: { ...webhook, secret: expect.stringMatching(/^whsec_/) } },
    })
    expect((await set(flat)).body).toEqual({ webhook: { instanceName: 'shop', webhook } })
    expect((await find()).body).toMatchObject({ webhookByEvents: true, webhookBase64: false })
  })

  it('disables and enables the webhook; without a url the rest stays as it is', async () => {
    const made = await set(NEWER)
    const off = await set({ webhook: { enabled: false, url: '', events: [] } })
    expect(off.body).toMatchObject({
      id: made.body.id,
      enabled: false,
      url: URL_OF_NOBODY,
      events: ['MESSAGES_UPSERT'],
    })
    expect((await set(NEWER)).body).toMatchObject({ id: made.body.id, enabled: true })
    for (const url of ['vazio', 'http://10.0.0.1']) {
      const kept = await set({ webhook: { enabled: false, url, headers: [] } })
      expect([kept.status, kept.body.url, kept.body.enabled]).toEqual([201, URL_OF_NOBODY, false])
    }
  })

  it('stores nothing if a webhook that never existed is disabled', async () => {
    for (const url of ['', 'vazio', 'http://10.0.0.1']) {
      const off = await set({ webhook: { enabled: false, url, events: ['MESSAGES_UPSERT'] } })
      expect(off.status).toBe(201)
      expect(off.body).toMatchObject({ enabled: false, url: '', events: ['MESSAGES_UPSERT'], instanceId })
      expect((await set({ enabled: false, url })).body.webhook.webhook).toMatchObject({ enabled: false, url: '' })
    }
    expect((await find()).body).toBeNull()
  })

  it('accepts the token of the instance, in either header', async () => {
    expect((await set(NEWER, { key: token })).status).toBe(201)
    const found = await world.request('GET', '/gateway/webhook/find/shop', { headers: { apikey: token } })
    expect(found.status).toBe(200)
  })

  it('delivers new events signed with the secret, without the API key', async () => {
    receiver = await startReceiver()
    const { body } = await set({ webhook: { url: receiver.url, events: ['MESSAGES_UPSERT'] } })
    await receiveMessages(world, organization, textMessage('16505551234', 'Oi'))
    const [got] = receiver.received
    const verified = new Webhook(body.secret).verify(got?.text ?? '', got?.headers as Record<string, string>)
    expect(verified).toMatchObject({ event: 'messages.upsert', instance: 'shop', apikey: null })
    expect(got?.text).not.toContain(token)
    expect(got?.text).not.toContain(organization.key)
  })

  it.each([
    ['no url', { webhook: { enabled: true } }, 'webhook.url is required'],
    ['no url of older clients', { enabled: true }, 'url is required'],
    ['an empty list as webhook', { webhook: [] }, 'url is required'],
    ['an invalid url', { webhook: { url: 'example' } }, 'url cannot be called'],
    ['a private address', { webhook: { url: 'http://10.0.0.1/hook' } }, 'url cannot be called'],
    ['an unknown event', { webhook: { url: URL_OF_NOBODY, events: ['MESSAGES_UPSERT', 'NEWS'] } }, '"NEWS"'],
    ['a header that Parley sets', { webhook: { url: URL_OF_NOBODY, headers: { 'webhook-id': '1' } } }, '"webhook-id"'],
    ['a header that is not a string', { webhook: { url: URL_OF_NOBODY, headers: { 'x-a': 1 } } }, 'headers'],
    ['an invalid flag', { webhook: { url: URL_OF_NOBODY, byEvents: 'yes' } }, 'byEvents'],
  ])('refuses %s', async (_, body, text) => {
    const refused = await set(body)
    expect(refused.status).toBe(400)
    expect(refused.body).toMatchObject({ status: 400, error: 'Bad Request' })
    expect(JSON.stringify(refused.body.response.message).replaceAll('\\"', '"')).toContain(text)
    expect((await find()).body).toBeNull()
  })

  it('runs once per Idempotency-Key, and returns the same response with the secret', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const first = await set(NEWER, { headers })
    const second = await set(NEWER, { headers })
    expect(second.body).toEqual(first.body)
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    const { rows } = await world.database.pool.query('SELECT answer::text FROM idempotency_keys')
    expect(JSON.stringify(rows)).not.toContain('whsec_')
    const other = { webhook: { ...NEWER.webhook, events: [] } }
    expect((await set(other, { headers })).status).toBe(422)
  })

  it('returns the response of an attempt whose process died after its work', async () => {
    const headers = { 'idempotency-key': randomUUID() }
    const first = await set(NEWER, { headers })
    await forgetAnswers(world)
    expect((await set(NEWER, { headers })).body).toEqual(first.body)
  })

  it("returns 404 for another organization's instance and for its keys", async () => {
    const foreign = await world.createOrganization()
    await create('theirs', foreign)
    const refused = await set(NEWER, { name: 'theirs' })
    expect(refused.status).toBe(404)
    expect(refused.body.response.message).toEqual(['The "theirs" instance does not exist'])
    expect((await set(NEWER, { name: 'nobody' })).status).toBe(404)
    expect((await set(NEWER, { key: foreign.key })).status).toBe(404)
    await create('second')
    expect((await set(NEWER, { key: token, name: 'second' })).status).toBe(404)
    expect((await find({ key: foreign.key, name: 'theirs' })).body).toBeNull()
  })

  it('separates the webhooks of instances with the same name in two organizations', async () => {
    const foreign = await world.createOrganization()
    await create('shop', foreign)
    await set(NEWER)
    expect((await find({ key: foreign.key })).body).toBeNull()
  })
})

describe('GET /webhook/find/{instance}', () => {
  it('returns null as JSON if there is no webhook', async () => {
    const found = await find()
    expect(found.status).toBe(200)
    expect(found.body).toBeNull()
    expect(found.headers.get('content-type')).toContain('application/json')
  })

  it('needs a key and an existing instance', async () => {
    expect((await world.request('GET', '/gateway/webhook/find/shop')).status).toBe(401)
    const foreign = await world.createOrganization()
    await create('theirs', foreign)
    expect((await find({ name: 'theirs' })).status).toBe(404)
    expect((await find({ name: 'nobody' })).status).toBe(404)
  })
})

describe('a deleted instance', () => {
  it('loses its webhook and deliveries, while webhooks of other instances continue', async () => {
    receiver = await startReceiver()
    await create('second')
    await set(NEWER)
    await set({ webhook: { url: receiver.url, events: ['MESSAGES_UPSERT'] } }, { name: 'second' })
    const { key } = organization
    const { status } = await world.request('DELETE', '/gateway/instance/delete/shop', { key })
    expect(status).toBe(200)
    await receiveMessages(world, organization, textMessage('16505551234', 'Oi'))
    expect(receiver.received).toHaveLength(1)
    await world.request('DELETE', '/gateway/instance/delete/second', { key })
    await world.drain()
    const { rows } = await world.database.pool.query(
      `SELECT (SELECT count(*)::int FROM webhook_deliveries WHERE organization_id = $1) AS deliveries,
         (SELECT count(*)::int FROM webhook_feeds WHERE organization_id = $1) AS feeds`,
      [organization.id],
    )
    expect(rows).toEqual([{ deliveries: 0, feeds: 0 }])
  })
})
