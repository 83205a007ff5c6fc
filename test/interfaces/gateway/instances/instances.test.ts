import { beforeEach, describe, expect, it } from 'vitest'
import { insertMessages, moveToInstance } from '../../../support/conversations.js'
import { createInstance, scan } from '../../../support/instances.js'
import {
  type Answer,
  type RequestOptions,
  type TestOrganization,
  useOrganization,
  useWorld,
} from '../../../support/world.js'

const world = useWorld()
const other = useOrganization(world)
let organization: TestOrganization

beforeEach(async () => {
  organization = await world.createOrganization()
})

const ask = (method: string, path: string, options: RequestOptions = {}) =>
  world.request(method, `/gateway${path}`, { key: organization.key, ...options })
const create = (body: object, headers: Record<string, string> = {}) =>
  ask('POST', '/instance/create', { body, headers })

function expectRefusal({ status, body }: Answer, expected: number, message: unknown): void {
  expect([status, body.status, body.response.message]).toEqual([expected, expected, message])
}

const SETTINGS = {
  rejectCall: false,
  msgCall: '',
  groupsIgnore: false,
  alwaysOnline: false,
  readMessages: false,
  readStatus: false,
  syncFullHistory: false,
  wavoipToken: '',
}

describe('POST /instance/create', () => {
  it("creates an instance for the organization's number, open at once", async () => {
    const { status, body } = await create({ instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' })
    expect(status).toBe(201)
    expect(body).toEqual({
      instance: {
        instanceName: 'shop',
        instanceId: expect.stringMatching(/^[0-9a-f-]{36}$/),
        integration: 'WHATSAPP-BUSINESS',
        webhookWaBusiness: `${world.app.url}/hooks/upstream`,
        accessTokenWaBusiness: '',
        status: 'open',
      },
      hash: expect.stringMatching(/^[0-9A-F-]{36}$/),
      webhook: {},
      websocket: {},
      rabbitmq: {},
      nats: {},
      sqs: {},
      settings: SETTINGS,
    })
  })

  it('returns the code of a phone if requested', async () => {
    const { body } = await create({ instanceName: 'shop', integration: 'SANDBOX', qrcode: true })
    expect(body.instance).toMatchObject({ integration: 'SANDBOX', webhookWaBusiness: null, status: 'connecting' })
    expect(body.qrcode).toEqual({
      pairingCode: null,
      code: expect.stringMatching(/.{20,}/),
      base64: expect.stringMatching(/^data:image\/png;base64,.{100,}/),
      count: 1,
    })
    const open = await create({ instanceName: 'number', integration: 'WHATSAPP-BUSINESS', qrcode: true })
    expect(open.body.qrcode).toEqual({ pairingCode: null, code: null, base64: null, count: 0 })
  })

  it('accepts a token, settings and a webhook, and ignores unknown fields', async () => {
    const token = 'A-token-of-24-characters'
    const { body } = await create({
      instanceName: ' shop ',
      integration: 'SANDBOX',
      token,
      rejectCall: true,
      msgCall: 'Write to us',
      webhook: {
        url: 'http://127.0.0.1:9/hook',
        byEvents: true,
        headers: { 'x-shop': '1' },
        events: ['MESSAGES_UPSERT'],
      },
      proxyHost: 'proxy.example',
      rabbitmq: { enabled: true, events: [] },
      chatwootUrl: 5,
    })
    expect(body).toMatchObject({
      instance: { instanceName: 'shop' },
      hash: token,
      settings: { ...SETTINGS, rejectCall: true, msgCall: 'Write to us' },
      webhook: {
        webhookUrl: 'http://127.0.0.1:9/hook',
        webhookHeaders: { 'x-shop': '1' },
        webhookByEvents: true,
        webhookBase64: false,
        secret: expect.stringMatching(/^whsec_/),
      },
    })
    const found = await ask('GET', '/webhook/find/shop', { key: token })
    expect(found.body).toMatchObject({ enabled: true, events: ['MESSAGES_UPSERT'], webhookByEvents: true })
    expect((await ask('GET', '/settings/find/shop')).body).toMatchObject({ rejectCall: true, msgCall: 'Write to us' })
  })

  it('stores settings that are set later, and keeps those that are left out', async () => {
    await create({ instanceName: 'shop', integration: 'SANDBOX', msgCall: 'Write to us' })
    const all = { ...SETTINGS, rejectCall: true, groupsIgnore: true, readStatus: true, wavoipToken: 'x' }
    const set = await ask('POST', '/settings/set/shop', { body: { ...all, msgCall: undefined } })
    const settings = { ...all, msgCall: 'Write to us' }
    expect([set.status, set.body]).toEqual([201, { settings: { instanceName: 'shop', settings } }])
    expect((await ask('GET', '/settings/find/shop')).body).toEqual(settings)
    const older = await ask('PUT', '/settings/set/shop/', { body: { reject_call: false, read_messages: true } })
    expect(older.status).toBe(201)
    expect((await ask('GET', '/settings/find/shop')).body).toEqual({
      ...settings,
      rejectCall: false,
      readMessages: true,
    })
    const [row] = (await ask('GET', '/instance/fetchInstances?instanceName=shop')).body
    expect(row.Setting).toMatchObject({ readMessages: true, msgCall: 'Write to us' })
    expect((await ask('POST', '/settings/set/shop', { body: { rejectCall: 'yes' } })).status).toBe(400)
    const other = await world.createOrganization()
    expect((await ask('POST', '/settings/set/shop', { body: {}, key: other.key })).status).toBe(404)
  })

  it('stores the wavoip token encrypted, and returns it to its owner', async () => {
    const { id } = await createInstance(world, organization, { integration: 'SANDBOX', wavoipToken: 'of-creation' })
    const kept = async () => {
      const { rows } = await world.database.pool.query('SELECT settings FROM instances WHERE id = $1', [id])
      return rows[0].settings
    }
    const shown = async () => (await ask('GET', '/settings/find/shop')).body.wavoipToken
    expect([await kept(), await shown()]).toEqual([{ wavoipToken: { sealed: expect.any(String) } }, 'of-creation'])
    const set = await ask('POST', '/settings/set/shop', { body: { wavoipToken: 'set-later' } })
    expect(set.body.settings.settings.wavoipToken).toBe('set-later')
    expect(JSON.stringify(await kept())).not.toContain('set-later')
    const [row] = (await ask('GET', '/instance/fetchInstances?instanceName=shop')).body
    expect(row.Setting.wavoipToken).toBe('set-later')
    await ask('POST', '/settings/set/shop', { body: { wavoipToken: '' } })
    expect([await kept(), await shown()]).toEqual([{ wavoipToken: '' }, ''])
  })

  it('accepts the body of version 1', async () => {
    const { status, body } = await create({
      instanceName: 'shop',
      integration: 'SANDBOX',
      token: null,
      webhook: 'http://127.0.0.1:9/hook',
      webhook_by_events: true,
      events: ['QRCODE_UPDATED'],
      reject_call: true,
      always_online: true,
      read_status: true,
      syncFullHistory: true,
      wavoipToken: 'x',
    })
    expect(status).toBe(201)
    expect(body.webhook).toMatchObject({ webhookUrl: 'http://127.0.0.1:9/hook', webhookByEvents: true })
    const others = { readStatus: true, syncFullHistory: true, wavoipToken: 'x' }
    expect(body.settings).toEqual({ ...SETTINGS, rejectCall: true, alwaysOnline: true, ...others })
    expect((await ask('GET', '/webhook/find/shop')).body.events).toEqual(['QRCODE_UPDATED'])
  })

  it('returns 403 for a token in use anywhere, and for a name in use in the organization', async () => {
    const token = `token-of-${organization.slug}-shop`
    await createInstance(world, other, { instanceName: organization.slug })
    await create({ instanceName: organization.slug, integration: 'SANDBOX', token })
    const again = { instanceName: organization.slug, integration: 'SANDBOX' }
    expectRefusal(await create(again), 403, [`This name "${organization.slug}" is already in use.`])
    const twice = { instanceName: 'another', integration: 'SANDBOX', token }
    expectRefusal(await create(twice), 403, [expect.stringContaining('token is already in use')])
    const foreign = await world.request('POST', '/gateway/instance/create', { key: other.key, body: twice })
    expectRefusal(foreign, 403, [expect.stringContaining('token is already in use')])
  })

  it('accepts integration in any case; returns 501 for one of other gateways', async () => {
    const lower = await create({ instanceName: 'shop', integration: 'sandbox', webhook: [] })
    expect([lower.status, lower.body.instance.integration]).toEqual([201, 'SANDBOX'])
    const foreign = await create({ instanceName: 'second', integration: 'EVOLUTION' })
    expectRefusal(foreign, 501, [expect.stringContaining('WHATSAPP-BAILEYS, WHATSAPP-BUSINESS, SANDBOX')])
  })

  it.each([undefined, null, '', 'TELEGRAM', '__proto__'])(
    'returns 400 with the possible values for integration %j',
    async (integration) => {
      const answer = await create({ instanceName: 'shop', integration })
      const text = /^Invalid integration: .* is not one of WHATSAPP-BAILEYS, WHATSAPP-BUSINESS, SANDBOX$/
      expectRefusal(answer, 400, [expect.stringMatching(text)])
    },
  )

  it.each([
    { token: 'too-short' },
    { token: 'with spaces in it, and long enough' },
    { token: `parley_${'x'.repeat(43)}` },
    { token: 5 },
    { instanceName: '' },
    { instanceName: 'a/b' },
    { instanceName: '..' },
    { instanceName: 'connectionState' },
    { instanceName: 'x'.repeat(101) },
    { qrcode: 'true' },
    { webhook: 5 },
    { webhook: { url: 'http://127.0.0.1:9/hook', events: ['NOTHING'] } },
    { webhook: { url: 'http://10.0.0.1/hook' } },
    { webhook: { url: 'http://127.0.0.1:9/hook', headers: { host: 'x' } } },
    { rejectCall: 'yes' },
  ])('returns 400 and creates no instance for %j', async (fields) => {
    const answer = await create({ instanceName: 'shop', integration: 'SANDBOX', ...fields })
    expectRefusal(answer, 400, [[expect.any(String)]])
    expect((await ask('GET', '/instance/fetchInstances')).body).toEqual([])
  })

  it('replays the response for the same Idempotency-Key, and stores it encrypted', async () => {
    const body = { instanceName: 'shop', integration: 'SANDBOX', webhook: { url: 'http://127.0.0.1:9/hook' } }
    const headers = { 'idempotency-key': 'one' }
    const first = await create(body, headers)
    const second = await create(body, headers)
    expect(first.status).toBe(201)
    expect([second.status, second.body]).toEqual([201, first.body])
    expect(second.headers.get('idempotent-replayed')).toBe('true')
    expectRefusal(await create({ ...body, instanceName: 'more' }, headers), 422, [
      expect.stringContaining('another body'),
    ])
    const { rows } = await world.database.pool.query('SELECT k::text AS row FROM idempotency_keys k')
    expect(rows.some(({ row }) => row.includes(first.body.hash))).toBe(false)
  })

  it('completes an attempt whose process died', async () => {
    const body = { instanceName: 'shop', integration: 'SANDBOX', webhook: { url: 'http://127.0.0.1:9/hook' } }
    const headers = { 'idempotency-key': 'died' }
    const first = await create(body, headers)
    await world.database.pool.query(
      `UPDATE idempotency_keys SET status = NULL, answer = NULL, process_id = 0 WHERE organization_id = $1`,
      [organization.id],
    )
    await world.database.pool.query('DELETE FROM webhooks WHERE organization_id = $1', [organization.id])
    const second = await create(body, headers)
    expect([second.status, second.body.instance, second.body.hash]).toEqual([201, first.body.instance, first.body.hash])
    expect(second.body.webhook.secret).not.toBe(first.body.webhook.secret)
  })
})

describe('a SANDBOX instance', () => {
  const NUMBER = '5511912345678'
  const state = async (name = 'shop') => (await ask('GET', `/instance/connectionState/${name}`)).body.instance

  it('is connected by a scan, restarted and logged out', async () => {
    await createInstance(world, organization, { integration: 'SANDBOX' })
    expect(await state()).toEqual({ instanceName: 'shop', state: 'close' })
    const code = await ask('GET', '/instance/connect/shop')
    expect([code.status, code.body]).toEqual([
      200,
      { pairingCode: null, code: expect.any(String), base64: expect.stringContaining('data:image/png'), count: 1 },
    ])
    expect((await state()).state).toBe('connecting')
    expect((await scan(world, organization, 'shop', NUMBER)).status).toBe(200)
    await world.settle()
    expect((await state()).state).toBe('open')
    const open = { instance: { instanceName: 'shop', state: 'open' } }
    expect((await ask('GET', '/instance/connect/shop/')).body).toEqual(open)
    for (const method of ['POST', 'PUT']) {
      const restarted = await ask(method, '/instance/restart/shop')
      const { state: now } = restarted.body.instance
      expect([restarted.status, restarted.body]).toEqual([
        200,
        { instance: { instanceName: 'shop', state: now, status: now } },
      ])
      await world.settle()
      expect((await state()).state).toBe('open')
    }
    for (const method of ['POST', 'PUT']) {
      const shown = await ask(method, '/instance/setPresence/shop', { body: { presence: 'available' } })
      expect([shown.status, shown.body]).toEqual([201, { presence: 'available' }])
    }
    const out = await ask('DELETE', '/instance/logout/shop', { body: {} })
    expect([out.status, out.body]).toEqual([
      200,
      { status: 'SUCCESS', error: false, response: { message: 'Instance logged out' } },
    ])
    expect((await state()).state).toBe('close')
  })

  it('returns a pairing code if a number is given', async () => {
    await createInstance(world, organization, { integration: 'SANDBOX' })
    const { body } = await ask('GET', `/instance/connect/shop?number=%2B${NUMBER}`)
    expect(body).toMatchObject({ pairingCode: expect.stringMatching(/^.{8,9}$/), count: 1 })
  })

  it('refuses commands that need a connection while it is closed', async () => {
    await createInstance(world, organization, { integration: 'SANDBOX' })
    const presence = await ask('POST', '/instance/setPresence/shop', { body: { presence: 'available' } })
    expectRefusal(presence, 500, 'Connection Closed')
    expect(presence.body.error).toBe('Internal Server Error')
    expectRefusal(await ask('DELETE', '/instance/logout/shop'), 400, ['The "shop" instance is not connected'])
  })

  it('returns 400 for an unknown presence', async () => {
    await createInstance(world, organization, { integration: 'SANDBOX' })
    for (const body of [{}, { presence: 'asleep' }, { presence: 5 }]) {
      expectRefusal(await ask('POST', '/instance/setPresence/shop', { body }), 400, [
        [expect.stringContaining('presence')],
      ])
    }
  })
})

describe('GET connectionState', () => {
  it('has two paths, and accepts URL-encoded names', async () => {
    for (const name of ['shop', 'Loja São José 100%', '商'.repeat(100), 'a+b&c=d']) {
      await createInstance(world, organization, { instanceName: name })
      const encoded = encodeURIComponent(name)
      for (const path of [`/instance/connectionState/${encoded}`, `/instance/${encoded}/connectionState`]) {
        const { status, body } = await ask('GET', path)
        expect([status, body]).toEqual([200, { instance: { instanceName: name, state: 'open' } }])
      }
    }
  })
})

describe('DELETE /instance/delete', () => {
  it('deletes the instance with its webhook, frees its name, and leaves other instances alone', async () => {
    const mine = { instanceName: 'shop', webhook: { url: 'http://127.0.0.1:9/hook' } }
    await createInstance(world, organization, mine)
    await createInstance(world, organization, { instanceName: 'stays' })
    const headers = { 'content-type': 'application/json' }
    const { status, body } = await ask('DELETE', '/instance/delete/shop/', { headers })
    expect([status, body.response.message]).toEqual([200, 'Instance deleted'])
    expectRefusal(await ask('DELETE', '/instance/delete/shop'), 404, ['The "shop" instance does not exist'])
    const left = await ask('GET', '/instance/fetchInstances')
    expect(left.body.map(({ name }: { name: string }) => name)).toEqual(['stays'])
    await createInstance(world, organization, { instanceName: 'shop' })
    expect((await ask('GET', '/webhook/find/shop')).body).toBeNull()
  })
})

describe('GET /instance/fetchInstances', () => {
  const names = async (query: string, key = organization.key) =>
    (await ask('GET', `/instance/fetchInstances${query}`, { key })).body.map(({ name }: { name: string }) => name)

  it('returns every field of an instance', async () => {
    const { id, token } = await createInstance(world, organization, { number: organization.phoneNumberId })
    const { status, body } = await ask('GET', '/instance/fetchInstances')
    expect(status).toBe(200)
    expect(body).toEqual([
      {
        id,
        name: 'shop',
        connectionStatus: 'open',
        ownerJid: null,
        profileName: null,
        profilePicUrl: null,
        integration: 'WHATSAPP-BUSINESS',
        number: organization.phoneNumberId,
        businessId: organization.businessAccountId,
        token,
        clientName: 'parley',
        disconnectionReasonCode: null,
        disconnectionObject: null,
        disconnectionAt: null,
        createdAt: expect.stringMatching(/Z$/),
        updatedAt: expect.stringMatching(/Z$/),
        Chatwoot: null,
        Proxy: null,
        Rabbitmq: null,
        Nats: null,
        Sqs: null,
        Websocket: null,
        Setting: { id, ...SETTINGS, createdAt: body[0].createdAt, updatedAt: body[0].updatedAt, instanceId: id },
        _count: { Message: 0, Contact: 0, Chat: 0 },
      },
    ])
  })

  it('counts the messages of each instance', async () => {
    await createInstance(world, organization)
    await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
    for (const phone_number of ['5511987654321', '5511987654322']) {
      await world.request('POST', '/contact', { key: organization.key, body: { phone_number } })
      for (const text of ['Olá', 'Tudo bem?']) {
        const body = { phone_number, message_type: 'text', text }
        expect((await world.request('POST', '/send-chat', { key: organization.key, body })).status).toBe(200)
      }
    }
    const { body } = await ask('GET', '/instance/fetchInstances')
    expect(body.map(({ _count }: { _count: unknown }) => _count)).toEqual([
      { Message: 4, Contact: 2, Chat: 2 },
      { Message: 0, Contact: 0, Chat: 0 },
    ])
  })

  it('counts all messages, however many there are', async () => {
    await createInstance(world, organization)
    const phone = await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
    const elsewhere = await createInstance(world, other, { instanceName: `counted-${organization.slug}` })
    const body = { phone_number: '5511987654321' }
    const { contact } = (await world.request('POST', '/contact', { key: organization.key, body })).body
    await insertMessages(world, contact.id, Array(10_001).fill('x'))
    const counts = async () =>
      (await ask('GET', '/instance/fetchInstances')).body.map(({ _count }: { _count: unknown }) => _count)
    const [all, none] = [
      { Message: 10_001, Contact: 1, Chat: 1 },
      { Message: 0, Contact: 0, Chat: 0 },
    ]
    expect(await counts()).toEqual([all, none])
    await moveToInstance(world, contact.id, phone.id)
    expect(await counts()).toEqual([none, all])
    const foreign = await ask('GET', `/instance/fetchInstances?instanceId=${elsewhere.id}`, { key: other.key })
    expect(foreign.body[0]._count).toEqual(none)
  })

  it('filters by name, id and number; returns 404 for an unknown name or id', async () => {
    const shop = await createInstance(world, organization, { integration: 'SANDBOX', number: '5511912345679' })
    await createInstance(world, organization, { instanceName: 'second' })
    const foreign = await createInstance(world, other, { instanceName: `foreign-${organization.slug}` })
    expect(await names('')).toEqual(['shop', 'second'])
    expect(await names('?instanceName=second')).toEqual(['second'])
    expect(await names(`?instanceId=${shop.id}`)).toEqual(['shop'])
    expect(await names('?number=5511912345679')).toEqual(['shop'])
    expect(await names('?number=5511912345670')).toEqual([])
    expect(await names('?instanceName=&instanceId=')).toEqual(['shop', 'second'])
    for (const query of [
      `instanceName=${foreign.name}`,
      `instanceId=${foreign.id}`,
      'instanceName=x',
      'instanceId=x',
    ]) {
      const name = query.split('=')[1]
      expectRefusal(await ask('GET', `/instance/fetchInstances?${query}`), 404, [`Instance "${name}" not found`])
    }
    for (const query of ['instanceName=a&instanceName=b', 'instanceName=%00']) {
      expect((await ask('GET', `/instance/fetchInstances?${query}`)).status).toBe(400)
    }
  })

  it('returns only the instance of the token', async () => {
    const shop = await createInstance(world, organization)
    await createInstance(world, organization, { instanceName: 'second' })
    expect(await names('', shop.token)).toEqual(['shop'])
    expect(await names('?instanceName=shop', shop.token)).toEqual(['shop'])
    const second = await ask('GET', '/instance/fetchInstances?instanceName=second', { key: shop.token })
    expectRefusal(second, 404, ['Instance "second" not found'])
  })
})
