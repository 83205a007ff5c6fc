import { afterEach, beforeEach, expect, it } from 'vitest'
import { eraseTraces, type Traces } from '../../../src/core/contacts/erase-traces.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { insertCallbacks } from '../../../src/storage/callbacks/callbacks.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { createContact } from '../../support/contacts.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { hearNotifications } from '../../support/signals.js'
import { setWebhook } from '../../support/webhooks.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const CUSTOMER = '5511987654321'
const OTHER = '5511987650000'

const world = useWorld()
let organization: TestOrganization
let contactId: string

beforeEach(async () => {
  organization = await world.createOrganization()
  contactId = await createContact(world, organization, `+${CUSTOMER}`)
  await setWebhook(world, organization)
})

afterEach(() => world.reset())

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
  // As autovacuum does soon. If it did so before these rows were there, an organization seems to have one of them.
  await world.database.pool.query('ANALYZE events, webhook_deliveries')
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

it('finds addresses in packed callbacks, of its organization only', async () => {
  const stranger = await world.createOrganization()
  const store = ({ id: organizationId }: TestOrganization, from: string) => {
    const value = { messaging_product: 'whatsapp', messages: [{ from, type: 'text', text: { body: 'Hello' } }] }
    const entry = [{ id: '419561257915477', changes: [{ value, field: 'messages' }] }]
    const body = Buffer.from(JSON.stringify({ object: 'whatsapp_business_account', entry }))
    return { organizationId, id: newId(), instanceId: null, body, traceparent: null }
  }
  await insertCallbacks(world.database, [
    store(organization, CUSTOMER),
    store(organization, OTHER),
    store(stranger, CUSTOMER),
  ])
  await storeCallbacks(CUSTOMER, 1)
  await world.database.pool.query('UPDATE callbacks SET waiting = false')
  const packed = await world.database.pool.query(`SELECT FROM callbacks WHERE substr(body, 1, 1) = '\\x01'`)
  expect(packed.rowCount).toBe(3)
  expect(await erase()).toBeNull()
  expect(await countCallbacks()).toEqual({ blank: 2, kept: 1 })
  expect(await countCallbacks(stranger)).toEqual({ blank: 0, kept: 1 })
})

it('passes packed callbacks that are damaged', async () => {
  await storeCallbacks(CUSTOMER, 1)
  await world.database.pool.query(
    `INSERT INTO callbacks (organization_id, id, body, waiting) VALUES ($1, $2, '\\x01ffffff', false)`,
    [organization.id, newId()],
  )
  await storeCallbacks(CUSTOMER, 1)
  expect(await erase()).toBeNull()
  expect(await countCallbacks()).toEqual({ blank: 2, kept: 1 })
})

it('continues where it stopped', async () => {
  const [first = ''] = await storeCallbacks(CUSTOMER, 2)
  expect(await erase({ position: { table: 'callbacks', after: first, isWaiting: false } })).toBeNull()
  expect(await countCallbacks()).toEqual({ blank: 1, kept: 1 })
})

it('blanks and forgets a failed callback only if the address is a whole value in it', async () => {
  const bodies = {
    theirs: `{"statuses": [{"recipient_id": "${CUSTOMER}"}]}`,
    device: `{"events":[{"key":{"remoteJid":"${CUSTOMER}:12@s.whatsapp.net"}}]}`,
    longer: `{"from": "9${CUSTOMER}0", "id": "${CUSTOMER}1"}`,
    told: `{"from": "${OTHER}", "text": {"body": "call \\"${CUSTOMER}\\""}}`,
    only: `{"from": "${OTHER}", "text": {"body" : "${CUSTOMER}"}}`,
  }
  const stranger = await world.createOrganization()
  for (const { id } of [organization, stranger]) {
    await world.database.pool.query(
      `WITH stored AS (
         INSERT INTO callbacks (organization_id, id, body)
         SELECT $1, gen_random_uuid(), convert_to(body, 'UTF8') FROM unnest($2::text[]) AS given (body)
         RETURNING id
       )
       INSERT INTO set_aside_callbacks (organization_id, callback_id, keys, attempts, run_at, failed_at)
       SELECT $1, id, '{}', 25, now(), now() FROM stored`,
      [id, Object.values(bodies)],
    )
  }
  expect(await erase()).toBeNull()
  const kept = async ({ id }: TestOrganization) => {
    const { rows } = await world.database.pool.query(
      `SELECT convert_from(c.body, 'UTF8') AS body FROM set_aside_callbacks s
       JOIN callbacks c ON c.organization_id = $1 AND c.id = s.callback_id
       WHERE s.organization_id = $1`,
      [id],
    )
    return rows.map(({ body }) => body).sort()
  }
  expect(await kept(organization)).toEqual([bodies.longer, bodies.told, bodies.only].sort())
  expect(await countCallbacks()).toEqual({ blank: 2, kept: 3 })
  expect(await kept(stranger)).toEqual(Object.values(bodies).sort())
})

it('deletes the keys of linked devices that name the person', async () => {
  const theirs = [`${CUSTOMER}.0`, `${CUSTOMER}@s.whatsapp.net`, `120363@g.us::${CUSTOMER}::2`, '4711_1.0']
  const others = [`${CUSTOMER}0.0`, `${OTHER}.0`, '471_1.0', '7']
  const stranger = await world.createOrganization()
  for (const { id } of [organization, stranger]) {
    await world.database.pool.query(
      `WITH made AS (
         INSERT INTO instances (organization_id, id, name, kind, state, token, token_hash)
         VALUES ($1, gen_random_uuid(), 'phone', 'linked_device', 'close', '', '') RETURNING id
       )
       INSERT INTO device_keys (organization_id, instance_id, type, key_id, value)
       SELECT $1, id, 'session', key_id, '' FROM made, unnest($2::text[]) AS key_id`,
      [id, [...theirs, ...others]],
    )
  }
  await erase({ addresses: [CUSTOMER, 'user:4711@lid'] })
  const keys = async ({ id }: TestOrganization) => {
    const { rows } = await world.database.pool.query('SELECT key_id FROM device_keys WHERE organization_id = $1', [id])
    return rows.map(({ key_id }) => key_id).sort()
  }
  expect(await keys(organization)).toEqual(others.sort())
  expect(await keys(stranger)).toEqual([...theirs, ...others].sort())
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
