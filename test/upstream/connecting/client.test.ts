import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../../support/http-server.js'
import { PATIENCE_MS } from '../../support/patience.js'

const access = { accessToken: 'token' }
const number = { phoneNumberId: '10001', ...access }
const account = { businessAccountId: '20001', accessToken: 'token' }
const app = { appId: '30001', appSecret: 'secret' }
const address = { url: 'https://chat.example/hooks/upstream', verifyToken: 'verify' }

let answer: Answering
let server: HttpServer
let client: UpstreamClient

beforeEach(async () => {
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0`)
})

afterEach(async () => {
  await client.close()
  await server.close()
})

/** Every call, with what it requests. */
const calls: [string, () => Promise<object>, string, object | null][] = [
  ['debugToken', () => client.connecting.debugToken(access, PATIENCE_MS), 'GET /debug_token?input_token=token', null],
  [
    'findApp',
    () => client.connecting.findApp({ accessToken: 'token', appSecret: null }, PATIENCE_MS),
    'GET /app?fields=id,name',
    null,
  ],
  [
    'listAccounts',
    () => client.connecting.listAccounts(access, { of: 'owned', id: '7' }, PATIENCE_MS),
    'GET /7/owned_whatsapp_business_accounts?fields=id&limit=100',
    null,
  ],
  [
    'listBusinesses',
    () => client.connecting.listBusinesses(access, PATIENCE_MS),
    'GET /me/businesses?fields=id&limit=100',
    null,
  ],
  [
    'listNumbers',
    () => client.connecting.listNumbers(access, { accountId: '20001', after: 'c' }, PATIENCE_MS),
    'GET /20001/phone_numbers?fields=id%2Cdisplay_phone_number%2Cverified_name&limit=100&after=c',
    null,
  ],
  ['readAppAddress', () => client.connecting.readAppAddress(app, PATIENCE_MS), 'GET /30001/subscriptions', null],
  [
    'setAppAddress',
    () => client.connecting.setAppAddress({ app, address, fields: ['messages'] }, PATIENCE_MS),
    'POST /30001/subscriptions',
    { object: 'whatsapp_business_account', callback_url: address.url, verify_token: 'verify', fields: 'messages' },
  ],
  [
    'listSubscribedApps',
    () => client.connecting.listSubscribedApps(account, PATIENCE_MS),
    'GET /20001/subscribed_apps',
    null,
  ],
  [
    'subscribeApp',
    () => client.connecting.subscribeApp(account, address, PATIENCE_MS),
    'POST /20001/subscribed_apps',
    { override_callback_uri: address.url, verify_token: 'verify' },
  ],
  [
    'overrideNumber',
    () => client.connecting.overrideNumber(number, null, PATIENCE_MS),
    'POST /10001',
    { webhook_configuration: { override_callback_uri: '' } },
  ],
  [
    'registerNumber',
    () => client.connecting.registerNumber(number, '123456', PATIENCE_MS),
    'POST /10001/register',
    { messaging_product: 'whatsapp', pin: '123456' },
  ],
]

const answers: [string, Answering, object][] = [
  [
    'an error of the token',
    json(401, { error: { message: 'ended', code: 190, error_subcode: 463 } }),
    { outcome: 'refused', code: 190, subcode: 463, text: 'ended', isTokenAtFault: true },
  ],
  [
    'an error with details',
    json(400, { error: { message: 'no', code: 133009, error_data: { details: 'wait 5 minutes' } } }),
    { outcome: 'refused', code: 133009, subcode: 0, text: 'no: wait 5 minutes', isTokenAtFault: false },
  ],
  [
    'the limit of calls',
    json(400, { error: { message: 'too many', code: 80008 } }),
    { outcome: 'failed', code: 80008 },
  ],
  ['a broken upstream', json(500, { error: { message: 'oops', code: 1 } }), { outcome: 'failed' }],
  ['something else', json(200, { data: 'no', success: 'no' }), { outcome: 'failed' }],
  ['an array', json(200, []), { outcome: 'failed' }],
  ['a page that is not JSON', bare(200), { outcome: 'failed' }],
  ['a bare 403', bare(403), { outcome: 'refused', code: 403, isTokenAtFault: true }],
  ['a lost connection', hangUp, { outcome: 'failed' }],
]

describe.each(calls)('%s', (_call, ask, path, body) => {
  it('makes one request', async () => {
    answer = json(200, {})
    await ask()
    expect(server.taken.map((taken) => `${taken.method} ${taken.path.replace('/v23.0', '')}`)).toEqual([path])
    const [taken] = server.taken
    expect(taken?.body.length === 0 ? null : JSON.parse(String(taken?.body))).toEqual(body)
  })

  it.each(answers)('has an outcome for %s', async (_name, answering, expected) => {
    answer = answering
    expect(await ask()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
  })
})

describe('what is read', () => {
  it('of a token are the permissions and accounts, and no times that are none', async () => {
    const granular = [
      { scope: 'whatsapp_business_management', target_ids: ['1', 2, null] },
      { scope: 'business_management', target_ids: ['9'] },
      'strange',
    ]
    const data = {
      is_valid: true,
      app_id: '30001',
      expires_at: 0,
      data_access_expires_at: 1e300,
      scopes: ['a', 5],
      granular_scopes: granular,
    }
    answer = json(200, { data })
    expect(await client.connecting.debugToken(access, PATIENCE_MS)).toEqual({
      outcome: 'done',
      token: {
        ...{ isValid: true, appId: '30001', appName: null, type: null, userId: null, error: null },
        ...{ expiresAt: null, dataAccessExpiresAt: null, scopes: ['a'], accountIds: ['1'] },
      },
    })
  })

  it('of a number is everything that it has, and its basic fields if it does not know one', async () => {
    answer = (request, response) => {
      const isAll = request.path.includes('health_status')
      const error = { message: '(#100) Tried accessing nonexisting field (is_on_biz_app)', code: 100 }
      const found = { id: '10001', status: 'Connected', health_status: 'strange', throughput: [] }
      json(isAll ? 400 : 200, isAll ? { error } : found)(request, response)
    }
    const read = await client.connecting.readNumberState(number, PATIENCE_MS)
    expect(read).toMatchObject({
      outcome: 'done',
      number: { status: 'CONNECTED', canSend: null, health: [], mode: null, callbacks: null },
    })
    expect(server.taken).toHaveLength(2)
  })

  it('of a number is its health, cut to a size that can be shown', async () => {
    const long = 'x'.repeat(5_000)
    const entity = {
      entity_type: 'WABA',
      can_send_message: 'BLOCKED',
      errors: [{ error_code: 141006, error_description: long }],
    }
    answer = json(200, {
      id: '10001',
      health_status: { can_send_message: 'BLOCKED', entities: Array(100).fill(entity) },
    })
    const read = await client.connecting.readNumberState(number, PATIENCE_MS)
    if (read.outcome !== 'done') throw new Error(read.text)
    expect(read.number.health).toHaveLength(20)
    expect(read.number.health[0]?.errors[0]?.description).toHaveLength(300)
  })

  it('of an app are its address and fields, in both forms', async () => {
    const subscription = { object: 'whatsapp_business_account', callback_url: address.url, active: true }
    answer = json(200, {
      data: [{ object: 'page' }, { ...subscription, fields: ['calls', { name: 'messages', version: 'v23.0' }, 5] }],
    })
    expect(await client.connecting.readAppAddress(app, PATIENCE_MS)).toEqual({
      outcome: 'done',
      address: { url: address.url, fields: ['calls', 'messages'] },
    })
    expect(server.taken[0]?.headers.authorization).toBe('Bearer 30001|secret')
  })

  it('of an error are its texts without the access token', async () => {
    const accessToken = 'EAAtoken'.repeat(10)
    answer = json(401, { error: { message: `Malformed access token ${accessToken}`, code: 190 } })
    const text = 'Malformed access token …'
    expect(await client.connecting.findApp({ accessToken, appSecret: null }, PATIENCE_MS)).toMatchObject({ text })
    const written = await client.createTemplate({ ...account, accessToken }, {}, PATIENCE_MS)
    expect(written).toMatchObject({ outcome: 'refused', because: 'credentials', text })
  })

  it('is nothing once the time is over, without a request', async () => {
    expect(await client.connecting.debugToken(access, 0)).toMatchObject({ outcome: 'failed' })
    expect(server.taken).toHaveLength(0)
  })
})
