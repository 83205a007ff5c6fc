import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { patience } from '../support/patience.js'
import { TIMES } from '../support/times.js'
import type { TestOrganization } from '../support/world.js'
import { endPrograms } from './support/programs.js'
import {
  createOrganization,
  type Service,
  sharedSecrets,
  startSandbox,
  startService,
  urlOf,
} from './support/service.js'
import { type Inbound, type Random, seeded, tellInbound } from './support/traffic.js'

const MESSAGES = 2_000 * TIMES
const KILLS = 10 * TIMES
/** Fewer messages of other people come with each one. */
const WIDTH = 3
const OTHERS = 20
const PERSON = '5511960200001'

let database: TestDatabase
let services: Service[]
let organization: TestOrganization
let start: () => Promise<Service>

beforeAll(async () => {
  database = await createTestDatabase()
  const sandbox = await startSandbox()
  start = () =>
    startService({
      ...sharedSecrets,
      PARLEY_DATABASE_URL: urlOf(database.connection),
      PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
      PARLEY_RATE_LIMIT: '0',
    })
  services = [await start()]
  organization = await createOrganization(services[0] as Service)
  services.push(await start(), await start())
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

/** Tells one of the services, and another one until a service has acknowledged it, as the upstream does. */
async function tell(inbound: Inbound, random: Random): Promise<void> {
  while (!inbound.acknowledged) {
    const service = services[Math.floor(random() * services.length)]
    if (service) await tellInbound(service, organization, inbound)
  }
}

/** Kills one of the services and starts another one in its place. */
async function replaceOne(random: Random): Promise<void> {
  const [killed] = services.splice(Math.floor(random() * services.length), 1)
  killed?.program.killGroup()
  expect(await killed?.program.exited).toEqual({ code: null, signal: 'SIGKILL' })
  services.push(await start())
}

async function textsOf(condition: string): Promise<string[]> {
  const { rows } = await database.pool.query<{ text: string }>(
    `SELECT m.text FROM messages m JOIN contacts c ON c.organization_id = m.organization_id AND c.id = m.contact_id
     WHERE m.organization_id = $1 AND ${condition} ORDER BY m.contact_id, m.seq`,
    [organization.id],
  )
  return rows.map(({ text }) => text)
}

it('three processes that are killed again and again lose no message, and keep those of one person in order', async () => {
  const random = seeded(20)
  const texts = Array.from({ length: MESSAGES }, (_, index) => `message ${index}`)
  const others: string[] = []
  let replacing: Promise<void> = Promise.resolve()
  let kills = 0
  for (const [index, text] of texts.entries()) {
    const beside = Array.from({ length: Math.floor(random() * WIDTH) }, (_, n): Inbound => {
      const name = `beside ${index}-${n}`
      others.push(name)
      const from = `55119602100${String(Math.floor(random() * OTHERS)).padStart(2, '0')}`
      return { id: `wamid.${name}`, from, text: name, acknowledged: false }
    })
    const own: Inbound = { id: `wamid.${text}`, from: PERSON, text, acknowledged: false }
    await Promise.all([own, ...beside].map((inbound) => tell(inbound, random)))
    if (index >= (kills * MESSAGES) / KILLS && kills < KILLS) {
      kills++
      // The last service must have come up: two of three serve at any time.
      await replacing
      replacing = replaceOne(random)
    }
  }
  await replacing
  expect(kills).toBe(KILLS)
  await vi.waitFor(async () => {
    const { rows } = await database.pool.query(
      'SELECT FROM callbacks WHERE waiting UNION ALL SELECT FROM set_aside_callbacks',
    )
    expect(rows).toEqual([])
  }, patience)
  expect(await textsOf(`c.chat_id = '${PERSON}'`)).toEqual(texts)
  expect((await textsOf(`c.chat_id <> '${PERSON}'`)).sort()).toEqual([...others].sort())
})
