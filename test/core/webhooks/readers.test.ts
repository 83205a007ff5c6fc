import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { signIn } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { openEventSource } from '../../support/event-source.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { contactRow } from '../../support/rows/contacts.js'
import {
  closeEndpoints,
  type Endpoint,
  holdOpen,
  namesOf,
  raise,
  startEndpoint,
} from '../../support/webhook-endpoints.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const BATCHES = 10
const BATCH = 10
const SENDS = BATCHES * BATCH

const world = useWorld()
let organization: TestOrganization
let contact: string
let people = 0
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  await world.sim('POST', '/settings', { statuses: false })
  explain = await watchPlans(world.database)
})

beforeEach(async () => {
  organization = await world.createOrganization()
  contact = await createContact(world, organization, number())
})

// The counts are for one organization.
afterEach(async () => {
  await closeEndpoints()
  await world.database.pool.query('DELETE FROM webhooks')
  await world.database.pool.query('DELETE FROM webhook_feeds')
})

const number = () => `+1650555${String(5_000 + ++people)}`

/** Sends texts, and delivers their events batch by batch. */
async function send(): Promise<void> {
  const { phone_number } = await contactRow(world, { id: contact })
  const body = { phone_number, message_type: 'text', text: 'Hello' }
  for (let batch = 0; batch < BATCHES; batch++) {
    const answers = await Promise.all(
      Array.from({ length: BATCH }, () => world.request('POST', '/send-chat', { key: organization.key, body })),
    )
    expect(answers.map(({ status }) => status)).toEqual(Array.from({ length: BATCH }, () => 200))
    await world.app.webhooks.drain()
  }
}

/** The number of reads of events and writes of positions while texts are sent. */
async function costOfSending(): Promise<{ reads: number; commits: number }> {
  const nodes = (await explain(send)).map((plan) => plan.nodes)
  const reads = nodes.filter((read) => /on events: [1-9]/.test(read)).length
  return { reads, commits: nodes.filter((read) => read.includes('ModifyTable on webhook_feeds')).length }
}

/** Disables the webhook as a 410 does. */
async function disable(endpoint: Endpoint): Promise<void> {
  endpoint.respond(() => 410)
  await raise(world, contact, 1)
  await world.drain()
  endpoint.respond(() => 204)
  endpoint.received.splice(0)
}

const enable = async ({ id }: Endpoint) => {
  const { status } = await world.request('POST', `/set-webhooks/${id}/enable`, { key: organization.key })
  expect(status).toBe(200)
}

describe('reading events and writing positions', () => {
  it('does not happen without webhooks', async () => {
    expect(await costOfSending()).toEqual({ reads: 0, commits: 0 })
  })

  it('does not happen if every webhook is disabled', async () => {
    await disable(await startEndpoint(world, organization))
    expect(await costOfSending()).toEqual({ reads: 0, commits: 0 })
  })

  it('happens once a round for a webhook, without a new position if it takes none of the events', async () => {
    await startEndpoint(world, organization, ['message.failed'])
    const others = await costOfSending()
    expect(others.reads).toBeGreaterThan(0)
    expect(others.commits).toBe(0)
    const endpoint = await startEndpoint(world, organization, ['message.sent'])
    const { commits } = await costOfSending()
    expect(endpoint.received).toHaveLength(SENDS)
    expect(commits).toBeGreaterThan(0)
    expect(commits).toBeLessThanOrEqual(BATCHES)
  })

  it('happens for a console page only while it is open', async () => {
    const source = await openEventSource(world, (await signIn(world, organization)).cookie)
    const { reads, commits } = await costOfSending()
    expect(reads).toBeGreaterThan(0)
    expect(commits).toBe(0)
    await expect.poll(() => source.events.filter(({ type }) => type === 'message.sent').length).toBe(SENDS)
    source.close()
    await source.ended
    await expect.poll(costOfSending).toEqual({ reads: 0, commits: 0 })
  })
})

describe('enabling a webhook', () => {
  it('delivers later events, and reads no earlier ones', async () => {
    const endpoint = await startEndpoint(world, organization, ['contact.updated'])
    await disable(endpoint)
    await raise(world, contact, 3_000)
    await world.drain()
    await enable(endpoint)
    await raise(world, contact, 2, 10_000)
    const plans = await explain(world.drain)
    expect(namesOf(endpoint)).toEqual(['10000', '10001'])
    for (const { rows, nodes } of plans) expect(rows, nodes).toBeLessThan(300)
  })

  it('delivers later events of a transaction that started before', async () => {
    const endpoint = await startEndpoint(world, organization, ['contact.updated'])
    await disable(endpoint)
    const other = await createContact(world, organization, number())
    const early = await holdOpen(world, 'SELECT pg_current_xact_id()', [])
    await enable(endpoint)
    await early.run(
      `INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT organization_id, gen_random_uuid(), 'contact.updated', id,
         jsonb_build_object('contact', to_jsonb(c) || '{"full_name": "early"}')
       FROM contacts c WHERE id = $1`,
      [other],
    )
    await raise(world, contact, 1)
    await world.drain()
    await early.commit()
    await world.drain()
    expect(namesOf(endpoint)).toEqual(['1', 'early'])
  })
})
