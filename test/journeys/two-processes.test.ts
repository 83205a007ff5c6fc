import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
  createOrganization,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
  urlOf,
} from './support/service.js'
import { type Inbound, readConversation, type Send, tellInbound, trySend } from './support/traffic.js'

const RATE = 20
/** The dead are looked for every 15 seconds. */

let database: TestDatabase
let sandbox: Sandbox
let one: Service
let other: Service
let organization: TestOrganization

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  one = await start({})
  organization = await createOrganization(one)
  other = await start({})
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

describe('two processes over one database', () => {
  it('both answer, and each sees the writes of the other', async () => {
    const { key } = organization
    await succeed(one.request('POST', '/contact', { key, body: { phone_number: '+5511960100001' } }))
    const send: Send = { key: 'through one', to: '5511960100001', text: 'through one', answers: [] }
    const first = await trySend(one, organization, send)
    const again = await trySend(other, organization, send)
    expect(first).toMatchObject({ status: 200 })
    expect(again).toMatchObject({ status: 200, body: first?.body })
    expect(again?.headers.get('idempotent-replayed')).toBe('true')
    expect((await sandbox.accepted()).filter(({ to }) => to === send.to)).toHaveLength(1)

    const inbound: Inbound = { id: 'wamid.other', from: send.to, text: 'through the other', acknowledged: false }
    await tellInbound(other, organization, inbound)
    await vi.waitFor(async () => {
      const { messages } = await readConversation(one, organization, send.to)
      expect(messages.map(({ message }) => message)).toEqual(['through one', 'through the other'])
    }, patience)
  })

  it('refuse a key from the next request after either revoked it', async () => {
    for (let round = 0; round < 10; round++) {
      const issued = await succeed(one.admin('POST', `/organizations/${organization.id}/keys`, { name: 'short' }))
      const { id, key } = issued.body.api_key
      const [revoking, using] = round % 2 === 0 ? [one, other] : [other, one]
      expect(await using.request('GET', '/contact?chat_id=5511960100009', { key })).toMatchObject({ status: 404 })
      await succeed(revoking.admin('DELETE', `/keys/${id}`))
      expect(await using.request('GET', '/contact?chat_id=5511960100009', { key })).toMatchObject({
        status: 401,
        body: { error: 'Invalid API key', message: expect.stringContaining('revoked') },
      })
    }
  })

  it('send once if both receive the same request at the same time', async () => {
    const { key } = organization
    await succeed(one.request('POST', '/contact', { key, body: { phone_number: '+5511960100002' } }))
    const sends = Array.from({ length: 10 }, (_, index): Send => {
      return { key: `both ${index}`, to: '5511960100002', text: `both ${index}`, answers: [] }
    })
    for (const send of sends) {
      const [left, right] = await Promise.all([one, other].map((service) => trySend(service, organization, send)))
      expect(left).toMatchObject({ status: 200, body: right?.body })
    }
    const accepted = (await sandbox.accepted()).filter(({ to }) => to === '5511960100002')
    expect(accepted.map(({ payload }) => payload.text.body)).toEqual(sends.map(({ text }) => text))
  })

  it('one works off the callbacks that the other stored, in order, if the other dies while working on them', async () => {
    const from = '5511960100003'
    const { key } = organization
    const made = await succeed(one.request('POST', '/contact', { key, body: { phone_number: from } }))
    const lock = await database.pool.connect()
    await lock.query('BEGIN')
    await lock.query('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [made.body.contact.id])
    const told = Array.from({ length: 5 }, (_, id): Inbound => {
      return { id: `wamid.held-${id}`, from, text: `held ${id}`, acknowledged: false }
    })
    for (const inbound of told) expect(await tellInbound(other, organization, inbound)).toBe(true)
    await vi.waitFor(async () => expect(await waitsInTurn()).toBe(true), patience)
    other.program.killGroup()
    expect(await other.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await lock.query('ROLLBACK')
    lock.release()

    await vi.waitFor(async () => {
      const { messages, total } = await readConversation(one, organization, from)
      expect(messages.map(({ message }) => message)).toEqual(told.map(({ text }) => text))
      expect(total).toBe(told.length)
    }, patience)
    expect(await one.request('GET', '/readyz')).toMatchObject({ status: 200 })
  })
})

describe('the rate limit of a key', () => {
  it('is shared, and exceeded by at most one batch per process', async () => {
    const limited = await Promise.all([
      start({ PARLEY_RATE_LIMIT: `${RATE}` }),
      start({ PARLEY_RATE_LIMIT: `${RATE}` }),
    ])
    const { key } = organization
    const began = Date.now()
    const answers = await Promise.all(
      Array.from({ length: 300 }, (_, index) =>
        limited[index % 2]?.request('GET', '/contact?chat_id=5511960100009', { key }),
      ),
    )
    const refilled = Math.ceil(((Date.now() - began) / 1_000) * RATE)
    const passed = answers.filter((answer) => answer?.status === 404).length
    const refused = answers.filter((answer) => answer?.status === 429)
    const batch = RATE / 10
    expect(passed + refused.length).toBe(answers.length)
    expect(passed).toBeGreaterThanOrEqual(2 * RATE)
    expect(passed).toBeLessThanOrEqual(2 * RATE + refilled + 2 * batch)
    expect(refused[0]).toMatchObject({ body: { error: 'Too many requests', retry_after: expect.any(Number) } })
    expect(refused[0]?.headers.get('retry-after')).toMatch(/^\d+$/)
  })
})

function start(env: Record<string, string>): Promise<Service> {
  return startService({
    ...sharedSecrets,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    ...env,
  })
}

/** Whether a process waits for a row in its turn with an organization's callbacks. */
async function waitsInTurn(): Promise<boolean> {
  const { rowCount } = await database.pool.query(
    `SELECT FROM pg_locks l JOIN pg_stat_activity a ON a.pid = l.pid
     WHERE l.locktype = 'advisory' AND l.classid = ${0x63_61_6c_6c} AND a.wait_event_type = 'Lock'
       AND l.database = (SELECT oid FROM pg_database WHERE datname = current_database())`,
  )
  return rowCount === 1
}
