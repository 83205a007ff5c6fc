import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { verifyCounters } from '../../src/core/analytics/verify.js'
import { findOrganization } from '../../src/storage/organizations/organizations.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { IS_LONG } from '../support/times.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import {
  controlBroadcast,
  countAccepted,
  importContacts,
  letOutcomesFallDue,
  OFFER,
  readBroadcast,
  readProgress,
  readRecipients,
  runNow,
  untilCallbacksAreWorkedOff,
} from './support/broadcasts.js'
import { lockKeys } from './support/locks.js'
import { endPrograms, type Program, startProgram } from './support/programs.js'
import {
  call,
  createOrganization,
  type Sandbox,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  urlOf,
} from './support/service.js'
import { seeded } from './support/traffic.js'

const KEY = 'to all'
const LISTED = IS_LONG ? 14_000 : 4_500
const TAGGED = IS_LONG ? 6_000 : 2_000
const RECIPIENTS = LISTED + TAGGED
/** While so many recipients are ready to be sent to, in parts of all. */
const PREPARING_KILLS = IS_LONG ? [0.2, 0.5, 0.9] : [0.5]
/** After up to so many more messages than the process before. */
const STRIDE = 1_400
const SENDING_KILLS = IS_LONG ? 12 : 4
/** When so many recipients are still without a message. */
const LAST_KILLS = IS_LONG ? [600, 250, 60] : [200]

let database: TestDatabase
let sandbox: Sandbox
let organization: TestOrganization
let env: Record<string, string>
/** The process that sends; only the first and the last one are asked for anything. */
let program: Program
let service: Service
let broadcastId: string
const tagged = numbers('551196', TAGGED)
const listed = numbers('551197', LISTED)

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, batch: 200, duplicate: 0.1, disorder: 0.2 })
  env = {
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
  }
  service = await startService(env)
  program = service.program
  organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
  await importContacts(service, organization, tagged, 'loyal')
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

// The tests are one story, each goes on where the one before ended.
describe('a broadcast to thousands whose service is killed repeatedly', () => {
  it('is created once even if the service dies before it answers, and the client repeats the request', async () => {
    const first = postBroadcast(service).catch(() => null)
    await until(isKeyClaimed)
    // The service answers once it has written its answer to this row.
    const answer = await lockKeys(database, [KEY])
    await until(async () => (await readProgress(database, await findBroadcastId())).prepared > 0)
    await kill()
    await answer.release()
    expect(await first).toBeNull()

    service = await startService(env)
    program = service.program
    const again = await postBroadcast(service)
    expect(again).toMatchObject({ status: 202, body: { broadcast: { status: 'running' } } })
    broadcastId = again.body.broadcast.id
    expect(broadcastId).toBe(await findBroadcastId())
  })

  it.each(PREPARING_KILLS)('survives a death while it is prepared, at %d of the recipients', async (part) => {
    await until(async () => (await readProgress(database, broadcastId)).prepared >= part * RECIPIENTS)
    await killAndRestart()
  })

  it.each(Array.from({ length: SENDING_KILLS }, (_, index) => index + 1))(
    'survives a death while it is sent, seed %i',
    async (seed) => {
      const target = (await countAccepted(sandbox)) + 1 + Math.floor(seeded(seed)() * STRIDE)
      await until(async () => (await countAccepted(sandbox)) >= target)
      await killAndRestart()
    },
  )

  it.each(LAST_KILLS)('survives a death near its end, with %i to go', async (left) => {
    await until(async () => (await readProgress(database, broadcastId)).recorded >= RECIPIENTS - left)
    await killAndRestart()
  })

  it('reaches every recipient in the end, none twice, and knows which it may have missed', async () => {
    await kill()
    service = await startService(env)
    await until(async () => (await readProgress(database, broadcastId)).recorded === RECIPIENTS)
    await untilCallbacksAreWorkedOff(sandbox, database)

    const reached = await acceptedNumbers()
    const { numbersOf, total } = await readRecipients(service, organization, broadcastId)
    expect(total).toBe(RECIPIENTS)
    expect(numbersOf('read')).toEqual(reached)
    expect(numbersOf('pending')).toEqual(without(reached))
    expect(reached.length).toBeLessThan(RECIPIENTS)
    expect(await readBroadcast(service, organization, broadcastId)).toMatchObject({ status: 'running' })
  })

  it('marks those as failed after 15 minutes, and retry-failed reaches exactly them', async () => {
    const reached = await acceptedNumbers()
    const missed = without(reached)
    await letOutcomesFallDue(database)
    await runNow(database, 'expire_outcomes')
    await runNow(database, 'reconcile_broadcasts')
    const failed = await readRecipients(service, organization, broadcastId)
    expect(failed.numbersOf('failed')).toEqual(missed)
    expect(failed.errorsOf('failed')).toEqual(['outcome_unknown'])
    expect(failed.numbersOf('pending')).toEqual([])
    expect(await readBroadcast(service, organization, broadcastId)).toMatchObject({ status: 'completed' })
    await expectCountersAsCounted()

    const retried = await controlBroadcast(service, organization, broadcastId, 'retry-failed')
    expect(retried.body).toMatchObject({ retried: missed.length, broadcast: { status: 'running' } })
    await until(async () => (await countAccepted(sandbox)) >= RECIPIENTS)
    await untilCallbacksAreWorkedOff(sandbox, database)
    await runNow(database, 'reconcile_broadcasts')
  })

  it('completes with correct counts', async () => {
    expect(await acceptedNumbers()).toEqual(without([]))
    const { numbersOf } = await readRecipients(service, organization, broadcastId)
    expect(numbersOf('read')).toEqual(without([]))
    expect(await readBroadcast(service, organization, broadcastId)).toMatchObject({
      status: 'completed',
      totalRecipients: RECIPIENTS,
      skippedRecipients: 0,
    })
    await expectCountersAsCounted()
    await runNow(database, 'roll_up_counts')
    await expectCountersAsCounted()
  })
})

