import { randomInt } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { type Devices, startDevices } from '../../../support/devices.js'
import { expectForOwners } from '../../../support/refusals.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const PNG = /^data:image\/png;base64,/

const world = useWorld()
let organization: TestOrganization
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  stranger = await signIn(world, await world.createOrganization())
})
beforeEach(async () => {
  organization = await world.createOrganization()
  owner = await signIn(world, organization)
})

const ask = (method: string, path: string, body?: object, by = owner) => by.call(method, `/instances${path}`, { body })
const create = (fields: object = {}, by = owner) => ask('POST', '', { name: 'phone', kind: 'sandbox', ...fields }, by)
const rowOf = async (name = 'phone') =>
  (
    await world.database.pool.query('SELECT * FROM instances WHERE organization_id = $1 AND name = $2', [
      organization.id,
      name,
    ])
  ).rows[0]

it('instances are for owners', async () => {
  await create()
  const others = [
    await signIn(world, organization, { role: 'agent' }),
    await signIn(world, organization, { role: 'analyst' }),
  ]
  await expectForOwners(others, [
    'GET /instances',
    'POST /instances',
    'GET /instances/phone',
    'GET /instances/phone/code',
    'GET /instances/phone/token',
    ...['connect', 'restart', 'logout', 'scan'].map((verb) => `POST /instances/phone/${verb}`),
    'DELETE /instances/phone',
  ])
})

it('instances of another organization return 404, and stay unchanged', async () => {
  await create()
  await ask('POST', '/phone/connect', {})
  const before = await rowOf()
  for (const request of [
    ['GET', '/phone'],
    ['GET', '/phone/code'],
    ['GET', '/phone/token'],
    ['POST', '/phone/connect', {}],
    ['POST', '/phone/restart', {}],
    ['POST', '/phone/logout', {}],
    ['POST', '/phone/scan', {}],
    ['DELETE', '/phone'],
  ] as const) {
    const { status, body } = await ask(request[0], request[1], request[2], stranger)
    expect([...request, status, body.error]).toEqual([...request, 404, 'Instance not found'])
  }
  expect(await rowOf()).toEqual(before)
  expect((await ask('GET', '', undefined, stranger)).body.instances).toEqual([])
})

it('an impossible name returns 404, and does not affect concurrent requests', async () => {
  await create()
  const answers = await Promise.all([ask('GET', '/%00'), ask('GET', '/phone'), ask('DELETE', '/a%00b')])
  expect(answers.map(({ status }) => status)).toEqual([404, 200, 404])
  expect(answers[0]?.body.error).toBe('Instance not found')
})

describe('POST /console/api/instances', () => {
  it('returns 201 with the instance, without its secrets', async () => {
    const { status, body } = await create()
    expect(status).toBe(201)
    expect(body.instance).toEqual({
      id: expect.any(String),
      name: 'phone',
      kind: 'sandbox',
      state: 'close',
      state_code: null,
      number: null,
      owner: null,
      profile_name: null,
      created_at: expect.any(String),
      updated_at: expect.any(String),
    })
    expect((await ask('GET', '')).body.instances).toEqual([body.instance])
    expect((await ask('GET', '/phone')).body).toEqual({ success: true, instance: body.instance })
  })

  it('accepts a business number with its own credentials', async () => {
    const number = `30${randomInt(1e9, 1e10)}`
    const secrets = { access_token: 'token-of-its-own', app_secret: 'secret-of-its-own', verify_token: 'verify-it' }
    const { status, body } = await create({ name: 'second', kind: 'business_api', number, ...secrets })
    expect([status, body.instance]).toMatchObject([201, { kind: 'business_api', number, state: 'open' }])
    const shown = JSON.stringify([body, await ask('GET', ''), await ask('GET', '/second')])
    for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret)
    const { phone_number_id, access_token } = await rowOf('second')
    expect(phone_number_id).toBe(number)
    expect(world.app.ctx.secrets.open(access_token, `${organization.id}:instance.access_token`)).toBe(
      secrets.access_token,
    )
  })

  it.each([
    [{ name: '' }, 400, 'name'],
    [{ name: 'a/b' }, 400, 'name must have 1 to 100 characters'],
    [{ name: 'create' }, 400, 'name "create" is reserved'],
    [{ kind: 'business_api', number: '30123456789' }, 400, 'access_token is required'],
    [{ kind: 'business_api', number: '30123456789', access_token: 'a b' }, 400, 'access_token must be'],
    [{ kind: 'business_api', business_account_id: '1' }, 400, 'number is required with business_account_id'],
    [{ kind: 'business_api', app_secret: 'x' }, 400, 'number is required with app_secret'],
    [{ kind: 'business_api', verify_token: 'x' }, 400, 'number is required with verify_token'],
    [{ kind: 'fax' }, 400, 'kind'],
    [{ kind: 'business_api', number: '123' }, 400, 'number'],
  ])('refuses %j', async (fields, expected, text) => {
    const { status, body } = await create(fields)
    expect([status, body.message]).toEqual([expected, expect.stringContaining(text)])
    expect(body.message).not.toMatch(/instanceName|accessToken|businessId|appSecret|verifyToken/)
    expect((await ask('GET', '')).body.instances).toEqual([])
  })

  it('returns 403 for a name in use', async () => {
    await create()
    const { status, body } = await create()
    expect([status, body.error]).toEqual([403, 'Instance already exists'])
    expect((await create({}, stranger)).status).toBe(201)
  })
})

