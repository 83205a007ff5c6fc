import { randomUUID } from 'node:crypto'
import { beforeAll, describe, expect, it } from 'vitest'
import { SCOPES } from '../../../src/model/organizations/scope.js'
import { createInstance, type TestInstance } from '../../support/instances.js'
import { type Description, operationsOf } from '../../support/openapi.js'
import { readRaw, sendRaw } from '../../support/raw.js'
import { type Answer, useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let instance: TestInstance
let sibling: TestInstance
let foreign: TestInstance
let operations: { method: string; path: string }[]

beforeAll(async () => {
  instance = await createInstance(world, organization, { instanceName: 'shop' })
  sibling = await createInstance(world, organization, { instanceName: 'sibling' })
  foreign = await createInstance(world, other, { instanceName: 'foreign' })
  const description: Description = (await world.request('GET', '/gateway/openapi.json')).body
  operations = operationsOf(description).map((operation) => {
    const [method = '', path = ''] = operation.split(' ')
    return { method, path }
  })
})

const HOUR_MS = 3_600_000
const UNAUTHORIZED = { status: 401, error: 'Unauthorized', response: { message: 'Unauthorized' } }
const STATE = '/gateway/instance/connectionState/shop'

const unknown = (name: string) => ({
  status: 404,
  error: 'Not Found',
  response: { message: [`The "${name}" instance does not exist`] },
})

/** All operations with an instance in their path, which is set to `name`. */
const operationsOn = (name: string) =>
  operations
    .filter(({ path }) => path.includes('{instance}'))
    .map(({ method, path }) => ({ method, path: path.replace('{instance}', encodeURIComponent(name)) }))

async function issueKey(fields: Record<string, unknown> = {}) {
  const issued = await world.admin('POST', `/organizations/${organization.id}/keys`, { name: 'one', ...fields })
  return issued.body.api_key
}

describe('GET /gateway', () => {
  it.each(['/gateway', '/gateway/', '/gateway/?x=1'])('%s returns the welcome without a key', async (path) => {
    const { status, body } = await world.request('GET', path)
    expect(status).toBe(200)
    expect(body).toEqual({
      status: 200,
      message: 'Welcome to the Parley gateway, it is working!',
      version: '1.0.0',
      clientName: 'parley',
      manager: `${world.app.url}/console`,
      documentation: `${world.app.url}/docs`,
    })
  })
})

describe('every endpoint', () => {
  it('returns 401 with the same body for every invalid key', async () => {
    const revoked = await issueKey()
    await world.admin('DELETE', `/keys/${revoked.id}`)
    const gone = await world.createOrganization()
    await world.admin('DELETE', `/organizations/${gone.id}`)
    const headers: Record<string, string>[] = [
      {},
      { apikey: '' },
      { apikey: `parley_${'x'.repeat(43)}` },
      { apikey: randomUUID().toUpperCase() },
      { apikey: revoked.key },
      { apikey: gone.key },
      { authorization: 'Basic cGFybGV5OnBhcmxleQ==' },
      { authorization: `Bearer ${randomUUID()}` },
      { apikey: 'wrong', authorization: `Bearer ${organization.key}` },
    ]
    expect(operations.length).toBeGreaterThan(10)
    for (const { method, path } of operations) {
      for (const one of headers) {
        const { status, body } = await world.request(method, path.replace('{instance}', 'shop'), { headers: one })
        expect({ path, one, status, body }).toEqual({ path, one, status: 401, body: UNAUTHORIZED })
      }
    }
  })

  it('returns 403 for a key without the scope gateway', async () => {
    const { key } = await issueKey({ scopes: SCOPES.filter((scope) => scope !== 'gateway') })
    for (const { method, path } of operations) {
      const { status, body } = await world.request(method, path.replace('{instance}', 'shop'), { key })
      expect({ path, status, error: body.error }).toEqual({ path, status: 403, error: 'Forbidden' })
      expect(body.response.message[0]).toContain('gateway')
    }
  })

  it("returns the same 404 for another organization's instance as for an unknown one", async () => {
    for (const name of ['foreign', 'nobody', 'SHOP', 'a b/%', '\u0000', 'x'.repeat(300)]) {
      for (const { method, path } of operationsOn(name)) {
        const { status, body } = await world.request(method, path, { key: organization.key })
        expect({ path, status, body }).toEqual({ path, status: 404, body: unknown(name) })
      }
    }
  })

  it('returns 404 for a token if the path names another instance', async () => {
    for (const name of ['sibling', 'foreign', 'nobody']) {
      for (const { method, path } of operationsOn(name)) {
        const { status, body } = await world.request(method, path, { headers: { apikey: instance.token } })
        expect({ path, status, body }).toEqual({ path, status: 404, body: unknown(name) })
      }
    }
  })

  it('checks the instance before the body', async () => {
    for (const { method, path } of operationsOn('nobody').filter((one) => one.method !== 'GET')) {
      for (const type of ['application/json', 'text/plain']) {
        const options = { key: organization.key, body: '{', headers: { 'content-type': type } }
        const { status, body } = await world.request(method, path, options)
        expect({ path, status, body }).toEqual({ path, status: 404, body: unknown('nobody') })
      }
    }
  })

  it('accepts a trailing slash', async () => {
    for (const { method, path } of operationsOn('nobody')) {
      const { body } = await world.request(method, `${path}/?x=1`, { key: organization.key })
      expect({ path, body }).toEqual({ path, body: unknown('nobody') })
    }
  })
})

describe('a key', () => {
  it.each<[string, () => Record<string, string>]>([
    ['of the organization as apikey', () => ({ apikey: organization.key })],
    ['of the organization as Bearer', () => ({ authorization: `Bearer ${organization.key}` })],
    ['of the instance as apikey', () => ({ apikey: instance.token })],
    ['of the instance as Bearer', () => ({ authorization: `bearer ${instance.token}` })],
    [
      'of the instance as apikey, with a wrong Bearer',
      () => ({ apikey: instance.token, authorization: 'Bearer nonsense' }),
    ],
  ])('%s gives access to the instance', async (_name, headers) => {
    expect((await world.request('GET', STATE, { headers: headers() })).status).toBe(200)
  })

  it('stops working when it expires', async () => {
    const { key } = await issueKey({ expires_at: new Date(world.now().getTime() + HOUR_MS).toISOString() })
    expect((await world.request('GET', STATE, { key })).status).toBe(200)
    world.advance(HOUR_MS)
    expect((await world.request('GET', STATE, { key })).body).toEqual(UNAUTHORIZED)
  })
})

describe('the token of an instance', () => {
  it('cannot create instances', async () => {
    const body = { instanceName: 'more', integration: 'WHATSAPP-BUSINESS' }
    const answer = await world.request('POST', '/gateway/instance/create', { key: instance.token, body })
    expect([answer.status, answer.body.error]).toEqual([403, 'Forbidden'])
    expect(answer.body.response.message[0]).toContain('API key of the organization')
  })

  it('is not valid in Interface A', async () => {
    const answer = await world.request('GET', '/contact?chat_id=5511987654321', { key: instance.token })
    expect(answer.status).toBe(401)
  })

  it('stops working as soon as the instance is deleted', async () => {
    const { token } = await createInstance(world, organization, { instanceName: 'short' })
    const path = '/gateway/instance/connectionState/short'
    expect((await world.request('GET', path, { key: token })).status).toBe(200)
    await world.request('DELETE', '/gateway/instance/delete/short', { key: organization.key })
    expect((await world.request('GET', path, { key: token })).body).toEqual(UNAUTHORIZED)
  })

  it('stops working when the organization is deleted', async () => {
    const gone = await world.createOrganization()
    const { token } = await createInstance(world, gone)
    await world.admin('DELETE', `/organizations/${gone.id}`)
    expect((await world.request('GET', STATE, { key: token })).body).toEqual(UNAUTHORIZED)
  })

  it('is not confused with tokens of concurrent requests', async () => {
    const ask = (name: string, key: string) =>
      world.request('GET', `/gateway/instance/connectionState/${name}`, { headers: { apikey: key } })
    const answers = await Promise.all([
      ask('shop', instance.token),
      ask('shop', sibling.token),
      ask('sibling', sibling.token),
      ask('foreign', foreign.token),
      ask('shop', 'unknown'),
    ])
    expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 200, 401])
  })
})

