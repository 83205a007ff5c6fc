import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import { IS_LONG } from '../support/times.js'
import { lockMessages } from './support/locks.js'
import { endPrograms } from './support/programs.js'
import { playRound, type Round, type Stage } from './support/rounds.js'
import { createOrganization, sharedSecrets, startSandbox, startService, succeed, urlOf } from './support/service.js'
import { type Inbound, readConversation, type Send, tellInbound, trySend } from './support/traffic.js'

/** Each kills the service at another moment, and takes seconds. */
const ROUNDS = IS_LONG ? 7 : 1

let database: TestDatabase
let stage: Stage
const played: Round[] = []

beforeAll(async () => {
  database = await createTestDatabase()
  const sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { delay_ms: 2, slow_ms: 150, duplicate: 0.1, disorder: 0.2 })
  const start = () =>
    startService({
      ...sharedSecrets,
      PARLEY_DATABASE_URL: urlOf(database.connection),
      PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
      PARLEY_RATE_LIMIT: '0',
    })
  const service = await start()
  const organization = await createOrganization(service)
  stage = { sandbox, organization, service, restart: start, kill: async ({ program }) => program.killGroup() }
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

describe('a service that is killed under load', () => {
  it.each(Array.from({ length: ROUNDS }, (_, index) => index + 1))('keeps its promises, seed %i', async (seed) => {
    played.push(await playRound(stage, seed))
  })

  it('has sent nothing twice in any round', async () => {
    const record = await stage.sandbox.accepted()
    const texts = record.map(({ payload }) => payload.text.body)
    const ids = record.map(({ payload }) => payload.biz_opaque_callback_data)
    expect(new Set(texts).size).toBe(record.length)
    expect(new Set(ids).size).toBe(record.length)
    const asked = played.flatMap(({ sends }) => sends.map(({ text }) => text))
    expect(texts.filter((text) => !asked.includes(text))).toEqual([])
  })
})

// What is under way is held at a known point by a lock.
describe('a service that is killed while one of its statements waits', () => {
  it('has its callbacks processed in order right after the restart', async () => {
    const { organization } = stage
    const lock = await lockContact('5511970100001')
    const inbounds = Array.from({ length: 30 }, (_, index): Inbound => {
      return { id: `wamid.locked-${index}`, from: '5511970100001', text: `locked ${index}`, acknowledged: false }
    })
    for (const inbound of inbounds) expect(await tellInbound(stage.service, organization, inbound)).toBe(true)
    await vi.waitFor(async () => expect(await waitingStatements()).toBe(1), patience)
    await stage.kill(stage.service)
    await stage.service.program.exited
    await lock.release()

    stage.service = await stage.restart()
    await vi.waitFor(async () => {
      const { messages } = await readConversation(stage.service, organization, '5511970100001')
      expect(messages.map(({ message }) => message)).toEqual(inbounds.map(({ text }) => text))
    }, patience)
    await vi.waitFor(async () => expect(await count('callbacks WHERE waiting')).toBe(0), patience)
  })

  it('does not send again a message that the statement records after the death, however often the client repeats it', async () => {
    const { key } = stage.organization
    const body = { phone_number: '5511970100002' }
    await succeed(stage.service.request('POST', '/contact', { key, body }))
    const lock = await lockMessages(database)
    const send: Send = { key: 'held', to: '5511970100002', text: 'held', answers: [] }
    const first = trySend(stage.service, stage.organization, send)
    await vi.waitFor(async () => expect(await waitingStatements()).toBe(1), patience)
    await stage.kill(stage.service)
    expect(await first).toBeNull()

    // The statement of the dead process still waits in PostgreSQL, and will have its way.
    stage.service = await stage.restart()
    const second = trySend(stage.service, stage.organization, send)
    await vi.waitFor(async () => expect(await waitingStatements()).toBe(2), patience)
    await lock.release()
    const answer = await second
    const { messages, total } = await readConversation(stage.service, stage.organization, send.to)
    expect(messages).toMatchObject([{ message: 'held' }])
    expect(total).toBe(1)
    // Whichever of the two comes first records the message: the dead one cannot send it any more, the other one does.
    const isSent = answer?.status === 200
    if (!isSent) expect(answer).toMatchObject({ status: 500, body: { error: 'Outcome unknown', id: messages[0].id } })
    expect(await trySend(stage.service, stage.organization, send)).toMatchObject({
      status: answer?.status,
      body: answer?.body,
    })
    const arrived = (await stage.sandbox.accepted()).filter(({ to }) => to === send.to)
    expect(arrived).toHaveLength(isSent ? 1 : 0)
  })
})

async function lockContact(number: string): Promise<{ release: () => Promise<void> }> {
  const { service, organization } = stage
  const body = { phone_number: number }
  const made = await succeed(service.request('POST', '/contact', { key: organization.key, body }))
  const client = await database.pool.connect()
  await client.query('BEGIN')
  await client.query('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [made.body.contact.id])
  return {
    release: async () => {
      await client.query('ROLLBACK')
      client.release()
    },
  }
}

async function waitingStatements(): Promise<number> {
  return count(`pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`)
}

async function count(from: string): Promise<number> {
  const { rows } = await database.pool.query(`SELECT count(*)::int AS count FROM ${from}`)
  return rows[0].count
}