function numbers(prefix: string, count: number): string[] {
  return Array.from({ length: count }, (_, index) => `${prefix}${String(1_000_010 + index)}`)
}

/** As a client that repeats what it got no answer to. */
function postBroadcast({ url }: Service) {
  const audience = { tags: ['loyal'], recipients: listed.map((chatNumber) => ({ chatNumber })) }
  return call(`${url}/broadcasts`, 'POST', {
    key: organization.key,
    body: { name: 'To all', ...OFFER, audience },
    headers: { 'idempotency-key': KEY },
  })
}

async function isKeyClaimed(): Promise<boolean> {
  const { rowCount } = await database.pool.query('SELECT FROM idempotency_keys WHERE key = $1', [KEY])
  return rowCount === 1
}

async function findBroadcastId(): Promise<string> {
  const { rows } = await database.pool.query('SELECT id FROM broadcasts WHERE organization_id = $1', [organization.id])
  expect(rows.length).toBeLessThanOrEqual(1)
  return rows[0]?.id ?? organization.id
}

async function kill(): Promise<void> {
  program.killGroup()
  expect(await program.exited).toEqual({ code: null, signal: 'SIGKILL' })
}

/** It need not be ready before it is killed the next time. */
async function killAndRestart(): Promise<void> {
  await kill()
  program = await startProgram(['serve'], { env })
  program.firstLine.catch(() => undefined)
}

/** The numbers whose messages the simulator accepted, each once. */
async function acceptedNumbers(): Promise<string[]> {
  const record = await sandbox.accepted()
  const reached = record.map(({ to }) => to).sort()
  expect(new Set(reached).size).toBe(reached.length)
  expect(new Set(record.map(({ payload }) => payload.biz_opaque_callback_data)).size).toBe(reached.length)
  return reached
}

function without(reached: readonly string[]): string[] {
  const known = new Set(reached)
  return [...tagged, ...listed].filter((number) => !known.has(number)).sort()
}

async function expectCountersAsCounted(): Promise<void> {
  const stored = await findOrganization(database, organization.id)
  if (stored === null) throw new Error('the organization is gone')
  const ctx = { database, clock: () => new Date(), channelNames: ['chat'] }
  const counted = await verifyCounters(ctx, stored)
  expect(counted).toEqual({ campaigns: 1, drifts: [] })
}
