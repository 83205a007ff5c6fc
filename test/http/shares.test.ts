import { pino } from 'pino'
import { afterEach, beforeAll, describe, expect, it } from 'vitest'
import { type App, startApp } from '../../src/app.js'
import { readConfig } from '../../src/config/read.js'
import { type Database, openDatabase, type PoolLimits } from '../../src/database/pool.js'
import { forAllPurposes } from '../support/database.js'
import { type Held, hold, untilWaiting } from '../support/locks.js'
import { type TestOrganization, useOrganization, useWorld } from '../support/world.js'

const CHAT_ID = '5511987654321'
/** Of six connections, one organization may use two. */
const LIMITS: PoolLimits = {
  ofOneOrganization: 2,
  ofOrganizations: 4,
  ofNoOrganization: 3,
  ofHeavyStatements: 2,
  waitMs: 60_000,
  statementMs: 60_000,
  idleInTransactionMs: 60_000,
}

const world = useWorld()
const noisy = useOrganization(world)
const quiet = useOrganization(world)
let requests: Database
let app: App
let held: Held | null = null

beforeAll(async () => {
  for (const { key } of [noisy, quiet]) {
    await world.request('POST', '/contact', { key, body: { chat_id: CHAT_ID } })
  }
})

afterEach(async () => {
  await held?.release()
  held = null
  await app.close()
  await requests.close()
})

/** A second process of the service with its own connections for requests. */
async function start(limits: Partial<PoolLimits>): Promise<void> {
  requests = openDatabase(world.database.connection, 6, () => undefined, { limits: { ...LIMITS, ...limits } })
  const read = readConfig({
    PARLEY_PORT: '0',
    PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
  })
  if (!read.ok) throw new Error(read.problem)
  app = await startApp({
    config: read.config,
    secrets: { adminToken: world.adminToken, masterKeys: ['master-key-of-the-tests'] },
    log: pino({ level: 'silent' }),
    databases: { ...forAllPurposes(world.database), requests },
    upstreamUrl: world.simulator.upstreamUrl,
    simulator: null,
    runWorker: false,
  })
}

async function ask(organization: TestOrganization, method: string, body?: object) {
  const response = await fetch(`${app.url}/contact?chat_id=${CHAT_ID}`, {
    method,
    headers: { authorization: `Bearer ${organization.key}`, 'content-type': 'application/json' },
    body: body ? JSON.stringify(body) : null,
  })
  // biome-ignore lint/suspicious/noExplicitAny: a test looks into the body
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

/** Imports the contact, which is one heavy statement. */
async function importContact({ key }: TestOrganization): Promise<number> {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'text/csv' }
  const body = `chat_id,full_name\n${CHAT_ID},Imported`
  return (await fetch(`${app.url}/contacts/import`, { method: 'POST', headers, body })).status
}

/** Locks the contact, so that changes of it wait in PostgreSQL until the lock is released. */
async function lockContact(organization: TestOrganization): Promise<void> {
  held = await hold(world.database, 'SELECT FROM contacts WHERE organization_id = $1 AND chat_id = $2 FOR UPDATE', [
    organization.id,
    CHAT_ID,
  ])
}

const change = (organization: TestOrganization, n = 0) => ask(organization, 'PATCH', { full_name: `Name ${n}` })

describe('an organization with many slow requests', () => {
  it('uses no more than its share, while others are answered', async () => {
    await start({})
    await lockContact(noisy)
    const answered: string[] = []
    const changes = Array.from({ length: 20 }, async (_, n) => {
      const { status } = await change(noisy, n)
      answered.push(`noisy ${status}`)
    })
    await expect.poll(() => requests.figures().waiting).toBeGreaterThan(10)
    for (let n = 0; n < 10; n++) answered.push(`quiet ${(await ask(quiet, 'GET')).status}`)
    answered.push(`quiet ${(await change(quiet)).status}`)
    expect(requests.figures()).toMatchObject({ size: 6, inUse: 2 })
    const metrics = await (await fetch(`${app.url}/metrics`)).text()
    expect(metrics).toContain('parley_database_connections{purpose="requests",state="in_use"} 2')
    expect(metrics).toContain('parley_database_connections{purpose="requests",state="limit"} 6')
    expect(metrics).toMatch(/parley_database_waiting\{purpose="requests"\} 1\d/)
    await held?.release()
    await Promise.all(changes)
    expect(answered).toEqual([...Array(11).fill('quiet 200'), ...Array(20).fill('noisy 200')])
  })

  it('runs its heavy statements one after the other, while its other requests are answered', async () => {
    await start({})
    await lockContact(noisy)
    const imports = [importContact(noisy), importContact(noisy), importContact(noisy)]
    await expect.poll(() => requests.figures()).toMatchObject({ inUse: 1, waiting: 2 })
    expect((await ask(noisy, 'GET')).status).toBe(200)
    expect(await importContact(quiet)).toBe(200)
    await expect.poll(() => requests.figures()).toMatchObject({ inUse: 1, waiting: 2 })
    await held?.release()
    expect(await Promise.all(imports)).toEqual([200, 200, 200])
  })

  it('answers 429 with Retry-After to those that waited too long', async () => {
    await start({ waitMs: 200 })
    // The key is known by then.
    await ask(noisy, 'GET')
    await lockContact(noisy)
    const changes = [change(noisy), change(noisy)]
    await untilWaiting(world.database, 2)
    const refused = await change(noisy)
    expect(refused.status).toBe(429)
    expect(refused.body).toMatchObject({ success: false, error: 'Too many requests', retry_after: 2 })
    expect(refused.body.message).toMatch(/other requests of your organization/)
    expect(refused.headers.get('retry-after')).toBe('2')
    await held?.release()
    expect((await Promise.all(changes)).map(({ status }) => status)).toEqual([200, 200])
  })
})

describe('a request without a free connection', () => {
  it('is answered with 503 and Retry-After', async () => {
    await start({ waitMs: 200, ofOrganizations: 2 })
    await ask(quiet, 'GET')
    await lockContact(noisy)
    const changes = [change(noisy), change(noisy)]
    await untilWaiting(world.database, 2)
    const refused = await change(quiet)
    expect(refused.status).toBe(503)
    expect(refused.body).toMatchObject({ success: false, error: 'Service unavailable', retry_after: 2 })
    expect(refused.headers.get('retry-after')).toBe('2')
    await held?.release()
    await Promise.all(changes)
  })
})

describe('a statement that takes too long', () => {
  it('ends, changes nothing, and is answered with 503 that says what to do', async () => {
    await start({ statementMs: 300 })
    const before = (await ask(noisy, 'GET')).body.contact
    await lockContact(noisy)
    const stopped = await change(noisy, 99)
    expect(stopped.status).toBe(503)
    expect(stopped.body).toMatchObject({ error: 'Service unavailable', retry_after: 10 })
    expect(stopped.body.message).toMatch(/more than 10 s.*ask for less/)
    expect(stopped.headers.get('retry-after')).toBe('10')
    await held?.release()
    expect((await ask(noisy, 'GET')).body.contact).toEqual(before)
    expect(requests.figures()).toMatchObject({ inUse: 0, waiting: 0 })
  })
})
