import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import { importContacts, OFFER, readBroadcast, untilCallbacksAreWorkedOff } from './support/broadcasts.js'
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

const HOUR_MS = 3_600_000
const JUMPS = [2 * HOUR_MS, -2 * HOUR_MS, 0]
const ROUNDS = ['at first', ...JUMPS.map((jump) => `${jump} ms ahead`)]
const numbers = Array.from({ length: 60 }, (_, index) => `551195${1_000_010 + index}`)

let database: TestDatabase
let sandbox: Sandbox
let organization: TestOrganization
/** Its clock jumps; it is the only one. */
let service: Service

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  service = await startService({
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    NODE_OPTIONS: `--import ${new URL('support/jumping-clock.mjs', import.meta.url).href}`,
    CLOCK_JUMPS: JUMPS.join(','),
  })
  organization = await createOrganization(service, { messages_per_second: 0, pair_limit: true })
  await importContacts(service, organization, numbers, 'loyal')
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

describe('a service whose clock jumps by hours, forth and back', () => {
  it('reaches everybody after each jump, by messages of their own and by broadcasts', async () => {
    const broadcasts: string[] = []
    for (const [index, round] of ROUNDS.entries()) {
      const sending = sendToAll(round)
      if (index > 0) await jump()
      broadcasts.push(await broadcast(round))
      expect(await sending).toEqual(numbers.map(() => 200))
      expect(await sendToAll(`${round}, again`)).toEqual(numbers.map(() => 200))
    }
    await untilCallbacksAreWorkedOff(sandbox, database)
    for (const id of broadcasts) {
      await until(async () => (await readBroadcast(service, organization, id)).status === 'completed')
    }
  })

  it('sent everything once', async () => {
    const sent = (await sandbox.accepted()).map(({ to, payload }) => `${to} ${payload.text?.body ?? 'offer'}`)
    const texts = ROUNDS.flatMap((round) => [round, `${round}, again`, 'offer'])
    expect(sent.sort()).toEqual(numbers.flatMap((to) => texts.map((text) => `${to} ${text}`)).sort())
  })

  it('keeps the order of what was written', async () => {
    const { body } = await succeed(
      service.request('GET', `/conversations?chatNumber=${numbers[0]}&ascending=true&limit=50`, {
        key: organization.key,
      }),
    )
    const times = body.messages.map(({ created_at }: { created_at: string }) => Date.parse(created_at))
    expect(times.length).toBe(ROUNDS.length * 3)
    expect(times.at(-1) - times[0]).toBeLessThan(HOUR_MS)
  })
})

function sendToAll(text: string): Promise<number[]> {
  const send = async (phone_number: string) => {
    const body = { phone_number, message_type: 'text', text }
    return (await service.request('POST', '/send-chat', { key: organization.key, body })).status
  }
  return Promise.all(numbers.map(send))
}

async function broadcast(name: string): Promise<string> {
  const body = { name, ...OFFER, audience: { tags: ['loyal'] } }
  return (await succeed(service.request('POST', '/broadcasts', { key: organization.key, body }))).body.broadcast.id
}

async function jump(): Promise<void> {
  const { program } = service
  const before = program.errors.length
  const jumps = () => program.errors.slice(before).filter((line) => line.startsWith('the clock is'))
  program.kill('SIGUSR2')
  await until(async () => jumps().length === 1)
}