describe('a simulated phone', () => {
  it('shows a code, and can be scanned, logged out, reconnected and deleted', async () => {
    await create()
    expect((await ask('GET', '/phone/code')).body).toMatchObject({ instance: { state: 'close' }, code: null })

    const connected = await ask('POST', '/phone/connect', {})
    expect(connected.status).toBe(200)
    expect(connected.body).toMatchObject({
      instance: { name: 'phone', state: 'connecting' },
      code: { text: expect.any(String), pairing_code: null, count: 1, image: expect.stringMatching(PNG) },
    })
    expect((await ask('GET', '/phone/code')).body).toEqual(connected.body)
    const next = await ask('POST', '/phone/restart', {})
    expect(next.body.code.text).not.toBe(connected.body.code.text)
    expect((await ask('GET', '/phone/code')).body.code).toEqual(next.body.code)

    const scanned = await ask('POST', '/phone/scan', { number: '+55 11 98765-0001' })
    expect([scanned.status, scanned.body.instance]).toMatchObject([200, { state: 'open', owner: '5511987650001' }])
    expect((await ask('GET', '/phone/code')).body.code).toBeNull()
    expect((await ask('POST', '/phone/connect', {})).body).toMatchObject({ instance: { state: 'open' }, code: null })
    expect((await ask('POST', '/phone/scan', {})).body.instance).toMatchObject({ owner: '5511987650001' })

    const out = await ask('POST', '/phone/logout', {})
    expect([out.status, out.body.instance]).toMatchObject([200, { state: 'close', state_code: 401 }])
    const again = await ask('POST', '/phone/logout', {})
    expect([again.status, again.body.error]).toEqual([400, 'Instance not connected'])

    expect((await ask('DELETE', '/phone')).status).toBe(200)
    expect((await ask('GET', '/phone')).status).toBe(404)
  })

  it('shows a pairing code if a number is given', async () => {
    await create()
    const { body } = await ask('POST', '/phone/connect', { number: '+55 11 98765-0002' })
    expect(body.code.pairing_code).toMatch(/\S{8}/)
    expect((await ask('GET', '/phone/code')).body.code).toEqual(body.code)
  })

  it('stores its code in no readable form', async () => {
    await create()
    const { body } = await ask('POST', '/phone/connect', {})
    const { code } = await rowOf()
    expect(code.includes(body.code.text)).toBe(false)
    await ask('POST', '/phone/scan', {})
    expect((await rowOf()).code).toBeNull()
  })

  it('cannot be scanned while it shows no code', async () => {
    await create()
    const { status, body } = await ask('POST', '/phone/scan', {})
    expect([status, body.error]).toEqual([400, 'Instance not connected'])
    expect(body.message).toContain('connect it first')
  })

  it.each(['1', 'nobody at all, 1'])('returns 400 for the number %s', async (number) => {
    await create()
    await ask('POST', '/phone/connect', {})
    const { status, body } = await ask('POST', '/phone/scan', { number })
    expect([status, body.error]).toEqual([400, 'Invalid field'])
    expect((await rowOf()).state).toBe('connecting')
  })

  it('reports that the simulator no longer knows it, without an internal error', async () => {
    await create()
    await world.sim('DELETE', `/numbers/${encodeURIComponent(`${organization.id}/phone`)}`)
    const { status, body } = await ask('POST', '/phone/connect', {})
    expect([status, body.error]).toEqual([503, 'Service unavailable'])
    expect(body.message).toContain('"phone"')
  })
})

it('scanning another kind of instance, and logging out a business number, returns 501', async () => {
  await create({ name: 'number', kind: 'business_api' })
  for (const verb of ['scan', 'logout']) {
    const { status, body } = await ask('POST', `/number/${verb}`, {})
    expect([verb, status, body.error]).toEqual([verb, 501, 'Not supported'])
  }
})

describe('GET /console/api/instances/{name}/token', () => {
  it('returns the token that gives access to the instance at the gateway', async () => {
    await create()
    const { status, body } = await ask('GET', '/phone/token')
    expect(status).toBe(200)
    const state = await world.request('GET', '/gateway/instance/connectionState/phone', { key: body.token })
    expect(state.body).toEqual({ instance: { instanceName: 'phone', state: 'close' } })
  })
})

describe('a linked device', () => {
  let devices: Devices

  beforeAll(async () => {
    devices = await startDevices()
  })
  afterAll(() => devices.close())

  it('shows its newest code, wherever it runs', async () => {
    const { id } = await devices.createInstance(false)
    const { call } = await signIn(devices.world, devices.organization)
    const path = `/instances/${encodeURIComponent(`instance ${id}`)}`
    const unheard = await call('POST', `${path}/connect`, { body: {} })
    expect([unheard.status, unheard.body.error]).toEqual([501, 'Not supported'])

    await devices.startProcess()
    const { status, body } = await call('POST', `${path}/connect`, { body: {} })
    expect([status, body]).toMatchObject([
      200,
      { instance: { state: 'connecting' }, code: { text: expect.stringContaining('code') } },
    ])
    const restarted = await call('POST', `${path}/restart`, { body: {} })
    expect(restarted.body.code.text).not.toBe(body.code.text)
    // The device answers before it records the code.
    await expect.poll(async () => (await call('GET', `${path}/code`)).body.code).toEqual(restarted.body.code)
    expect(restarted.body.code.image).toMatch(PNG)

    devices.network.scan(restarted.body.code.text, '5511987650003')
    await expect.poll(async () => (await call('GET', path)).body.instance).toMatchObject({ state: 'open' })
    expect((await call('GET', `${path}/code`)).body.code).toBeNull()
    const out = await call('POST', `${path}/logout`, { body: {} })
    expect(out.body.instance).toMatchObject({ state: 'close' })
  })
})
