import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { importContacts } from '../../../src/core/contacts/import.js'
import { indexConversation } from '../../../src/core/conversations/search.js'
import { rollUpCounts } from '../../../src/core/maintenance/maintenance.js'
import { deleteOrganizationData } from '../../../src/core/maintenance/organization-deletion.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { createContact } from '../../support/contacts.js'
import { insertMessages } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { type Held, hold, untilWaiting } from '../../support/locks.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const holding: Held[] = []

afterEach(async () => {
  for (const held of holding.splice(0)) await held.release()
  await workOffLater(world)
})

const CUSTOMER = '5511987653333'
const OTHER_CUSTOMER = '5511987654444'

interface Shop {
  organization: TestOrganization
  contactIds: [string, string]
  upstreamIds: string[]
}

/** An organization with two contacts, one of them with messages. */
async function furnish(): Promise<Shop> {
  const organization = await world.createOrganization()
  const first = await createContact(world, organization, `+${CUSTOMER}`)
  const second = await createContact(world, organization, `+${OTHER_CUSTOMER}`)
  const upstreamIds = await insertMessages(world, first, ['one', 'two'])
  return { organization, contactIds: [first, second], upstreamIds }
}

async function keepHeld(sql: string, values: readonly unknown[]): Promise<Held> {
  const held = await hold(world.database, sql, values)
  holding.push(held)
  return held
}

async function deleteIt({ organization }: Shop): Promise<void> {
  expect((await world.admin('DELETE', `/organizations/${organization.id}`)).status).toBe(200)
}

/** Deletes an organization, and starts deleting its rows, which stops in the middle of its messages. */
async function beginDeletion(): Promise<Shop & { go(): Promise<void> }> {
  const shop = await furnish()
  const held = await keepHeld('SELECT FROM messages WHERE upstream_id = $1 FOR UPDATE', [shop.upstreamIds[1]])
  await deleteIt(shop)
  const deleting = world.drain()
  await untilWaiting(world.database, 1)
  const go = async () => {
    await held.release()
    await deleting
  }
  return { ...shop, go }
}

/** The rows left when all running work has ended and the last job has run. */
async function rowsLeft({ organization }: Shop): Promise<Record<string, number>> {
  await workOffLater(world)
  await workOffLater(world)
  const found: Record<string, number> = {}
  for (const table of ['contacts', 'contact_activity', 'contact_counts', 'message_search', 'messages', 'events']) {
    found[table] = await countRows(table, organization.id)
  }
  found.organizations = await countRows('organization_rows', organization.id, 'id')
  return found
}

async function countRows(table: string, id: string, column = 'organization_id'): Promise<number> {
  const { rows } = await world.database.pool.query(`SELECT count(*) AS count FROM ${table} WHERE ${column} = $1`, [id])
  return rows[0].count
}

const NOTHING = {
  contacts: 0,
  contact_activity: 0,
  contact_counts: 0,
  message_search: 0,
  messages: 0,
  events: 0,
  organizations: 0,
}

