import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { registerAllWithSimulator } from '../../../../src/core/instances/manage/simulator.js'
import { linkAllWithSimulator } from '../../../../src/core/organizations/connections.js'
import { createInstance } from '../../../support/instances.js'
import {
  type Answer,
  startWorld,
  type TestOrganization,
  useOrganization,
  useWorld,
  type World,
} from '../../../support/world.js'

const APP_SECRET = 'the app secret of its number'
const HOOK = { url: 'http://127.0.0.1:9/hook' }

const world = useWorld()
const other = useOrganization(world)
let organization: TestOrganization
let accessToken: string

beforeEach(async () => {
  organization = await world.createOrganization()
  accessToken = `access-token-of-${organization.slug}`
})

const anyNumber = () => `30${randomInt(1e9, 1e10)}`

/** Adds a number that the token has access to at the upstream. Resolves to its id. */
async function makeNumber(token = accessToken): Promise<string> {
  const id = anyNumber()
  const callback_url = `${world.app.url}/hooks/upstream`
  const made = await world.sim('PUT', `/numbers/${id}`, { access_token: token, app_secret: APP_SECRET, callback_url })
  expect(made.status).toBe(200)
  return id
}

const ask = (method: string, path: string, body?: unknown, key = organization.key) =>
  world.request(method, `/gateway${path}`, { key, body })
const create = (fields: object, key?: string) =>
  ask('POST', '/instance/create', { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS', ...fields }, key)
const names = async (key = organization.key) =>
  (await ask('GET', '/instance/fetchInstances', undefined, key)).body.map(({ name }: { name: string }) => name)

function expectRefusal({ status, body }: Answer, expected: number, text: string): void {
  expect([status, body.response.message.flat()]).toEqual([expected, [expect.stringContaining(text)]])
}

describe('an instance with a number of its own', () => {
  it('sends and receives with it', async () => {
    const number = anyNumber()
    const { token: key } = await createInstance(world, organization, { number, accessToken, appSecret: APP_SECRET })
    const sent = await ask('POST', '/message/sendText/shop', { number: '5511987654321', text: 'Olá' }, key)
    expect(sent.status).toBe(201)
    const { body } = await world.sim('GET', `/messages?phone_number_id=${number}`)
    expect(body.messages).toMatchObject([{ payload: { text: { body: 'Olá' } } }])
    const inbound = { phone_number_id: number, from: '5511987654321', type: 'text', text: 'Oi' }
    expect((await world.sim('POST', '/inbound', inbound)).body).toMatchObject({ status: 200 })
    await world.settle()
    const found = await ask('POST', '/chat/findMessages/shop', {}, key)
    const texts = found.body.messages.records.map(({ message }: { message: object }) => message)
    expect(texts).toHaveLength(2)
    expect(texts).toEqual(expect.arrayContaining([{ conversation: 'Oi' }, { conversation: 'Olá' }]))
  })

  it('is known to a restarted simulator, as phones are', async () => {
    const number = anyNumber()
    await createInstance(world, organization, { number, accessToken, appSecret: APP_SECRET })
    await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
    await world.sim('POST', '/reset', { numbers: true })
    const inbound = { phone_number_id: number, from: '5511987654323', type: 'text', text: 'Oi' }
    expect((await world.sim('POST', '/inbound', inbound)).status).toBe(404)
    expect((await ask('GET', '/instance/connect/phone')).status).toBe(500)
    await linkAllWithSimulator(world.app.ctx)
    await registerAllWithSimulator(world.app.ctx)
    expect((await world.sim('POST', '/inbound', inbound)).body).toMatchObject({ status: 200 })
    expect((await ask('GET', '/instance/connect/phone')).status).toBe(200)
  })

  it("accepts its access token as the instance's token", async () => {
    const { token } = await createInstance(world, organization, { number: anyNumber(), token: accessToken })
    expect(token).toBe(accessToken)
    expect(await names(accessToken)).toEqual(['shop'])
  })

  it('returns 403 for a token of another instance in any organization; as accessToken several instances may have it', async () => {
    await createInstance(world, organization, { instanceName: 'first', number: anyNumber(), token: accessToken })
    const second = { instanceName: 'second', number: anyNumber(), webhook: HOOK }
    const advice = "give the number's access token as accessToken, and choose another token, or leave it out"
    expectRefusal(await create({ ...second, token: accessToken }), 403, advice)
    expectRefusal(await create({ ...second, token: accessToken }, other.key), 403, advice)
    const { token: key, answer } = await createInstance(world, organization, { ...second, accessToken })
    expect(key).toMatch(/^[0-9A-F-]{36}$/)
    expect(answer.body.webhook.secret).toMatch(/^whsec_/)
    expect(await names(accessToken)).toEqual(['first'])
    expect(await names(key)).toEqual(['second'])
    const sent = await ask('POST', '/message/sendText/second', { number: '5511987654322', text: 'Olá' }, key)
    expect(sent.status).toBe(201)
  })

  it('is created by only one of several concurrent requests', async () => {
    const made = [1, 2, 3].map((n) => create({ instanceName: `n${n}`, number: anyNumber(), token: accessToken }))
    const answers = await Promise.all(made)
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 403, 403])
  })

  it('is accessible only with token if an accessToken is given too; returns 403 for a token in use', async () => {
    const token = `key-of-${organization.slug}-number`
    const made = await createInstance(world, organization, { number: anyNumber(), accessToken, token })
    expect(made.token).toBe(token)
    expect((await ask('GET', '/instance/fetchInstances', undefined, accessToken)).status).toBe(401)
    const again = { instanceName: 'again', number: anyNumber(), accessToken, token }
    expectRefusal(await create(again), 403, 'token is already in use')
  })

  it('returns 403 for a number of another instance', async () => {
    const number = anyNumber()
    await createInstance(world, organization, { instanceName: 'first', number, accessToken })
    expectRefusal(
      await create({ instanceName: 'second', number, accessToken }),
      403,
      `The number ${number} is already in use`,
    )
    expectRefusal(
      await create({ instanceName: 'third', number, accessToken }, other.key),
      403,
      `The number ${number} is already in use`,
    )
  })
})

