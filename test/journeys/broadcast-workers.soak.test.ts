import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import {
  controlBroadcast,
  countAccepted,
  countSendingJobs,
  letOutcomesFallDue,
  OFFER,
  readBroadcast,
  readProgress,
  readRecipients,
  runNow,
  type ShownBroadcast,
  untilCallbacksAreWorkedOff,
} from './support/broadcasts.js'
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
import { startUpstreamProxy, type UpstreamProxy } from './support/upstream-proxy.js'

const RECIPIENTS = 3_000
/** Slow enough to be stopped in the middle. */
const MESSAGES_PER_SECOND = 300
const PAUSES = 3
const STRIDE = 150
/** A job has at most as many senders as its number may send in a second. */
const MOST_UNDER_WAY = MESSAGES_PER_SECOND

let database: TestDatabase
let sandbox: Sandbox
let service: Service
let organization: TestOrganization
/** The three that send; the service only answers requests. */
let workers: Program[]
/** Each process has a way to the upstream of its own, the service the first. */
let ways: UpstreamProxy[]
let broadcast: ShownBroadcast

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, batch: 200 })
  ways = await Promise.all([0, 1, 2, 3].map(() => startUpstreamProxy(sandbox.upstreamUrl)))
  const [first, ...others] = ways.map(({ upstreamUrl }) => ({
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
  }))
  service = await startService({ ...first, PARLEY_ROLES: 'api' })
  organization = await createOrganization(service, { messages_per_second: MESSAGES_PER_SECOND, pair_limit: false })
  workers = await Promise.all(others.map((env) => startProgram(['serve'], { env: { ...env, PARLEY_ROLES: 'worker' } })))
  for (const { firstLine } of workers) expect(await firstLine).toMatch(/^parley ready on http:/)
})

afterAll(async () => {
  await endPrograms()
  for (const way of ways ?? []) await way.close()
  await database?.drop()
})

// The tests are one story, each goes on where the one before ended.
describe('three workers with one broadcast', () => {
  it('send it, and nothing while it is paused', async () => {
    broadcast = await post('551195')
    for (let pause = 0; pause < PAUSES; pause++) {
      const before = await countAccepted(sandbox)
      await until(async () => (await countAccepted(sandbox)) >= before + STRIDE)
      const paused = await controlBroadcast(service, organization, broadcast.id, 'pause')
      expect(paused.body).toMatchObject({ broadcast: { status: 'paused' } })
      await expectEnd(broadcast.id, 0)
      await controlBroadcast(service, organization, broadcast.id, 'resume')
    }
    expect((await readProgress(database, broadcast.id)).recorded).toBeLessThan(RECIPIENTS)
  })

  it('continue with the recipients of a killed process', async () => {
    const before = ways.map((way) => way.messages())
    const growing = () => workers.findIndex((_, index) => (ways[index + 1]?.messages() ?? 0) > (before[index + 1] ?? 0))
    await until(async () => growing() >= 0)
    const killed = workers[growing()] as Program
    killed.killGroup()
    expect(await killed.exited).toEqual({ code: null, signal: 'SIGKILL' })
    await until(async () => (await readProgress(database, broadcast.id)).recorded === RECIPIENTS)
    await until(async () => (await countSendingJobs(database)) === 0)
    // Calls of the killed process still arrive.
    await Promise.all(ways.map((way) => way.answered()))
    await untilCallbacksAreWorkedOff(sandbox, database)

    const reached = await acceptedNumbers()
    const { numbersOf } = await readRecipients(service, organization, broadcast.id)
    expect(numbersOf('read')).toEqual(reached)
    expect(numbersOf('pending').length).toBe(RECIPIENTS - reached.length)
  })

  it('finish it, with every recipient reached once', async () => {
    const missed = RECIPIENTS - (await acceptedNumbers()).length
    await letOutcomesFallDue(database)
    await runNow(database, 'expire_outcomes')
    const retried = await controlBroadcast(service, organization, broadcast.id, 'retry-failed')
    expect(retried.body).toMatchObject({ retried: missed })
    await until(async () => (await countAccepted(sandbox)) >= RECIPIENTS)
    await untilCallbacksAreWorkedOff(sandbox, database)
    await runNow(database, 'reconcile_broadcasts')
    expect(await readBroadcast(service, organization, broadcast.id)).toMatchObject({
      status: 'completed',
      totalRecipients: RECIPIENTS,
      skippedRecipients: 0,
    })
    expect((await acceptedNumbers()).length).toBe(RECIPIENTS)
    expect((await readRecipients(service, organization, broadcast.id)).numbersOf('read').length).toBe(RECIPIENTS)
  })

  it('send nothing more of a cancelled one', async () => {
    const cancelled = await post('551194')
    await until(async () => (await countAccepted(sandbox)) >= RECIPIENTS + STRIDE)
    await controlBroadcast(service, organization, cancelled.id, 'cancel')
    await expectEnd(cancelled.id, RECIPIENTS)
    await untilCallbacksAreWorkedOff(sandbox, database)
    const sent = (await acceptedNumbers()).length - RECIPIENTS
    expect(sent).toBeLessThan(RECIPIENTS)
    expect(await readBroadcast(service, organization, cancelled.id)).toMatchObject({
      status: 'cancelled',
      totalRecipients: sent,
      skippedRecipients: RECIPIENTS - sent,
    })
    const { numbersOf } = await readRecipients(service, organization, cancelled.id)
    expect([numbersOf('read').length, numbersOf('skipped').length]).toEqual([sent, RECIPIENTS - sent])
  })
})

async function post(prefix: string): Promise<ShownBroadcast> {
  const recipients = Array.from({ length: RECIPIENTS }, (_, index) => ({ chatNumber: `${prefix}${1_000_010 + index}` }))
  const body = { name: `To ${prefix}`, ...OFFER, audience: { recipients } }
  return (await succeed(service.request('POST', '/broadcasts', { key: organization.key, body }))).body.broadcast
}

/**
 * Waits until the sends in progress have ended and no process sends more. `others`: the number of messages of other
 * broadcasts.
 */
async function expectEnd(broadcastId: string, others: number): Promise<void> {
  const before = (await readProgress(database, broadcastId)).recorded
  await until(async () => (await countSendingJobs(database)) === 0)
  const { recorded } = await readProgress(database, broadcastId)
  expect(recorded - before).toBeLessThanOrEqual(MOST_UNDER_WAY)
  expect(await countAccepted(sandbox)).toBe(others + recorded)
}

/** The numbers whose messages the simulator accepted, each once. */
async function acceptedNumbers(): Promise<string[]> {
  const reached = (await sandbox.accepted()).map(({ to }) => to).sort()
  expect(new Set(reached).size).toBe(reached.length)
  return reached
}
