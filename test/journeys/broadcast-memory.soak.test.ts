import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createTestDatabase, type TestDatabase } from '../support/database.js'
import { IS_LONG } from '../support/times.js'
import { until } from '../support/until.js'
import type { TestOrganization } from '../support/world.js'
import {
  controlBroadcast,
  countAccepted,
  OFFER,
  readBroadcast,
  readProgress,
  type ShownBroadcast,
} from './support/broadcasts.js'
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

const CONTACTS = IS_LONG ? 200_000 : 60_000
const SENT = 5_000
/**
 * A process that needs more dies. Half of it is code; what is kept of each contact would soon take more than the rest.
 */
const SMALL_HEAP_MIB = 96
const FIRST_NUMBER = 5_511_960_000_010

let database: TestDatabase
let sandbox: Sandbox

beforeAll(async () => {
  database = await createTestDatabase()
  sandbox = await startSandbox()
  await sandbox.control('POST', '/settings', { statuses: false, record: false })
})

afterAll(async () => {
  await endPrograms()
  await database?.drop()
})

describe('a service with a small heap', () => {
  it('prepares a broadcast to many contacts, and sends it', async () => {
    const service = await start()
    const organization = await createOrganization(service, { messages_per_second: 0, pair_limit: false })
    await seedContacts(organization)
    const { id } = await post(service, organization, { all: true })
    await until(async () => (await readProgress(database, id)).prepared === CONTACTS)
    await until(async () => (await countAccepted(sandbox)) >= SENT)
    const { status, totalRecipients } = await readBroadcast(service, organization, id)
    expect({ status, totalRecipients }).toEqual({ status: 'running', totalRecipients: CONTACTS })
    await controlBroadcast(service, organization, id, 'cancel')
    await end(service)
  })
})

async function start(): Promise<Service> {
  return startService({
    ...sharedSecrets,
    PARLEY_DATABASE_URL: urlOf(database.connection),
    PARLEY_UPSTREAM_URL: sandbox.upstreamUrl,
    PARLEY_RATE_LIMIT: '0',
    NODE_OPTIONS: `--max-old-space-size=${SMALL_HEAP_MIB}`,
  })
}

async function post({ request }: Service, { key }: TestOrganization, audience: object): Promise<ShownBroadcast> {
  const body = { name: 'To many', ...OFFER, audience }
  const headers = { 'idempotency-key': 'to many' }
  return (await succeed(request('POST', '/broadcasts', { key, body, headers }))).body.broadcast
}

/** In order: it has not died before, nor does it now. */
async function end({ program }: Service): Promise<void> {
  program.kill('SIGTERM')
  expect(await program.exited).toEqual({ code: 0, signal: null })
}

/** Contacts as an import leaves them. */
async function seedContacts({ id }: TestOrganization): Promise<void> {
  await database.pool.query(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, phone_number, source)
       SELECT $1, gen_random_uuid(), number, '+' || number, '{"type": "import"}'
       FROM (SELECT ($3::bigint + i)::text AS number FROM generate_series(1, $2::int) AS i) numbers
       RETURNING id, chat_id, created_at
     ), active AS (
       INSERT INTO contact_activity (organization_id, contact_id, active_at) SELECT $1, id, created_at FROM made
     )
     INSERT INTO contact_addresses (organization_id, address, contact_id) SELECT $1, chat_id, id FROM made`,
    [id, CONTACTS, FIRST_NUMBER],
  )
}