describe('an error', () => {
  function expectError(answer: Answer, status: number, error: string, message: unknown) {
    expect([answer.status, answer.body]).toEqual([status, { status, error, response: { message } }])
    expect(answer.headers.get('content-type')).toContain('application/json')
  }

  it.each(['/gateway/nothing', '/gateway/nothing/', '/gateway/%zz', '/gateway/message', '/gateway/instance/Create'])(
    '404 for %s, with and without a key, for any body',
    async (path) => {
      const message = [`Cannot POST ${path.replace(/\/$/, '')}`]
      for (const options of [{}, { key: organization.key, body: '{' }]) {
        expectError(await world.request('POST', `${path}?x=1`, options), 404, 'Not Found', message)
      }
    },
  )

  it('is a 404 in the form of Interface A for a path that only starts with /gateway', async () => {
    for (const path of ['/gatewayx', '/gatewayx/', '/contact/']) {
      expect((await world.request('GET', path)).body).toMatchObject({ success: false, error: 'Not found' })
    }
  })

  it('is a 405 with Allow for another method', async () => {
    const answer = await world.request('GET', '/gateway/instance/create')
    expectError(answer, 405, 'Method Not Allowed', [expect.stringContaining('takes POST, not GET')])
    expect(answer.headers.get('allow')).toBe('POST')
  })

  it('is a 400 for a body that is not a JSON object', async () => {
    for (const body of ['{', '[1]', 'null', '5']) {
      const answer = await world.request('POST', '/gateway/instance/create', { key: organization.key, body })
      expectError(answer, 400, 'Bad Request', [expect.stringContaining('The request body')])
    }
  })

  it('is a 400 with an array in an array for an invalid body', async () => {
    const create = (body: object) => world.request('POST', '/gateway/instance/create', { key: organization.key, body })
    expectError(await create({}), 400, 'Bad Request', [['instanceName is required and must not be empty']])
    expectError(await create({ instanceName: 5 }), 400, 'Bad Request', [['instanceName must be string']])
    expectError(await create({ instanceName: 'a\u0000' }), 400, 'Bad Request', [[expect.stringContaining('stored')]])
  })

  it('is a 415 unless the Content-Type is application/json, with or without charset', async () => {
    const create = (type: string) =>
      world.request('POST', '/gateway/instance/create', {
        key: organization.key,
        body: '{}',
        headers: { 'content-type': type },
      })
    expectError(await create('text/plain'), 415, 'Unsupported Media Type', [expect.stringContaining('text/plain')])
    expect((await create('Application/JSON; charset=utf-8')).status).toBe(400)
  })

  it('is a 413 for a body of more than 1 MB', async () => {
    const head = `POST /gateway/instance/create HTTP/1.1\r\nHost: x\r\nConnection: close\r\napikey: ${organization.key}\r\nContent-Type: application/json\r\n`
    const text = JSON.stringify({ name: 'x'.repeat(1_048_576) })
    const answer = await sendRaw(world.app.url, `${head}Content-Length: ${text.length}\r\n\r\n${text}`)
    const { status, body } = readRaw(answer)
    const message = [expect.stringContaining('1048576')]
    expect([status, body]).toEqual([413, { status: 413, error: 'Payload Too Large', response: { message } }])
  })
})
