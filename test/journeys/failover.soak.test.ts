import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { type Database, openDatabase } from '../../src/database/pool.js'
import { listProcesses } from '../../src/storage/processes/process-registry.js'
import { patience } from '../support/patience.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import { findPostgres } from './support/archiving-server.js'
import {
  controlBroadcast,
  countSendingJobs,
  OFFER,
  readProgress,
  readRecipients,
  untilCallbacksAreWorkedOff,
} from './support/broadcasts.js'
import { type Clients, startClients } from './support/clients.js'
import { endPrograms, runProgram } from './support/programs.js'
import { hasProxy } from './support/proxies.js'
import { expectAcknowledged, expectSettled } from './support/rounds.js'
import { type ServerPair, startServerPair } from './support/server-pair.js'
import {
  createOrganization,
  makeFolder,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  succeed,
} from './support/service.js'
import { countDeliveries, createFeedReader, expectAllTaken, expectInOrder } from './support/webhook-proof.js'
import { registerWitness, type Witness } from './support/webhook-witness.js'

/** How often each client is to succeed before the failover, and after it. */
const ENOUGH = 10
const RECIPIENTS = 1_500
/** So slow that the broadcast runs for some seconds. */
const MESSAGES_PER_SECOND = 100
/** How many recipients have a message when the primary dies. */
const BEFORE = 100
/** Two organizations write with the same people. */
const people = Array.from({ length: 8 }, (_, index) => `551196074010${index}`)

/** An organization with clients at one of the processes, and with a webhook. */
interface Load {
  service: Service
  organization: TestOrganization
  witness: Witness
  clients: Clients
}

