import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import { type Receiver, type Respond, startReceiver } from '../support/receiver.js'
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
import { tellInbound, workThrough } from './support/traffic.js'
import { createFeedReader, type FeedEvent, readLog } from './support/webhook-proof.js'

const ORGANIZATIONS = 12
const CONTACTS = 3
const MESSAGES = 8
const WIDTH = 8

/** A process that delivers, and its id in the database. */
interface Deliverer {
  program: Program
  id: number
}

/** An organization with its endpoint, which takes everything. */
interface Shop {
  organization: TestOrganization
  receiver: Receiver
}

let database: TestDatabase
let sandbox: Sandbox
let env: Record<string, string>
let service: Service
const deliverers: Deliverer[] = []
const shops: Shop[] = []
let told = 0
/** The events, by their ids, whose delivery was broken off: they come twice. */
const brokenOff = new Set<string>()

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  env = {
    ...sharedSecrets,
    PARLEY_PORT: '0',
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    PARLEY_ALLOWED_PRIVATE_HOSTS: '127.0.0.1',
  }
  service = await startService({ ...env, PARLEY_ROLES: 'api' })
  for (let count = 0; count < ORGANIZATIONS; count++) shops.push(await openShop())
})

afterAll(async () => {
  await endPrograms()
  for (const { receiver } of shops) await receiver.close()
  await database?.drop()
})

// The tests are one story, each goes on where the one before ended.
describe('several processes that deliver webhooks', () => {
  it('deliver every event once, and in order', async () => {
    for (let count = 0; count < 3; count++) deliverers.push(await startDeliverer())
    await tell(shops)
    await expectDelivered()
  })

  it('go on while another process starts', async () => {
    const traffic = tell(shops)
    deliverers.push(await startDeliverer())
    await traffic
    await expectDelivered()
  })

  it('record requests in flight of a stopping process, and take its work over', async () => {
    const { answer, busiest } = await holdAnswers()
    busiest.program.kill('SIGTERM')
    answer()
    expect(await busiest.program.exited).toEqual({ code: 0, signal: null })
    await expectDelivered()
  })

  it('repeat requests that a stopping process waited for in vain', async () => {
    const { answer, busiest, ids } = await holdAnswers()
    busiest.program.kill('SIGTERM')
    expect(await busiest.program.exited).toEqual({ code: 0, signal: null })
    for (const id of ids) brokenOff.add(id)
    answer()
    await expectDelivered()
  })

  it('repeat requests of a killed process', async () => {
    deliverers.push(await startDeliverer())
    const { answer, busiest, ids } = await holdAnswers()
    busiest.program.killGroup()
    expect(await busiest.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
    for (const id of ids) brokenOff.add(id)
    answer()
    await tell(shops)
    await expectDelivered()
  })
})

async function openShop(): Promise<Shop> {
  const organization = await createOrganization(service)
  const receiver = await startReceiver()
  receiver.respond(() => take)
  const body = { url: receiver.url, events: ['*'] }
  await succeed(service.request('POST', '/set-webhooks', { key: organization.key, body }))
  return { organization, receiver }
}

/** Without a connection that could be closed just as it is used again: that would be a failed attempt. */
const take: Awaited<ReturnType<Respond>> = (response) => response.writeHead(204, { connection: 'close' }).end()

async function startDeliverer(): Promise<Deliverer> {
  const before = await listWorkers()
  const program = await startProgram(['serve'], { env: { ...env, PARLEY_ROLES: 'worker' } })
  expect(await program.firstLine).toMatch(/^parley ready on http:/)
  const [id] = (await listWorkers()).filter((known) => !before.includes(known))
  return { program, id: id as number }
}

async function listWorkers(): Promise<number[]> {
  const { rows } = await database.pool.query(`SELECT id FROM processes`)
  return rows.map(({ id }) => id)
}

/** The events of the deliveries that each process has claimed, by its id. */
async function readClaims(): Promise<Map<number, string[]>> {
  const { rows } = await database.pool.query(
    `SELECT process_id, array_agg(event_id::text) AS events FROM webhook_deliveries
     WHERE process_id IS NOT NULL GROUP BY process_id`,
  )
  return new Map(rows.map(({ process_id, events }) => [process_id, events]))
}

/** Several messages of each contact. */
async function tell(some: readonly Shop[]): Promise<void> {
  const messages = Array.from({ length: MESSAGES }, () => some).flat()
  const tasks = messages.flatMap(({ organization }) =>
    Array.from({ length: CONTACTS }, (_, contact) => {
      const text = `message ${++told}`
      const inbound = { id: `wamid.${text}`, from: `55119602${10_010 + contact}`, text, acknowledged: false }
      return () => tellInbound(service, organization, inbound)
    }),
  )
  await workThrough(tasks, WIDTH)
}

/**
 * Has messages told to all organizations and keeps the processes waiting for the answers: one of each contact is in
 * flight then. `busiest`: the process with the most of them, which is to end; `ids`: those that it waits for.
 */
async function holdAnswers(): Promise<{ answer(): void; busiest: Deliverer; ids: string[] }> {
  const held = new Set<string>()
  let answer = () => {}
  const answered = new Promise<void>((resolve) => {
    answer = resolve
  })
  for (const { receiver } of shops) {
    receiver.respond(async ({ headers }) => {
      held.add(String(headers['webhook-id']))
      await answered
      return take
    })
  }
  await tell(shops)
  await vi.waitFor(() => expect(held.size).toBe(shops.length * CONTACTS), patience)
  const claims = await readClaims()
  const idsOf = ({ id }: Deliverer) => claims.get(id) ?? []
  expect(deliverers.flatMap(idsOf).sort()).toEqual([...held].sort())
  const [busiest] = [...deliverers].sort((one, other) => idsOf(other).length - idsOf(one).length) as [Deliverer]
  deliverers.splice(deliverers.indexOf(busiest), 1)
  return { answer, busiest, ids: idsOf(busiest) }
}

/**
 * Everything arrives: once, and twice what was broken off; of each contact in order. The log knows of one attempt at
 * each, for what is broken off is none.
 */
async function expectDelivered(): Promise<void> {
  await untilCallbacksAreWorkedOff(sandbox, database)
  for (const { organization, receiver } of shops) {
    const feed = createFeedReader(organization)
    await feed.readOn(service)
    const ids = feed.events.map(({ id }) => id)
    const wanted = [...ids, ...ids.filter((id) => brokenOff.has(id))]
    await vi.waitFor(async () => {
      const log = await readLog(service, organization)
      expect(log.map(({ event_id }) => event_id).sort()).toEqual([...ids].sort())
      expect(log.filter(({ status }) => status !== 'delivered')).toEqual([])
      expect(log.filter(({ attempts }) => attempts.length !== 1)).toEqual([])
    }, patience)
    const arrived = receiver.received.map(({ headers }) => String(headers['webhook-id']))
    expect([...arrived].sort()).toEqual(wanted.sort())
    expect(byContact(feed.events, [...new Set(arrived)])).toEqual(byContact(feed.events, ids))
  }
}

/** The ids of events, those of one contact after those of another, else in their order. */
function byContact(events: readonly FeedEvent[], ids: readonly string[]): string[] {
  const contacts = new Map(events.map(({ id, data }) => [id, String(data.contact.id)]))
  const contactOf = (id: string) => contacts.get(id) ?? ''
  return [...ids].sort((one, other) => contactOf(one).localeCompare(contactOf(other)))
}
