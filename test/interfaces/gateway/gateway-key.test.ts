import { pino } from 'pino'
import { beforeAll, describe, expect, it } from 'vitest'
import { createInstance, scan } from '../../support/instances.js'
import {
  type RequestOptions,
  startWorld,
  type TestOrganization,
  useOrganization,
  useWorld,
} from '../../support/world.js'

const KEY = 'B6D711FCDE4D4FD5936544120E713976'

const logged: string[] = []
const log = pino({ level: 'trace' }, { write: (line: string) => void logged.push(line) })
const world = useWorld({ PARLEY_GATEWAY_KEY: KEY, PARLEY_GATEWAY_ORGANIZATION: 'keyed' }, log)
const other = useOrganization(world)
let organization: TestOrganization

beforeAll(async () => {
  organization = await world.createOrganization({ slug: 'keyed' })
})

const ask = (method: string, path: string, options: RequestOptions = {}) =>
  world.request(method, `/gateway${path}`, { headers: { apikey: KEY }, ...options })
const names = async (options: RequestOptions = {}) =>
  (await ask('GET', '/instance/fetchInstances', options)).body.map(({ name }: { name: string }) => name)

describe('PARLEY_GATEWAY_KEY', () => {
  it('creates and lists instances of its organization, as header apikey and as bearer token', async () => {
    await createInstance(world, other, { instanceName: 'theirs', integration: 'SANDBOX' })
    const made = await ask('POST', '/instance/create', { body: { instanceName: 'shop', integration: 'SANDBOX' } })
    expect(made.status, JSON.stringify(made.body)).toBe(201)
    expect(made.body.hash).toMatch(/^[0-9A-F-]{36}$/)
    expect(await names()).toEqual(['shop'])
    expect(await names({ key: KEY, headers: {} })).toEqual(['shop'])
    expect(await names({ key: organization.key, headers: {} })).toEqual(['shop'])
    expect(await names({ key: other.key, headers: {} })).toEqual(['theirs'])
    const [row] = (await ask('GET', '/instance/fetchInstances?instanceName=shop')).body
    expect(row.token).toBe(made.body.hash)
    expect((await ask('GET', '/instance/fetchInstances?instanceName=theirs')).status).toBe(404)
  })

  it('leaves the rest to the token of the instance that it has made', async () => {
    const made = await ask('POST', '/instance/create', { body: { instanceName: 'phone', integration: 'SANDBOX' } })
    const headers = { apikey: made.body.hash }
    expect((await ask('GET', '/instance/connect/phone', { headers })).status).toBe(200)
    await scan(world, organization, 'phone', '5511988887777')
    await world.settle()
    const body = { number: '5511987654321', text: 'Olá' }
    expect((await ask('POST', '/message/sendText/phone', { headers, body })).status).toBe(201)
  })

  it.each([
    ['GET', '/instance/connectionState/shop'],
    ['GET', '/instance/connect/shop'],
    ['DELETE', '/instance/delete/shop'],
    ['DELETE', '/instance/logout/shop'],
    ['GET', '/settings/find/shop'],
    ['GET', '/webhook/find/shop'],
    ['POST', '/chat/findMessages/shop'],
    ['POST', '/message/sendText/shop'],
    ['POST', '/message/sendText/theirs'],
    ['POST', '/message/sendText/unknown'],
  ])('opens nothing else: %s %s', async (method, path) => {
    const options = method === 'POST' ? { body: { number: '5511987654321', text: 'Olá' } } : {}
    const { status, body } = await ask(method, path, options)
    expect([status, body.response.message]).toEqual([
      403,
      [expect.stringMatching(/^PARLEY_GATEWAY_KEY creates and lists instances only: use the token of the instance/)],
    ])
  })

  it('is no key of the other APIs', async () => {
    for (const path of ['/get-webhooks', '/conversations?action=contacts', '/admin/organizations']) {
      expect((await world.request('GET', path, { key: KEY })).status).toBe(401)
    }
  })

  it('must be given whole', async () => {
    for (const apikey of [KEY.slice(1), `${KEY}0`, KEY.toLowerCase()]) {
      expect((await ask('GET', '/instance/fetchInstances', { headers: { apikey } })).status).toBe(401)
    }
  })

  it('repeats the answer of a creation, for the same Idempotency-Key', async () => {
    const headers = { apikey: KEY, 'idempotency-key': 'one' }
    const body = { instanceName: 'once', integration: 'SANDBOX' }
    const first = await ask('POST', '/instance/create', { headers, body })
    const again = await ask('POST', '/instance/create', { headers, body })
    expect([again.status, again.body]).toEqual([201, first.body])
  })

  it('is not in the log', () => {
    expect(logged.length).toBeGreaterThan(0)
    expect(logged.filter((line) => line.includes(KEY))).toEqual([])
  })

  it('ends with its organization, and works for one of the same name', async () => {
    expect((await world.admin('DELETE', `/organizations/${organization.id}`)).status).toBe(200)
    await world.drain()
    const gone = await ask('GET', '/instance/fetchInstances')
    expect([gone.status, gone.body.response.message]).toEqual([401, 'Unauthorized'])
    expect(logged.some((line) => line.includes('PARLEY_GATEWAY_ORGANIZATION does not exist'))).toBe(true)
    await world.createOrganization({ slug: 'keyed' })
    expect(await names()).toEqual([])
  })
})

describe('a service without PARLEY_GATEWAY_KEY', () => {
  it('refuses every key that it does not know, with one and the same answer', async () => {
    const plain = await startWorld()
    try {
      const answers = await Promise.all(
        [KEY, 'parley_0', 'undefined', 'null'].map((apikey) =>
          plain.request('GET', '/gateway/instance/fetchInstances', { headers: { apikey } }),
        ),
      )
      for (const { status, body } of answers) expect([status, body]).toEqual([401, answers[0]?.body])
    } finally {
      await plain.close()
    }
  })
})
