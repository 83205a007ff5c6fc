import { afterAll, afterEach, beforeAll, beforeEach, expect, it } from 'vitest'
import { eraseTraces, type Traces } from '../../../src/core/contacts/erase-traces.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { setWebhook } from '../../interfaces/api/webhooks-support.js'
import { createContact, receiveMessages, textMessage } from '../../interfaces/hooks/support.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { hearNotifications } from '../../support/signals.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

const CUSTOMER = '5511987654321'
const OTHER = '5511987650000'

let world: World
let organization: TestOrganization
let contactId: string

beforeAll(async () => {
  world = await startWorld()
})

beforeEach(async () => {
  organization = await world.createOrganization()
  contactId = await createContact(world, organization, `+${CUSTOMER}`)
  await setWebhook(world, organization)
})

afterEach(() => world.reset())

afterAll(() => world.close())

const erase = (traces: Partial<Traces> = {}, { id } = organization) =>
  eraseTraces(world.app.ctx, id, { contactId, addresses: [CUSTOMER], ...traces })

/** Stores raw callbacks that name a number; resolves to their ids. */
async function storeCallbacks(number: string, count: number, waiting = false, { id } = organization) {
  const ids = Array.from({ length: count }, newId)
  await world.database.pool.query(
    `INSERT INTO callbacks (organization_id, id, body, waiting)
     SELECT $1, id, convert_to($3, 'UTF8'), $4 FROM unnest($2::uuid[]) AS given (id)`,
    [id, ids, `{"from": "${number}"}`, waiting],
  )
  return ids
}

/** How many callbacks of the organization are blank and how many are not. */
async function countCallbacks({ id } = organization) {
  const { rows } = await world.database.pool.query(
    `SELECT count(*) FILTER (WHERE body = '')::int AS blank, count(*) FILTER (WHERE body <> '')::int AS kept
     FROM callbacks WHERE organization_id = $1`,
    [id],
  )
  return rows[0]
}

it('reads the callbacks without blocking new deliveries', async () => {
  await receiveMessages(world, organization, textMessage(CUSTOMER, 'forget me'))
  const ofOrganization = 'WHERE organization_id = $1 FOR UPDATE'
  const callbacks = await hold(world.database, `SELECT FROM callbacks ${ofOrganization}`, [organization.id])
  const erasing = erase()
  try {
    await untilWaiting(world.database, 1, 'UPDATE callbacks')
    const feed = await hold(world.database, `SELECT FROM webhook_feeds ${ofOrganization} NOWAIT`, [organization.id])
    await feed.release()
  } finally {
    await callbacks.release()
    await erasing
  }
  expect(await countCallbacks()).toEqual({ blank: 1, kept: 0 })
})

it('makes processes with deliveries in memory reload them once the events are blank', async () => {
  const heard = hearNotifications(world)
  await erase()
  expect(heard()).toContainEqual({ topic: 'webhooks', organizationId: organization.id })
})

it('finds events, deliveries and callbacks among more rows than one statement looks at', async () => {
  const other = await createContact(world, organization, `+${OTHER}`)
  const stranger = await world.createOrganization()
  const strangers = await storeCallbacks(CUSTOMER, 1, false, stranger)
  const { rows } = await world.database.pool.query(
    `WITH made AS (
       INSERT INTO events (organization_id, id, type, contact_id, data)
       SELECT $1, gen_random_uuid(), 'message.received', CASE WHEN n % 4000 = 0 THEN $2::uuid ELSE $3::uuid END, '{"n": 1}'
       FROM generate_series(1, 12000) AS n
       RETURNING organization_id, id, seq, type, contact_id
     ), delivered AS (
       INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, contact_id, in_order, status, attempts)
       SELECT organization_id, gen_random_uuid(), gen_random_uuid(), seq, id, type, contact_id, true, 'delivered', '[{"response_body": "hi"}]'
       FROM made
     )
     SELECT max(seq) AS last FROM made`,
    [organization.id, contactId, other],
  )
  await storeCallbacks(OTHER, 600)
  await storeCallbacks(CUSTOMER, 1)
  await storeCallbacks(OTHER, 600)
  await storeCallbacks(CUSTOMER, 1)
  expect(await erase()).toBeNull()
  const found = await world.database.pool.query(
    `SELECT e.contact_id = $2 AS theirs, e.data = '{}' AS blank, d.attempts -> 0 ->> 'response_body' IS NULL AS silent, count(*)::int
     FROM events e JOIN webhook_deliveries d ON d.organization_id = e.organization_id AND d.event_seq = e.seq
     WHERE e.organization_id = $1 AND e.seq <= $3 AND e.type = 'message.received'
     GROUP BY 1, 2, 3 ORDER BY 1`,
    [organization.id, contactId, rows[0].last],
  )
  expect(found.rows).toEqual([
    { theirs: false, blank: false, silent: false, count: 11_997 },
    { theirs: true, blank: true, silent: true, count: 3 },
  ])
  expect(await countCallbacks()).toEqual({ blank: 2, kept: 1_200 })
  expect(await countCallbacks(stranger)).toEqual({ blank: 0, kept: strangers.length })
})

it('continues where it stopped', async () => {
  const [first = ''] = await storeCallbacks(CUSTOMER, 2)
  expect(await erase({ position: { table: 'callbacks', after: first, isWaiting: false } })).toBeNull()
  expect(await countCallbacks()).toEqual({ blank: 1, kept: 1 })
})

it('comes back a minute later for callbacks that are not processed yet', async () => {
  const waiting = await storeCallbacks(CUSTOMER, 1, true)
  await storeCallbacks(CUSTOMER, 1)
  const again = await erase()
  expect(again).toMatchObject({ againInMs: 60_000, payload: { contactId, position: { table: 'callbacks' } } })
  expect(await countCallbacks()).toEqual({ blank: 1, kept: 1 })
  await world.database.pool.query('UPDATE callbacks SET waiting = false WHERE id = ANY ($1)', [waiting])
  expect(await erase(again?.payload as Traces)).toBeNull()
  expect(await countCallbacks()).toEqual({ blank: 2, kept: 0 })
})
