import { pino } from 'pino'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read.js'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { forAllPurposes } from '../support/database.js'
import { ENDPOINTS, urlOf } from '../support/endpoints.js'
import { createInstance } from '../support/instances.js'
import { operationsOf } from '../support/openapi.js'
import { type DatabaseProxy, startProxy } from '../support/proxy.js'
import { type Answer, useOrganization, useWorld } from '../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let proxy: DatabaseProxy
let database: Database
let app: App

beforeAll(async () => {
  proxy = await startProxy(world.database.connection)
  database = openDatabase(proxy.connection, 5, () => undefined)
  app = await startSecondApp(database)
})

/** A second service of the world with its own connection to the database. */
async function startSecondApp(database: Database): Promise<App> {
  const read = readConfig({ PARLEY_PORT: '0', PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl })
  if (!read.ok) throw new Error(read.problem)
  return startApp({
    config: read.config,
    secrets: { adminToken: world.adminToken, masterKeys: ['master-key-of-the-tests'] },
    log: pino({ level: 'silent' }),
    databases: forAllPurposes(database),
    upstreamUrl: world.simulator.upstreamUrl,
    simulator: null,
    runWorker: false,
  })
}

afterAll(async () => {
  await app.close()
  await database.close()
  await proxy.close()
})

async function ask(method: string, path: string, token: string, body?: unknown): Promise<Answer> {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const response = await fetch(`${app.url}${path}`, { method, headers, body: body ? JSON.stringify(body) : null })
  return { status: response.status, headers: response.headers, body: await response.json() }
}

const CALLS = [
  ...ENDPOINTS.map((endpoint) => ({
    name: `${endpoint.method} ${endpoint.path}`,
    call: () => ask(endpoint.method, urlOf(endpoint), organization.key, endpoint.body),
  })),
  { name: 'GET /admin/organizations', call: () => ask('GET', '/admin/organizations', world.adminToken) },
  {
    name: 'POST /admin/organizations',
    call: () => ask('POST', '/admin/organizations', world.adminToken, { name: 'Shop', slug: 'unavailable' }),
  },
]

describe('a database that is unavailable', () => {
  it.each(CALLS)('makes $name answer 503, until it is back', async ({ call }) => {
    expect((await call()).status).toBeLessThan(500)
    await proxy.cut()
    try {
      const answers = await Promise.all([call(), call(), call()])
      for (const { status, headers, body } of [...answers, await call()]) {
        expect(status).toBe(503)
        expect(body).toMatchObject({ success: false, error: 'Service unavailable', message: expect.any(String) })
        expect(body.retry_after).toBeGreaterThanOrEqual(1)
        expect(headers.get('retry-after')).toBe(String(body.retry_after))
      }
    } finally {
      await proxy.restore()
    }
    expect((await call()).status).toBeLessThan(500)
  })

  it('makes every endpoint of the gateway answer 503 in its own format, with the key and with a token', async () => {
    const { token } = await createInstance(world, organization)
    const operations = operationsOf((await world.request('GET', '/gateway/openapi.json')).body)
    const made = { instanceName: 'another', integration: 'WHATSAPP-BUSINESS' }
    const calls = operations.flatMap((operation) => {
      const [method = '', path = ''] = operation.replace('{instance}', 'shop').split(' ')
      const body = method === 'GET' ? undefined : made
      return [organization.key, token].map((key) => () => ask(method, path, key, body))
    })
    const state = () => ask('GET', '/gateway/instance/connectionState/shop', token)
    expect((await state()).status).toBe(200)
    await proxy.cut()
    try {
      for (const { status, headers, body } of await Promise.all(calls.map((call) => call()))) {
        const response = { message: [expect.stringMatching(/./)], retry_after: expect.any(Number) }
        expect([status, body]).toEqual([503, { status, error: 'Service Unavailable', response }])
        expect(headers.get('retry-after')).toBe(String(body.response.retry_after))
      }
    } finally {
      await proxy.restore()
    }
    expect((await state()).status).toBe(200)
  })

  it('is named by /readyz, while /healthz and /metrics continue to work', async () => {
    const get = async (path: string) => {
      const response = await fetch(`${app.url}${path}`)
      return { status: response.status, text: await response.text() }
    }
    expect((await get('/readyz')).status).toBe(200)
    await proxy.cut()
    try {
      const ready = await get('/readyz')
      expect(ready.status).toBe(503)
      expect(ready.text).toContain('database')
      expect((await get('/healthz')).status).toBe(200)
      expect((await get('/metrics')).status).toBe(200)
    } finally {
      await proxy.restore()
    }
    await expect.poll(async () => (await get('/readyz')).status).toBe(200)
  })
})

describe('a database that does not answer', () => {
  it('does not keep /metrics: what cannot be read is absent or NaN, until it answers', async () => {
    const metrics = async () => (await fetch(`${app.url}/metrics`)).text()
    // Connections that the tests before have cut are replaced first.
    await expect.poll(metrics).toMatch(/^parley_processes\{.*\} 2$/m)
    proxy.freeze()
    try {
      // Nothing ends the statements of these connections, so a scrape that waited for them would never be answered.
      const frozen = await metrics()
      expect(frozen).not.toMatch(/^parley_processes\{/m)
      expect(frozen).not.toMatch(/^parley_table_bytes\{/m)
      expect(frozen).toMatch(/^parley_callbacks_waiting nan$/im)
      expect(frozen).toMatch(/^parley_jobs_due\{class="\w+"\} nan$/im)
      expect(frozen).toMatch(/^parley_database_connections\{.*\} \d+$/m)
      expect(await metrics()).not.toMatch(/^parley_processes\{/m)
    } finally {
      proxy.thaw()
    }
    await expect.poll(metrics).toMatch(/^parley_processes\{.*\} 2$/m)
  })
})

describe('a closed pool', () => {
  it('is answered with 503, and named by /readyz', async () => {
    const closing = openDatabase(world.database.connection, 3, () => undefined)
    const second = await startSecondApp(closing)
    // It ends when the service closes its last connection.
    const closed = closing.close()
    try {
      const ready = await fetch(`${second.url}/readyz`)
      expect(ready.status).toBe(503)
      const { problems } = (await ready.json()) as { problems: object }
      expect(Object.keys(problems).sort()).toEqual(['database', 'migrations'])
      const headers = { authorization: `Bearer ${organization.key}` }
      expect((await fetch(`${second.url}/contact?chat_id=5511987654321`, { headers })).status).toBe(503)
    } finally {
      await second.close()
      await closed
    }
  })
})