describe('a number at an upstream other than the simulator', () => {
  const link = { linkWithSimulator: null as World['app']['ctx']['linkWithSimulator'] }

  beforeAll(() => {
    link.linkWithSimulator = world.app.ctx.linkWithSimulator
    world.app.ctx.linkWithSimulator = null
  })
  afterAll(() => {
    Object.assign(world.app.ctx, link)
  })

  it('needs an access token that has access to it, so that strangers cannot claim it', async () => {
    const before = await names(other.key)
    const number = await makeNumber()
    const malformed = await create({ number, accessToken: 'a token that opens nothing' }, other.key)
    expectRefusal(malformed, 400, 'accessToken must be of printable ASCII')
    const wrong = await create({ number, token: 'a-token-that-opens-nothing' }, other.key)
    expectRefusal(wrong, 400, `give a valid one, which may use the number ${number}`)
    expect(wrong.body.response).toMatchObject({ upstream_code: 190, details: expect.any(String) })
    await makeNumber('token-of-a-number-of-the-other')
    const foreign = await create({ number, token: 'token-of-a-number-of-the-other' }, other.key)
    expectRefusal(foreign, 400, `cannot read the number ${number}`)
    expect(foreign.body.response.upstream_code).toBe(100)
    expect(await names(other.key)).toEqual(before)
    await createInstance(world, organization, { number, accessToken })
  })

  it.each([
    ['without an access token', {}, 'accessToken is required'],
    ['with an invalid id', { number: '+55 11 98765-4321', accessToken: 'x' }, '5 to 20 digits'],
  ])('returns 400 for a number %s', async (_name, fields, text) => {
    expectRefusal(await create({ number: '3012345678', ...fields }), 400, text)
    expect(await names()).toEqual([])
  })

  it.each(['accessToken', 'businessId', 'appSecret', 'verifyToken'])(
    "returns 400 for %s without a number, instead of using the organization's number",
    async (field) => {
      expectRefusal(await create({ [field]: 'given' }), 400, `number is required with ${field}`)
      expect(await names()).toEqual([])
      expect((await create({ [field]: '', number: '' })).status).toBe(201)
    },
  )

  it("is the organization's number if only its own account is given", async () => {
    const { rows } = await world.database.pool.query(
      'SELECT business_account_id AS id FROM upstream_settings WHERE organization_id = $1',
      [organization.id],
    )
    expect((await create({ businessId: rows[0].id })).status).toBe(201)
    const foreign = { instanceName: 'foreign', businessId: rows[0].id }
    expectRefusal(await create(foreign, other.key), 400, 'number is required with businessId')
  })

  it('returns 500 while the upstream is down, 503 while the simulator is down, and creates no instance', async () => {
    const quiet = await startWorld()
    try {
      const { key } = await quiet.createOrganization()
      const request = (body: object) => quiet.request('POST', '/gateway/instance/create', { key, body })
      await request({ instanceName: 'phone', integration: 'SANDBOX' })
      await quiet.simulator.close()
      quiet.app.ctx.linkWithSimulator = null
      const number = { number: '3012345678', accessToken: 'token' }
      const asked = await request({ instanceName: 'shop', integration: 'WHATSAPP-BUSINESS', ...number })
      expectRefusal(asked, 500, 'could not be asked for the number 3012345678')
      const phone = await request({ instanceName: 'shop', integration: 'SANDBOX' })
      expectRefusal(phone, 503, 'The simulator cannot be reached')
      expect(phone.headers.get('retry-after')).toBe('2')
      const connected = await quiet.request('GET', '/gateway/instance/connect/phone', { key })
      expect([connected.status, connected.body.response.message]).toEqual([500, 'Connection Closed'])
      expect((await quiet.request('DELETE', '/gateway/instance/delete/phone', { key })).status).toBe(200)
      expect((await quiet.request('GET', '/gateway/instance/fetchInstances', { key })).body).toEqual([])
    } finally {
      await quiet.close()
    }
  })
})