describe.skipIf(findPostgres() === null || !hasProxy('haproxy'))('two processes whose primary dies under load', () => {
  let folder: Awaited<ReturnType<typeof makeFolder>>
  let pair: ServerPair
  let sandbox: Sandbox
  let env: Record<string, string>
  let services: Service[]
  /** Has a broadcast, and nothing else. */
  let sender: TestOrganization
  let database: Database
  let loads: Load[]

  beforeAll(async () => {
    folder = await makeFolder()
    pair = await startServerPair(String(findPostgres()), folder.path)
    database = openDatabase({ connectionString: pair.url }, 4, () => undefined)
    sandbox = await startSandbox()
    await sandbox.control('POST', '/settings', { delay_ms: 2, batch: 20 })
    env = {
      ...sharedSecrets,
      PARLEY_DATABASE_URL: pair.url,
      PARLEY_DATA_DIR: folder.path,
      PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
      PARLEY_RATE_LIMIT: '0',
      PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
    }
    const first = await startService(env, ['--migrate'])
    services = [first, await startService(env)]
    sender = await createOrganization(first, { messages_per_second: MESSAGES_PER_SECOND, pair_limit: false })
    loads = []
    for (const [n, service] of services.entries()) loads.push(await startLoad(service, `of ${n}`))
  })

  afterAll(async () => {
    await Promise.all((loads ?? []).map(({ clients }) => clients.end().catch(() => undefined)))
    await endPrograms()
    await Promise.all((loads ?? []).map(({ witness }) => witness.close()))
    await database?.close()
    await pair?.stop()
    await folder?.remove()
  })

  /** `name` stands in all that the clients of the organization ask for. */
  async function startLoad(service: Service, name: string): Promise<Load> {
    const organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
    const witness = await registerWitness(service, organization, 'witness', () => ({ status: 204, afterMs: 0 }))
    await witness.open()
    for (const phone_number of people) {
      await succeed(service.request('POST', '/contact', { key: organization.key, body: { phone_number } }))
    }
    return { service, organization, witness, clients: startClients(service, organization, name, people) }
  }

  async function startBroadcast({ request }: Service): Promise<string> {
    const recipients = Array.from({ length: RECIPIENTS }, (_, n) => ({ chatNumber: `551195${1_000_010 + n}` }))
    const body = { name: 'To all', ...OFFER, audience: { recipients } }
    return (await succeed(request('POST', '/broadcasts', { key: sender.key, body }))).body.broadcast.id
  }

  /** What the upstream has accepted from the number of an organization. */
  const acceptedOf = async ({ phoneNumberId }: TestOrganization) =>
    (await sandbox.accepted()).filter(({ phone_number_id }) => phone_number_id === phoneNumberId)

  it('continue with the standby, and nothing is lost or done twice', async () => {
    const [first, second] = services as [Service, Service]
    for (const load of loads) await untilTaken(load, ENOUGH)
    const broadcastId = await startBroadcast(first)
    await until(async () => (await readProgress(database, broadcastId)).recorded >= BEFORE)

    await pair.killPrimary()
    for (const load of loads) await untilAway(load)
    const taken = structuredClone(loads.map(({ clients }) => clients.taken))
    await pair.promoteStandby()

    for (const [n, load] of loads.entries()) {
      await untilReady(load.service, 200)
      await untilTaken(load, Math.max(...Object.values(taken[n] ?? {})) + ENOUGH)
      await expectSignalsOf(load.organization)
    }
    await until(async () => (await listProcesses(database)).length === services.length)
    for (const { clients } of loads) {
      await clients.end()
      expect(clients.surprises).toEqual([])
    }
    await expectBroadcastSentOnce(second, broadcastId)
    for (const load of loads) await expectKept(load)
    const verified = await runProgram(['verify', '--json'], { env })
    expect(JSON.parse(verified.output.join('\n'))).toMatchObject({ violations: [] })
  })

  /** One of the processes has paused it, since a standby may lack messages. It continues when it is resumed. */
  async function expectBroadcastSentOnce(service: Service, id: string): Promise<void> {
    await vi.waitFor(async () => {
      const shown = await succeed(service.request('GET', `/broadcasts/${id}`, { key: sender.key }))
      expect(shown.body.broadcast).toMatchObject({ status: 'paused', reason: 'restored' })
    }, patience)
    const logged = services.flatMap(({ program }) => program.errors)
    expect(logged.filter((line) => line.includes('"waitingBroadcasts":1'))).toHaveLength(1)
    await until(async () => (await countSendingJobs(database)) === 0)
    expect((await readProgress(database, id)).recorded).toBeLessThan(RECIPIENTS)

    await controlBroadcast(service, sender, id, 'resume')
    await until(async () => (await readProgress(database, id)).recorded === RECIPIENTS)
    await until(async () => (await countSendingJobs(database)) === 0)
    await untilCallbacksAreWorkedOff(sandbox, database)
    const reached = (await acceptedOf(sender)).map(({ to }) => to).sort()
    expect(new Set(reached).size).toBe(reached.length)
    const { numbersOf, total } = await readRecipients(service, sender, id)
    expect(total).toBe(RECIPIENTS)
    expect(numbersOf('read')).toEqual(reached)
    // Their messages were recorded when the primary died, and it is not known whether they were sent.
    expect(numbersOf('pending')).toHaveLength(RECIPIENTS - reached.length)
  }

  /** Each organization has what it was promised, once, and nothing of the other one. */
  async function expectKept({ service, organization, witness, clients: { round, summaries } }: Load): Promise<void> {
    const stage = { service, organization, sandbox: { ...sandbox, accepted: () => acceptedOf(organization) } }
    await expectAcknowledged(stage, round)
    await expectSettled(stage, round)
    for (const [person, summary] of summaries) {
      const { body } = await succeed(service.request('GET', `/contact?chat_id=${person}`, { key: organization.key }))
      expect(body.contact.contact_summary).toBe(summary)
    }
    const { rows } = await database.pool.query(
      'SELECT id FROM callbacks WHERE waiting UNION ALL SELECT callback_id FROM set_aside_callbacks',
    )
    expect(rows).toEqual([])
    const feed = createFeedReader(organization)
    await vi.waitFor(async () => {
      await feed.readOn(service)
      expect(witness.taken.size).toBe(feed.events.length)
      expect(await countDeliveries(service, organization, 'pending')).toBe(0)
    }, patience)
    expectAllTaken(witness, feed.events)
    expectInOrder(witness, feed.events)
  }

  /** Other processes hear of what is new. */
  async function expectSignalsOf({ id }: TestOrganization): Promise<void> {
    const client = await database.pool.connect()
    const payloads: string[] = []
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    await client.query('LISTEN parley_signals')
    await until(() => payloads.join().includes(id))
    client.release(true)
  }
})

function untilTaken({ clients: { taken, surprises } }: Load, count: number): Promise<void> {
  return vi.waitFor(() => {
    expect(surprises).toEqual([])
    for (const one of Object.values(taken)) expect(one).toBeGreaterThanOrEqual(count)
  }, patience)
}

/** Its process is not ready, and puts off requests of every kind. */
async function untilAway({ service, clients: { putOff } }: Load): Promise<void> {
  await untilReady(service, 503)
  await vi.waitFor(() => {
    for (const one of Object.values(putOff)) expect(one).toBeGreaterThan(0)
  }, patience)
}

function untilReady(service: Service, status: number): Promise<void> {
  return vi.waitFor(async () => expect(await service.request('GET', '/readyz')).toMatchObject({ status }), patience)
}
