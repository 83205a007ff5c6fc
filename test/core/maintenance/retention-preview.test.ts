import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { prune } from '../../../src/core/maintenance/maintenance.js'
import { previewRetention } from '../../../src/core/maintenance/retention-preview.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import { newId } from '../../../src/lib/bytes/id.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { insertMessages } from '../../support/conversations.js'
import { workOffLater } from '../../support/jobs.js'
import { contactRows } from '../../support/rows/contacts.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

const DAY = 86_400_000
const CUSTOMER = '16505551001'

let world: World
let organization: TestOrganization

beforeEach(async () => {
  world = await startWorld()
  organization = await world.createOrganization({ message_retention_days: 60, media_retention_days: 40 })
})
afterEach(() => world.close())

const preview = async (days = {}) => {
  const { ctx } = world.app
  return previewRetention(ctx, await getOrganization(ctx, organization.id), days)
}
const rowsOf = (kinds: Awaited<ReturnType<typeof preview>>) =>
  Object.fromEntries(kinds.map(({ kind, rows }) => [kind, rows]))

/** How many rows of each kind there are. */
async function countAll(): Promise<Record<string, number>> {
  const { rows } = await world.database.pool.query(
    `SELECT (SELECT count(*)::int FROM callbacks WHERE organization_id = $1) AS callbacks,
       (SELECT count(*)::int FROM events WHERE organization_id = $1) AS events,
       (SELECT count(*)::int FROM webhook_deliveries WHERE organization_id = $1) AS webhook_deliveries,
       (SELECT count(*)::int FROM media WHERE organization_id = $1) AS files,
       (SELECT count(*)::int FROM messages WHERE organization_id = $1) AS messages`,
    [organization.id],
  )
  return rows[0]
}

/** Two contacts with messages, a reaction, an image, events and deliveries; the last message of each is of today. */
async function furnish(): Promise<void> {
  const { key, id, phoneNumberId } = organization
  const body = { url: 'http://127.0.0.1:9/', events: ['*'] }
  const { webhook } = (await world.request('POST', '/set-webhooks', { key, body })).body
  const first = textMessage(CUSTOMER, 'first')
  const reaction = { ...textMessage(CUSTOMER, ''), type: 'reaction', reaction: { message_id: first.id, emoji: '👍' } }
  await receiveMessages(world, organization, first, reaction, textMessage('16505551002', 'other'))
  await world.sim('POST', '/inbound', { phone_number_id: phoneNumberId, from: CUSTOMER, type: 'image', image: {} })
  await world.settle()
  await world.database.pool.query('DELETE FROM webhook_deliveries WHERE organization_id = $1', [id])
  await world.database.pool.query(
    `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, status)
     SELECT $1, unnest($3::uuid[]), $2, 1, $2, 'test', false, unnest(ARRAY['delivered', 'failed', 'pending'])`,
    [id, webhook.id, [newId(), newId(), newId()]],
  )
  for (const contact of await contactRows(world, { organization_id: id }))
    await insertMessages(world, contact.id, ['now'])
  await world.database.pool.query(
    `UPDATE messages SET recorded_at = now() + interval '100 days' WHERE organization_id = $1 AND text = 'now'`,
    [id],
  )
}

describe('the preview', () => {
  it('counts what the next run deletes', async () => {
    await furnish()
    world.advance(100 * DAY)
    const previewed = await preview()
    expect(rowsOf(previewed)).toMatchObject({ callbacks: 4, webhook_deliveries: 2, files: 1, messages: 4 })
    for (const { kind, rows_are, bytes, oldest } of previewed) {
      expect({ kind, rows_are, isSized: bytes > 0 }).toEqual({ kind, rows_are: 'exact', isSized: true })
      expect(Math.abs(Date.parse(oldest ?? '') - Date.now())).toBeLessThan(DAY)
    }
    const before = await countAll()
    await prune(world.app.work)
    await workOffLater(world)
    const after = await countAll()
    expect(rowsOf(previewed)).toEqual(
      Object.fromEntries(Object.entries(before).map(([kind, rows]) => [kind, rows - (after[kind] ?? 0)])),
    )
    const nothing = { callbacks: 0, events: 0, webhook_deliveries: 0, files: 0, messages: 0 }
    expect(rowsOf(await preview())).toEqual(nothing)
  })

  it('counts with other days, and changes nothing', async () => {
    await furnish()
    world.advance(50 * DAY)
    expect(rowsOf(await preview())).toMatchObject({ files: 1, messages: 0 })
    const before = await countAll()
    const other = await preview({ retention_days: 30, message_retention_days: 45, media_retention_days: null })
    expect(rowsOf(other)).toMatchObject({ files: 1, messages: 4 })
    expect(other.map(({ days }) => days)).toEqual([30, 30, 30, 45, 45])
    const off = await preview({ retention_days: 365, message_retention_days: null, media_retention_days: null })
    expect(rowsOf(off)).toEqual({ callbacks: 0, events: 0, webhook_deliveries: 0, files: 0, messages: 0 })
    expect(await countAll()).toEqual(before)
    await expect(preview({ message_retention_days: 1 })).rejects.toThrow('message_retention_days 1 is less')
    const path = `/organizations/${organization.id}/retention-preview`
    const days = { retention_days: 30, message_retention_days: 45, media_retention_days: null }
    expect((await world.admin('POST', path, days)).body).toEqual({ success: true, kinds: other })
    expect((await world.admin('POST', path, { message_retention_days: 0 })).status).toBe(400)
  })

  it('is nothing while a legal hold is on', async () => {
    await furnish()
    world.advance(100 * DAY)
    await world.admin('PUT', `/organizations/${organization.id}/hold`, { reason: 'Case 12' })
    expect(rowsOf(await preview())).toEqual({ callbacks: 0, events: 0, webhook_deliveries: 0, files: 0, messages: 0 })
  })

  it('tells that there are more rows than it counts', async () => {
    const contact = await world.request('POST', '/contact', {
      key: organization.key,
      body: { phone_number: `+${CUSTOMER}` },
    })
    await insertMessages(
      world,
      contact.body.contact.id,
      Array.from({ length: 100_010 }, () => 'x'),
    )
    world.advance(100 * DAY)
    const messages = (await preview()).find(({ kind }) => kind === 'messages')
    expect(messages).toMatchObject({ rows: 100_000, rows_are: 'at least' })
  })
})
