import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { JOB_CLASSES } from '../../src/model/jobs.js'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { IS_LONG } from '../support/times.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import { countAccepted, importContacts, untilCallbacksAreWorkedOff } from './support/broadcasts.js'
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
import { seeded } from './support/traffic.js'

const MESSAGES = IS_LONG ? 4_000 : 600
const KILLS = IS_LONG ? 12 : 3
/** A process is killed after at most so many more messages. */
const STRIDE = MESSAGES / (KILLS + 2)
/** How many messages of one organization a process sends at the same time. */
const IN_PROGRESS = JOB_CLASSES.scheduled.places / 2
/** Nothing is due while they are taken. */
const AHEAD_MS = 3_600_000

let database: TestDatabase
let sandbox: Sandbox
let organization: TestOrganization
let service: Service
/** Another process, which is killed and started again; the first one as well. */
let others: Program[] = []
let env: Record<string, string>
const numbers = Array.from({ length: MESSAGES }, (_, index) => `551196${1_000_010 + index}`)
const ids = new Map<string, string>()

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 20, duplicate: 0.1, disorder: 0.2 })
  env = {
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
  }
  service = await startService(env)
  organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
  await importContacts(service, organization, numbers, 'loyal')
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

// The tests are one story.
describe('messages that are scheduled for one moment, while processes are killed', () => {
  it('are taken', async () => {
    const scheduled_at = new Date(Date.now() + AHEAD_MS).toISOString()
    const { key } = organization
    for (const phone_number of numbers) {
      const body = { phone_number, message_type: 'text', text: `to ${phone_number}`, scheduled_at }
      const answer = await succeed(service.request('POST', '/send-chat', { key, body }))
      ids.set(phone_number, answer.body.scheduled.id)
    }
    expect(await countAccepted(sandbox)).toBe(0)
    others = [await startProgram(['serve'], { env })]
    await database.pool.query('UPDATE scheduled_messages SET scheduled_at = now()')
    await database.pool.query(`UPDATE jobs SET run_at = now() WHERE task = 'send_scheduled'`)
  })

  it.each(Array.from({ length: KILLS }, (_, index) => index + 1))('survive a death, seed %i', async (seed) => {
    const target = (await countAccepted(sandbox)) + 1 + Math.floor(seeded(seed)() * STRIDE)
    await until(async () => (await countAccepted(sandbox)) >= Math.min(target, MESSAGES))
    const dying = others.shift() as Program
    dying.firstLine.catch(() => undefined)
    dying.killGroup()
    expect(await dying.exited).toEqual({ code: null, signal: 'SIGKILL' })
    others.push(await startProgram(['serve'], { env }))
  })

  it('arrive once each, or have an unknown outcome', async () => {
    const { key } = organization
    await until(async () => {
      const { body } = await succeed(service.request('GET', '/scheduled?limit=1', { key }))
      return body.pagination.totalScheduled === 0
    })
    await untilCallbacksAreWorkedOff(sandbox, database)
    const accepted = await sandbox.accepted()
    const reached = accepted.map(({ to }) => to)
    expect(new Set(reached).size).toBe(reached.length)
    for (const { to, payload } of accepted) expect(payload.biz_opaque_callback_data).toBe(ids.get(to))
    const { rows } = await database.pool.query(
      'SELECT id, outcome FROM messages WHERE organization_id = $1 AND id = ANY ($2)',
      [organization.id, [...ids.values()]],
    )
    expect(rows).toHaveLength(MESSAGES)
    // What a process had recorded when it died may have been sent, so that it is never sent again.
    const unknown = rows.filter(({ outcome }) => outcome !== null)
    expect(unknown.length).toBe(MESSAGES - reached.length)
    expect(unknown.length).toBeLessThanOrEqual(KILLS * IN_PROGRESS)
  })
})
