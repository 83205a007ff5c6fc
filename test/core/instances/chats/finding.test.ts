import { beforeAll, expect, it } from 'vitest'
import { findChat, findChats } from '../../../../src/core/instances/chats/find-chats.js'
import { findContacts } from '../../../../src/core/instances/chats/find-contacts.js'
import { findMessages } from '../../../../src/core/instances/chats/find-messages.js'
import { requireInstance } from '../../../../src/core/instances/manage/find.js'
import { getOrganization } from '../../../../src/core/organizations/organizations.js'
import type { Instance } from '../../../../src/model/instances/instance.js'
import type { Organization } from '../../../../src/model/organizations/organization.js'
import { createContact } from '../../../support/contacts.js'
import { insertMessages, moveToInstance } from '../../../support/conversations.js'
import { createInstance } from '../../../support/instances.js'
import { type RunPlan, watchPlans } from '../../../support/plans.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const MANY = 1_000

const world = useWorld()
const organization = useOrganization(world)
let tenant: Organization
let phone: Instance
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
  tenant = await getOrganization(world.app.ctx, organization.id)
  phone = await requireInstance(world.app.ctx, organization.id, 'phone')
  explain = await watchPlans(world.database)
})

/** A person who wrote these texts to the instance. */
async function talk(number: string, texts: string[]): Promise<string> {
  const id = await createContact(world, organization, number)
  await insertMessages(world, id, texts)
  await moveToInstance(world, id, phone.id)
  return id
}

/** What the work returns, and the number of rows that it reads. */
async function reading<Found>(work: () => Promise<Found>): Promise<{ found: Found; rows: number }> {
  let found: Found | undefined
  const plans = await explain(async () => {
    found = await work()
  })
  return { found: found as Found, rows: plans.reduce((sum, { rows }) => sum + rows, 0) }
}

it('a page of a complete conversation is a range of numbers; of an incomplete one it is counted from the nearer end', async () => {
  const number = '+16505550001'
  const contact = await talk(
    number,
    Array.from({ length: MANY }, (_, index) => String(index + 1)),
  )
  const search = { keyId: null, remoteJid: number, fromMe: null, messageType: null, status: null, from: null, to: null }
  const find = async (number: number) => {
    const page = { page: number, limit: 2 }
    const { found, rows } = await reading(() => findMessages(world.app.ctx, tenant, phone, { search, page }))
    return { texts: found.messages.map(({ text }) => text), total: found.total, rows }
  }
  const whole = await find(MANY / 4)
  expect(whole).toMatchObject({ texts: ['502', '501'], total: MANY })
  expect(whole.rows).toBeLessThan(50)
  await moveToInstance(world, contact, crypto.randomUUID(), [MANY])
  for (const [page, texts] of [
    [1, ['999', '998']],
    [499, ['3', '2']],
    [500, ['1']],
    [501, []],
  ] as const) {
    const { rows, ...found } = await find(page)
    expect(found).toEqual({ texts, total: MANY - 1 })
    // The messages are counted once.
    expect(rows).toBeLessThan(MANY + 50)
  }
})

it('a chat is found by its newest message without counting', async () => {
  const number = '+16505550002'
  const contact = await talk(number, [...Array(MANY - 1).fill('here'), 'elsewhere'])
  await moveToInstance(world, contact, crypto.randomUUID(), [MANY])
  const { found, rows } = await reading(() => findChat(world.app.ctx, tenant, phone, number))
  expect(found?.text).toBe('here')
  expect(rows).toBeLessThan(50)
})

it('finding chats since a given time reads no older messages', async () => {
  await talk('+16505550003', Array(MANY).fill('old'))
  const contact = await talk('+16505550004', ['new'])
  await world.database.pool.query('UPDATE messages SET created_at = $2 WHERE contact_id = $1', [contact, '2101-01-01'])
  const search = { remoteJid: null, from: new Date('2100-01-01'), to: null, skip: 0, take: 10 }
  const { found, rows } = await reading(() => findChats(world.app.ctx, tenant, phone, search))
  expect(found.map(({ text }) => text)).toEqual(['new'])
  expect(rows).toBeLessThan(50)
})

it('contacts with a common name are scanned in order, those with a rare name looked up', async () => {
  await world.database.pool.query(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, full_name, folded_name)
       SELECT $1, gen_random_uuid(), (5511900000000 + n)::text, name, lower(name)
       FROM (SELECT n, CASE n WHEN 1 THEN 'Zoe' ELSE 'Maria ' || n END AS name FROM generate_series(1, $2::int) n) named
       RETURNING organization_id, id, chat_id
     ), counted AS (
       INSERT INTO contact_counts (organization_id, change) VALUES ($1, $2)
     )
     INSERT INTO contact_activity (organization_id, contact_id, active_at)
     SELECT organization_id, id, '2102-01-01'::timestamptz + chat_id::bigint % 10000 * interval '1 second' FROM made`,
    [organization.id, MANY],
  )
  await world.database.pool.query('ANALYZE contacts, contact_activity')
  const find = async (pushName: string) => {
    const search = { id: null, remoteJid: null, pushName }
    const { found, rows } = await reading(() => findContacts(world.app.ctx, tenant, search, { page: 1, limit: 1 }))
    return { names: found.map(({ full_name }) => full_name), rows }
  }
  const common = await find('maria')
  expect(common.names).toEqual([`Maria ${MANY}`])
  // They are counted once.
  expect(common.rows).toBeLessThan(MANY + 50)
  const rare = await find('zoe')
  expect(rare.names).toEqual(['Zoe'])
  expect(rare.rows).toBeLessThan(50)
})
