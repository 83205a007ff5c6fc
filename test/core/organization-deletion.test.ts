import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { foldCounts } from '../../src/core/maintenance.js'
import { indexConversation } from '../../src/core/messages/search.js'
import { createContact } from '../interfaces/hooks/support.js'
import { insertMessages } from '../support/conversations.js'
import { type Held, hold, untilWaiting } from '../support/locks.js'
import { startWorld, type TestOrganization, type World } from '../support/world.js'
import { workOffLater } from './media/support.js'

let world: World
const holding: Held[] = []

beforeAll(async () => {
  world = await startWorld()
})
afterEach(async () => {
  for (const held of holding.splice(0)) await held.release()
  await world.drain()
})
afterAll(() => world.close())

const CUSTOMER = '5511987653333'

interface Deletion {
  organization: TestOrganization
  contactId: string
  /** What it waits for. */
  held: Held
  /** Lets it go on. */
  go(): Promise<void>
  ended: Promise<number>
}

/** Begins to delete an organization, and stops in the midst of its messages. */
async function beginDeletion(): Promise<Deletion> {
  const organization = await world.createOrganization()
  const contactId = await createContact(world, organization, `+${CUSTOMER}`)
  await createContact(world, organization, '+5511987654444')
  const upstreamIds = await insertMessages(world, contactId, ['one', 'two'])
  const sql = 'SELECT FROM messages WHERE upstream_id = $1 FOR UPDATE'
  const held = await hold(world.database, sql, [upstreamIds[1]])
  holding.push(held)
  const ended = world.admin('DELETE', `/organizations/${organization.id}`).then(({ status }) => status)
  await untilWaiting(world.database, 1)
  return { organization, contactId, held, go: held.release, ended }
}

/** What is left when whoever was at it has ended, and the sweep has been there. */
async function rowsOf(organizationId: string): Promise<Record<string, number>> {
  await workOffLater(world)
  const found: Record<string, number> = {}
  for (const table of ['contacts', 'contact_activity', 'contact_counts', 'message_search', 'messages']) {
    const { rows } = await world.database.pool.query(
      `SELECT count(*) AS count FROM ${table} WHERE organization_id = $1`,
      [organizationId],
    )
    found[table] = rows[0].count
  }
  return found
}

const NOTHING = { contacts: 0, contact_activity: 0, contact_counts: 0, message_search: 0, messages: 0 }

describe('an organization is deleted', () => {
  it('while the counts of contacts are folded', async () => {
    const { organization, go, ended } = await beginDeletion()
    const folding = foldCounts(world.app.ctx)
    await Promise.race([folding, untilWaiting(world.database, 2)])
    await go()
    expect(await Promise.allSettled([ended, folding])).toMatchObject([
      { status: 'fulfilled', value: 200 },
      { status: 'fulfilled' },
    ])
    expect(await rowsOf(organization.id)).toEqual(NOTHING)
  })

  it('while one of its conversations is made searchable', async () => {
    const { organization, contactId, go, ended } = await beginDeletion()
    const indexing = indexConversation(world.app.ctx, organization.id, contactId)
    await untilWaiting(world.database, 2)
    await go()
    expect(await Promise.allSettled([ended, indexing])).toMatchObject([
      { status: 'fulfilled', value: 200 },
      { status: 'fulfilled' },
    ])
    expect(await rowsOf(organization.id)).toEqual(NOTHING)
  })

  it('while somebody who has a message waits for its contact', async () => {
    const { organization, contactId, held, go, ended } = await beginDeletion()
    const waiting = held.run('SELECT FROM contacts WHERE id = $1 FOR KEY SHARE', [contactId])
    await Promise.allSettled([waiting])
    await go()
    expect(await ended).toBe(200)
    expect(await rowsOf(organization.id)).toEqual(NOTHING)
  })

  it('while one of its contacts is erased', async () => {
    const { organization, go, ended } = await beginDeletion()
    const erasing = world.request('DELETE', '/contact?chat_id=5511987654444', { key: organization.key })
    await untilWaiting(world.database, 2)
    await go()
    expect(await ended).toBe(200)
    expect([200, 404]).toContain((await erasing).status)
    expect(await rowsOf(organization.id)).toEqual(NOTHING)
  })
})