describe('the rows of a deleted organization are removed', () => {
  it('while the counts of contacts are rolled up', async () => {
    const { go, ...shop } = await beginDeletion()
    await rollUpCounts(world.app.work)
    await go()
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('while one of its conversations is being indexed', async () => {
    const { go, ...shop } = await beginDeletion()
    const indexing = indexConversation(world.app.ctx, shop.organization.id, shop.contactIds[0])
    await untilWaiting(world.database, 2)
    await go()
    await indexing
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('while a transaction that holds one contact waits for another one', async () => {
    const shop = await furnish()
    const [first, second] = shop.contactIds
    const held = await keepHeld('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [second])
    await deleteIt(shop)
    const deleting = world.drain()
    await untilWaiting(world.database, 1)
    await Promise.allSettled([held.run('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [first])])
    await held.release()
    await deleting
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('while one of its contacts is erased', async () => {
    const shop = await furnish()
    const held = await keepHeld('SELECT FROM contacts WHERE id = $1 FOR UPDATE', [shop.contactIds[1]])
    const erasing = world.request('DELETE', `/contact?chat_id=${OTHER_CUSTOMER}`, { key: shop.organization.key })
    await untilWaiting(world.database, 1)
    await deleteIt(shop)
    const deleting = world.drain()
    await untilWaiting(world.database, 2)
    await held.release()
    await deleting
    expect([200, 404]).toContain((await erasing).status)
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('along with rows that a running request wrote afterwards', async () => {
    const shop = await furnish()
    await deleteIt(shop)
    await world.drain()
    expect(await countRows('contacts', shop.organization.id)).toBe(0)
    await createContactRow(shop.organization.id)
    await world.database.pool.query(
      `INSERT INTO directory (kind, value_hash, organization_id) VALUES ('slug', '\\x01', $1)`,
      [shop.organization.id],
    )
    expect(await rowsLeft(shop)).toEqual(NOTHING)
    const { rows } = await world.database.pool.query('SELECT kind FROM directory WHERE organization_id = $1', [
      shop.organization.id,
    ])
    expect(rows).toEqual([{ kind: 'api_key' }])
    await expect(createContactRow(shop.organization.id)).rejects.toThrow('foreign key')
  })

  it('in batches; a run killed in between continues with the rest', async () => {
    const shop = await furnish()
    const { id } = shop.organization
    await world.database.pool.query(
      `INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, status, created_at)
       SELECT $1, gen_random_uuid(), $2, n, 'user-chat', 'text', 'Oi', 'read', now() FROM generate_series(10, 2509) n`,
      [id, shop.contactIds[0]],
    )
    const sql = 'SELECT FROM messages WHERE organization_id = $1 AND id = $2 FOR UPDATE'
    const { rows: middle } = await world.database.pool.query(
      'SELECT id FROM messages WHERE organization_id = $1 ORDER BY id OFFSET 1500 LIMIT 1',
      [id],
    )
    const held = await keepHeld(sql, [id, middle[0].id])
    await deleteIt(shop)
    const deleting = world.drain()
    await untilWaiting(world.database, 1)
    // The rows of the first batch are gone, even if the second fails.
    expect(await countRows('messages', id)).toBe(1_502)
    expect(await countRows('contacts', id)).toBe(2)
    await world.database.pool.query(
      `SELECT pg_terminate_backend(pid) FROM pg_stat_activity
       WHERE datname = current_database() AND wait_event_type = 'Lock'`,
    )
    await deleting
    expect(await countRows('messages', id)).toBe(1_502)
    await held.release()
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('in several jobs if there are many, so that other work is not delayed', async () => {
    const shop = await furnish()
    const { id } = shop.organization
    await world.database.pool.query(
      `INSERT INTO campaign_errors (organization_id, code, text) SELECT $1, n, '' FROM generate_series(1, 201000) n`,
      [id],
    )
    await deleteIt(shop)
    await deleteOrganizationData(world.app.ctx, id, true)
    expect(await countRows('campaign_errors', id)).toBeGreaterThan(0)
    expect(await countRows('organization_rows', id, 'id')).toBe(1)
    expect(await rowsLeft(shop)).toEqual(NOTHING)
    expect(await countRows('campaign_errors', id)).toBe(0)
  })

  it('and a running import ends', async () => {
    const shop = await furnish()
    const organization = await getOrganization(world.app.ctx, shop.organization.id)
    const folder = await mkdtemp(join(tmpdir(), 'parley-deletion-'))
    const file = join(folder, 'contacts.csv')
    await writeFile(file, ['phone_number', ...Array.from({ length: 501 }, (_, n) => 5511980000000 + n)].join('\n'))
    const batches: number[] = []
    const importing = importContacts(world.app.ctx, organization, file, {
      existing: 'update',
      report: async (results) => {
        batches.push(results.length)
        await deleteIt(shop)
      },
    })
    await expect(importing).rejects.toMatchObject({ code: 'organization_not_found' })
    expect(batches).toEqual([500])
    await rm(folder, { recursive: true })
    expect(await rowsLeft(shop)).toEqual(NOTHING)
  })

  it('and no others: a job for an existing organization fails', async () => {
    const shop = await furnish()
    await expect(deleteOrganizationData(world.app.ctx, shop.organization.id, true)).rejects.toThrow('is not deleted')
    expect(await countRows('contacts', shop.organization.id)).toBe(2)
  })
})

it('an organization created while another one takes its slug keeps its own data', async () => {
  const slug = `same-${newId().slice(-8)}`
  const made = await Promise.all(
    Array.from({ length: 6 }, () => world.admin('POST', '/organizations', { name: 'Shop', slug })),
  )
  expect(made.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409, 409])
})

async function createContactRow(organizationId: string): Promise<void> {
  await world.database.pool.query(
    `INSERT INTO contacts (organization_id, id, chat_id) VALUES ($1, gen_random_uuid(), '5511987650000')`,
    [organizationId],
  )
}