describe('the verify token of a number', () => {
  const verify = async (token: string) => {
    const query = new URLSearchParams({ 'hub.mode': 'subscribe', 'hub.verify_token': token, 'hub.challenge': '42' })
    return (await world.request('GET', `/hooks/upstream?${query}`)).status
  }

  it('verifies the callback URL while an instance has the token', async () => {
    const verifyToken = `verify-${organization.slug}-number`
    expect(await verify(verifyToken)).toBe(403)
    await createInstance(world, organization, { number: anyNumber(), accessToken, verifyToken })
    const foreign = { instanceName: organization.slug, number: anyNumber(), accessToken, verifyToken }
    await createInstance(world, other, foreign)
    expect(await verify(verifyToken)).toBe(200)
    await ask('DELETE', '/instance/delete/shop')
    expect(await verify(verifyToken)).toBe(200)
    await ask('DELETE', `/instance/delete/${organization.slug}`, undefined, other.key)
    expect(await verify(verifyToken)).toBe(403)
  })

  it('is stored as a hash and never returned; an instance without one verifies nothing', async () => {
    const verifyToken = `verify-${organization.slug}-hidden`
    const made = await createInstance(world, organization, { number: anyNumber(), accessToken, verifyToken })
    await createInstance(world, organization, {
      instanceName: 'none',
      number: anyNumber(),
      accessToken,
      verifyToken: '',
    })
    expect(await verify('')).toBe(403)
    const { rows } = await world.database.pool.query('SELECT i::text AS row FROM instances i')
    const listed = await ask('GET', '/instance/fetchInstances')
    const shown = JSON.stringify([rows, made.answer.body, listed.body])
    expect(shown).toContain('WHATSAPP-BUSINESS')
    expect(shown).not.toContain(verifyToken)
    expectRefusal(await create({ number: '3012345678', accessToken, verifyToken: 'x'.repeat(257) }), 400, 'verifyToken')
  })
})

describe('an instance whose webhook cannot be stored', () => {
  it('is not created either, so that the request can be repeated', async () => {
    const constraint = "ALTER TABLE webhooks ADD CONSTRAINT refusing CHECK (url NOT LIKE '%/hook') NOT VALID"
    await world.database.pool.query(constraint)
    try {
      expect((await create({ webhook: HOOK })).status).toBe(500)
    } finally {
      await world.database.pool.query('ALTER TABLE webhooks DROP CONSTRAINT refusing')
    }
    expect(await names()).toEqual([])
    const { body } = await create({ webhook: HOOK })
    expect(body).toMatchObject({ hash: expect.any(String), webhook: { secret: expect.stringMatching(/^whsec_/) } })
  })
})
