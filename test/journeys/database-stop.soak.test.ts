import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { patience } from '../support/patience.js'
import type { TestOrganization } from '../support/world.js'
import { type Clients, startClients } from './support/clients.js'
import { type DatabaseServer, startDatabaseServer } from './support/database-server.js'
import { endPrograms } from './support/programs.js'
import { expectAcknowledged, expectSettled } from './support/rounds.js'
import {
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
  urlOf,
} from './support/service.js'
import {
  countDeliveries,
  createFeedReader,
  expectAllTaken,
  expectInOrder,
  expectSameInLog,
  type FeedReader,
  readLog,
} from './support/webhook-proof.js'
import { registerWitness, type Witness } from './support/webhook-witness.js'

const ENOUGH = 10

let folder: Awaited<ReturnType<typeof makeFolder>>
let server: DatabaseServer
let sandbox: Sandbox
let service: Service
let organization: TestOrganization
let witness: Witness
let feed: FeedReader
let clients: Clients | undefined

beforeAll(async () => {
  folder = await makeFolder()
  server = await startDatabaseServer(folder.path)
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2 })
  const env = {
    ...sharedSecrets,
    PARLEY_DATABASE_URL: urlOf(server.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  service = await startService(env, ['--migrate'])
  organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
  witness = await registerWitness(service, organization, 'witness', () => ({ status: 204, afterMs: 0 }))
  await witness.open()
  feed = createFeedReader(organization)
})

afterAll(async () => {
  await clients?.end().catch(() => undefined)
  await endPrograms()
  await witness?.close()
  await server?.remove()
  await folder?.remove()
})

describe('a database that is stopped during traffic and started again', () => {
  it.each([
    ['in order', 'SIGINT', '5511960710'],
    ['at once', 'SIGQUIT', '5511960720'],
    ['by a crash', 'SIGKILL', '5511960730'],
  ] as const)(
    '%s: requests are refused in the meantime, accepted data is kept, and everything continues without help',
    async (name, signal, prefix) => {
      const people = Array.from({ length: 8 }, (_, index) => `${prefix}10${index}`)
      for (const phone_number of people) {
        await succeed(service.request('POST', '/contact', { key: organization.key, body: { phone_number } }))
      }
      const logged = service.program.errors.length
      clients = startClients(service, organization, name, people)
      await untilTaken(clients, ENOUGH)

      await server.stop(signal)
      await untilReady(503)
      await untilPutOff(clients)
      const { taken } = structuredClone({ taken: clients.taken })
      await server.start()
      await untilReady(200)
      await untilTaken(clients, Math.max(...Object.values(taken)) + ENOUGH)
      await expectSignals()
      await expectTold(logged)
      await clients.end()

      expect(clients.surprises).toEqual([])
      const stage = { sandbox, service, organization }
      await expectAcknowledged(stage, clients.round)
      await expectSettled(stage, clients.round)
      for (const [person, summary] of clients.summaries) {
        const { body } = await succeed(service.request('GET', `/contact?chat_id=${person}`, { key: organization.key }))
        expect(body.contact.contact_summary).toBe(summary)
      }
      await expectNoCallbackLeft()
      await expectDelivered()
    },
  )
})

function untilTaken({ taken, surprises }: Clients, count: number): Promise<void> {
  return vi.waitFor(() => {
    expect(surprises).toEqual([])
    for (const one of Object.values(taken)) expect(one).toBeGreaterThanOrEqual(count)
  }, patience)
}

function untilPutOff({ putOff }: Clients): Promise<void> {
  return vi.waitFor(() => {
    for (const one of Object.values(putOff)) expect(one).toBeGreaterThan(0)
  }, patience)
}

function untilReady(status: number): Promise<void> {
  return vi.waitFor(async () => expect(await service.request('GET', '/readyz')).toMatchObject({ status }), patience)
}

/** How often one of the two lines may be in the log: again each minute, and for an outage in parts. */
const FEW = 10

/** The log has the outage and its end, in few lines, since it had so many. */
async function expectTold(logged: number): Promise<void> {
  await vi.waitFor(() => {
    const lines = service.program.errors.slice(logged)
    const told = ['the database does not answer', 'the database answers again'].map((text) =>
      lines.flatMap((line, index) => (line.includes(text) ? [index] : [])),
    )
    for (const places of told) {
      expect(places.length).toBeGreaterThan(0)
      expect(places.length).toBeLessThanOrEqual(FEW)
    }
    const [[begun] = [], ended = []] = told
    expect(ended.at(-1)).toBeGreaterThan(Number(begun))
  }, patience)
}

/** Other processes hear again that there is something new. */
async function expectSignals(): Promise<void> {
  await withDatabase(async ({ pool }) => {
    const client = await pool.connect()
    const payloads: string[] = []
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    await client.query('LISTEN parley_signals')
    await vi.waitFor(() => expect(payloads.join()).toContain(organization.id), patience)
    client.release(true)
  })
}

/** Every callback has been processed, including those in progress when the database stopped. */
async function expectNoCallbackLeft(): Promise<void> {
  await withDatabase(({ pool }) =>
    vi.waitFor(async () => {
      const { rows } = await pool.query(
        `SELECT id FROM callbacks WHERE waiting UNION ALL SELECT callback_id FROM set_aside_callbacks`,
      )
      expect(rows).toEqual([])
    }, patience),
  )
}

/** Every event has come to the endpoint, in the order of its contact, and each request stands in the log. */
async function expectDelivered(): Promise<void> {
  await feed.readOn(service)
  await vi.waitFor(async () => {
    expect(witness.taken.size).toBe(feed.events.length)
    expect(await countDeliveries(service, organization, 'pending')).toBe(0)
  }, patience)
  expectAllTaken(witness, feed.events)
  expectInOrder(witness, feed.events)
  expect(expectSameInLog(witness, feed.events, await readLog(service, organization))).toBe(0)
}

async function withDatabase(work: (database: Database) => Promise<void>): Promise<void> {
  const database = openDatabase(server.connection, 2, () => undefined)
  try {
    await work(database)
  } finally {
    await database.close()
  }
}
