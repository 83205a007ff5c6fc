import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import { pino } from 'pino'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read.js'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { forAllPurposes } from '../support/database.js'
import { useWorld } from '../support/world.js'

const TOKEN = 'a-token-for-the-metrics'

const world = useWorld()
let dataDir: string
let lines: string[]
let started: App | undefined

beforeAll(async () => {
  dataDir = await mkdtemp(join(tmpdir(), 'parley-probes-'))
})

afterEach(async () => {
  await started?.close()
  started = undefined
})

afterAll(() => rm(dataDir, { recursive: true }))

/** Another process of the world's service with its own settings, which registers numbers at the simulator as usual. */
async function start(env: Record<string, string>, database: Database = world.database): Promise<App> {
  lines = []
  const log = new Writable({
    write(chunk, _encoding, done) {
      lines.push(String(chunk))
      done()
    },
  })
  const read = readConfig({
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl,
    PARLEY_DATABASE_URL: 'postgres://unused/unused',
    PARLEY_DATA_DIR: dataDir,
    ...env,
  })
  if (!read.ok) throw new Error(read.problem)
  started = await startApp({
    config: read.config,
    secrets: { adminToken: world.adminToken, masterKeys: ['master-key-of-the-tests'] },
    log: pino({ level: 'warn' }, log),
    databases: forAllPurposes(database),
    upstreamUrl: world.simulator.upstreamUrl,
    simulator: { controlUrl: `${world.simulator.url}/_sim`, token: null, passesOn: true },
    runWorker: false,
  })
  return started
}

async function get({ url }: App, path: string, headers: Record<string, string> = {}) {
  const response = await fetch(`${url}${path}`, { headers })
  const text = await response.text()
  return { status: response.status, text, json: () => JSON.parse(text) }
}

describe.each(['worker', 'gateway', 'worker,gateway'])('a process with the roles %s', (roles) => {
  it('serves its probes and nothing else', async () => {
    const app = await start({ PARLEY_ROLES: roles })
    expect(app.url).toMatch(/^http:\/\/127\.0\.0\.1:[1-9]\d*$/)
    expect((await get(app, '/healthz')).json()).toMatchObject({ status: 'ok' })
    expect((await get(app, '/readyz')).json()).toMatchObject({ status: 'ready', numbers: { failed: 0 } })
    const metrics = await get(app, '/metrics')
    expect(metrics.text).toContain('parley_webhook_attempts_total')
    for (const path of ['/', '/contact', '/openapi.json', '/docs', '/console/', '/admin/organizations', '/gateway/']) {
      const answer = await get(app, path)
      expect({ path, status: answer.status }).toEqual({ path, status: 404 })
      expect(answer.json()).toMatchObject({ success: false, error: 'Not found' })
    }
    const posted = await fetch(`${app.url}/healthz`, { method: 'POST' })
    expect([posted.status, posted.headers.get('allow')]).toEqual([405, 'GET, HEAD'])
  })

  it('leaves the callbacks of the simulator to the processes that accept them', async () => {
    const organization = await world.createOrganization()
    const callbackUrl = async () => {
      const { body } = await world.sim('GET', '/numbers')
      return body.numbers.find(
        (number: Record<string, string>) => number.phone_number_id === organization.phoneNumberId,
      ).callback_url
    }
    const before = await callbackUrl()
    await start({ PARLEY_ROLES: roles, PARLEY_PUBLIC_URL: 'https://chat.example' })
    expect(await callbackUrl()).toBe(before)
    expect(lines).toEqual([])
  })
})

describe('/metrics', () => {
  const proxies: Record<string, string>[] = [{ 'x-forwarded-for': '203.0.113.7' }, { forwarded: 'for=203.0.113.7' }]

  it('answers 200 to this machine and 401 to a request that came through a proxy', async () => {
    const app = await start({})
    expect((await get(app, '/metrics')).status).toBe(200)
    for (const headers of proxies) {
      const answer = await get(app, '/metrics', headers)
      expect(answer.status).toBe(401)
      expect(answer.json()).toMatchObject({ success: false, error: 'Authorization required' })
      expect((await get(app, '/metrics', { ...headers, authorization: 'Bearer undefined' })).status).toBe(401)
    }
  })

  it('answers 200 to a request with the token, and 401 to one with another token', async () => {
    const app = await start({ PARLEY_METRICS_TOKEN: TOKEN })
    for (const headers of proxies) {
      expect((await get(app, '/metrics', { ...headers, authorization: `Bearer ${TOKEN}` })).status).toBe(200)
      for (const authorization of [`Bearer ${TOKEN}x`, 'Bearer ', `Basic ${TOKEN}`]) {
        expect((await get(app, '/metrics', { ...headers, authorization })).status).toBe(401)
      }
      expect((await get(app, '/metrics', headers)).status).toBe(401)
    }
    expect((await get(app, '/metrics')).status).toBe(200)
  })
})

describe('/readyz', () => {
  it('names what is unusable, and logs the reason once, without sending it', async () => {
    const closing = openDatabase(world.database.connection, 3, () => undefined)
    const app = await start({}, closing)
    // It ends when the service closes its last connection.
    const closed = closing.close()
    for (let times = 0; times < 3; times++) {
      const answer = await get(app, '/readyz')
      expect(answer.status).toBe(503)
      expect(Object.keys(answer.json().problems).sort()).toEqual(['database', 'migrations'])
      expect(answer.text).not.toContain('pool')
    }
    const told = lines.map((line) => JSON.parse(line)).filter(({ check }) => check === 'database')
    expect(told).toMatchObject([{ err: { message: expect.stringContaining('pool') } }])
    await app.close()
    started = undefined
    await closed
  })
})
