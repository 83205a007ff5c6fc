import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import { untilCallbacksAreWorkedOff } from './support/broadcasts.js'
import { endPrograms, type Program, startProgram } from './support/programs.js'
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
import { type Inbound, type Send, seeded, tellInbound, trySend, workThrough } from './support/traffic.js'
import {
  countDeliveries,
  createFeedReader,
  expectAllTaken,
  expectInOrder,
  expectSameInLog,
  type FeedReader,
  letSecondRetriesFallDue,
  readLog,
} from './support/webhook-proof.js'
import { registerWitness, type Witness } from './support/webhook-witness.js'

/** With what becomes of the sends, and of the contacts. */
const EVENTS = 5_000
const CONTACTS = 200
const INBOUNDS = 4_500
const SENDS = 120
const WIDTH = 12
/** So far is the traffic ahead of what the slow endpoint has taken, so that it lasts until the last death of these. */
const LEAD = 600
const WORKER_DEATHS = [300, 900, 1_600]
const DEATH_OF_ALL = 2_400
const LAST_WORKER_DEATH = 3_300
/** When the dead endpoint has caught up by so much. */
const DEATH_AFTER_RETURN = 1_500
const SLOW_MS = 150
const FAILING = 0.05

let database: TestDatabase
let sandbox: Sandbox
let organization: TestOrganization
let env: Record<string, string>
/** Takes traffic; delivers nothing. */
let service: Promise<Service>
/** Delivers. */
let worker: Program
let dead: Witness
let slow: Witness
let failing: Witness
let witnesses: Witness[]
let follower: FeedReader
let traffic: Promise<void>

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, batch: 20 })
  env = {
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  service = startFront()
  const front = await service
  organization = await createOrganization(front, { messages_per_second: 0, pair_limit: false })
  const random = seeded(1)
  dead = await registerWitness(front, organization, 'dead', () => ({ status: 204, afterMs: 0 }))
  slow = await registerWitness(front, organization, 'slow', () => ({ status: 204, afterMs: SLOW_MS }))
  // No event fails twice: the next attempt would come after 5 minutes.
  failing = await registerWitness(front, organization, 'failing', (isFirst) => {
    return { status: isFirst && random() < FAILING ? 500 : 204, afterMs: 0 }
  })
  witnesses = [dead, slow, failing]
  await slow.open()
  await failing.open()
  follower = createFeedReader(organization)
  worker = await startWorker()
})

afterAll(async () => {
  await endPrograms()
  for (const witness of witnesses ?? []) await witness.close()
  await database?.drop()
})

// The tests are one story, each goes on where the one before ended.
describe('5,000 events for three endpoints, one dead, one slow, one failing at random', () => {
  it.each(WORKER_DEATHS)('survive the death of the process that delivers, at %i', async (taken) => {
    traffic ??= keepTraffic()
    await until(() => slow.taken.size >= taken)
    await killWorker()
    worker = await startWorker()
    await follower.readOn(await service)
  })

  it('survive the death of the whole service', async () => {
    await until(() => slow.taken.size >= DEATH_OF_ALL)
    await Promise.all([killFront(), killWorker()])
    worker = await startWorker()
    await follower.readOn(await service)
  })

  it('survive one more death of the process that delivers', async () => {
    await until(() => slow.taken.size >= LAST_WORKER_DEATH)
    await killWorker()
    worker = await startWorker()
    await follower.readOn(await service)
  })

  it('arrive at the working endpoints while another one is dead', async () => {
    await traffic
    await untilCallbacksAreWorkedOff(sandbox, database)
    await follower.readOn(await service)
    expect(follower.events.length).toBeGreaterThanOrEqual(EVENTS)
    await until(() => [slow, failing].every(({ taken }) => taken.size >= follower.events.length))
    expect(dead.arrivals).toEqual([])
    const refused = (await readLog(await service, organization, dead.webhookId)).flatMap(({ attempts }) => attempts)
    expect(refused.length).toBeGreaterThan(CONTACTS / 2)
    expect(refused.filter(({ response_status, error }) => response_status !== null || error === null)).toEqual([])
  })

  it('arrive at the dead one as soon as it is back, even if the process that delivers dies once more', async () => {
    await dead.open()
    await until(() => dead.taken.size >= DEATH_AFTER_RETURN)
    await killWorker()
    await letSecondRetriesFallDue(database)
    worker = await startWorker()
    await until(() => dead.taken.size >= follower.events.length)
    await until(async () => (await countDeliveries(await service, organization, 'pending')) === 0)
  })

  it('have all arrived at each endpoint, in order per contact', () => {
    for (const witness of witnesses) {
      expectAllTaken(witness, follower.events)
      expectInOrder(witness, follower.events)
    }
  })

  it('appear in the log as the endpoints saw them', async () => {
    for (const witness of witnesses) {
      const log = await readLog(await service, organization, witness.webhookId)
      const missing = expectSameInLog(witness, follower.events, log)
      // The slow one always has some in flight; otherwise no process was killed at the right moment.
      if (witness === slow) expect(missing).toBeGreaterThan(0)
    }
  })

  it('are read from the feed once each, by early and late readers', async () => {
    const later = createFeedReader(organization)
    await later.readOn(await service)
    const ids = later.events.map(({ id }) => id)
    expect(new Set(ids).size).toBe(ids.length)
    expect(follower.events.map(({ id }) => id).sort()).toEqual([...ids].sort())
    for (const witness of witnesses) expectInOrder(witness, later.events)
  })
})

/** Contacts write and are written to, never too far ahead of what the slow endpoint has taken. */
async function keepTraffic(): Promise<void> {
  const people = Array.from({ length: CONTACTS }, (_, index) => `55119601${10_010 + index}`)
  const personOf = (index: number) => people[index % CONTACTS] as string
  const contacts = people.map((phone_number) => async () => {
    await succeed((await service).request('POST', '/contact', { key: organization.key, body: { phone_number } }))
    return true
  })
  await workThrough(contacts, WIDTH)
  const inbounds = Array.from({ length: INBOUNDS }, (_, index) => {
    const inbound: Inbound = {
      id: `wamid.${index}`,
      from: personOf(index),
      text: `inbound ${index}`,
      acknowledged: false,
    }
    return async () => tellInbound(await service, organization, inbound)
  })
  const sends = Array.from({ length: SENDS }, (_, index) => {
    const send: Send = { key: `send ${index}`, to: personOf(index), text: `send ${index}`, answers: [] }
    return async () => (await trySend(await service, organization, send)) !== null
  })
  const every = Math.floor(INBOUNDS / SENDS)
  const asked = inbounds.flatMap((tell, index) => [tell, ...(index % every === 0 ? sends.splice(0, 1) : [])])
  const tasks = asked.map((ask, index) => async () => {
    await until(() => slow.taken.size + LEAD >= index)
    await until(ask)
    return true
  })
  await workThrough(tasks, WIDTH)
}

function startFront(): Promise<Service> {
  return startService({ ...env, PARLEY_ROLES: 'api' })
}

async function startWorker(): Promise<Program> {
  const started = await startProgram(['serve'], { env: { ...env, PARLEY_ROLES: 'worker' } })
  expect(await started.firstLine).toMatch(/^parley ready on http:/)
  return started
}

/** Requests from now on go to the next one. */
async function killFront(): Promise<void> {
  const { program } = await service
  program.killGroup()
  service = program.exited.then(startFront)
  expect(await program.exited).toEqual({ code: null, signal: 'SIGKILL' })
}

async function killWorker(): Promise<void> {
  worker.killGroup()
  expect(await worker.exited).toEqual({ code: null, signal: 'SIGKILL' })
  for (const witness of witnesses) await witness.noteDeath()
}
