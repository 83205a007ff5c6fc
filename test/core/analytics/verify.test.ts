import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyCounters } from '../../../src/core/analytics/verify.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import { newId } from '../../../src/lib/bytes/id.js'
import type { Organization } from '../../../src/model/organizations/organization.js'
import { putStorefrontOrders } from '../../../src/storage/storefront/orders.js'
import { type RecipientFields, seedCampaign, seedRecipient } from '../../support/campaigns.js'
import { createContact } from '../../support/contacts.js'
import { connectStorefront } from '../../support/storefront.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let organization: TestOrganization & Organization
let other: Organization

beforeAll(async () => {
  other = await getOrganization(world.app.ctx, (await world.createOrganization()).id)
})

beforeEach(async () => {
  organization = await createOrganization()
})

async function createOrganization(): Promise<TestOrganization & Organization> {
  const made = await world.createOrganization()
  return { ...made, ...(await getOrganization(world.app.ctx, made.id)) }
}

const error = { code: 131026, text: 'Message undeliverable' }

/** One of every kind; the last one is not prepared. */
const RECIPIENTS: Omit<RecipientFields, 'n'>[] = [
  { status: 'sent', outstanding: 'pending', accepted: false },
  { status: 'sent' },
  { status: 'delivered', clicked: ['Yes', 'No'], opted_out: true },
  { status: 'delivered' },
  { status: 'read', clicked: ['Yes'] },
  { status: 'failed', accepted: false, error },
  { status: 'failed', error: { ...error, code: '131047' } },
  { outcome: { status: 'read', accepted_at: '2026-03-10T15:00:00Z', error: null } },
  { outcome: { status: 'failed', error: { code: 'outcome_unknown', text: 'The contact was erased' } } },
  { skip_reason: 'blocked' },
  {},
  {},
]

/** A broadcast with them; its counters are right except for `changes`. */
async function seedBroadcast(
  owner: Organization = organization,
  changes: Record<string, number> = {},
): Promise<string> {
  const counts = {
    ...{ total: 10, skipped: 1, recorded: 9, sent: 6, delivered: 4, read: 2, failed: 3, clicked: 2, opted_out: 1 },
    ...{ 'button: Yes': 2, 'button: No': 1, 'error: 131026': 1, 'error: 131047': 1, 'error: outcome_unknown': 1 },
  }
  const id = await seedCampaign(world, owner, { prepared_n: RECIPIENTS.length - 1, counts, deltas: changes })
  for (const [index, fields] of RECIPIENTS.entries()) await seedRecipient(world, owner, id, { n: index + 1, ...fields })
  return id
}

const verify = () => verifyCounters(world.app.ctx, organization)

describe('a recount', () => {
  it('finds no difference if every counter matches the recipients and their messages', async () => {
    await seedBroadcast()
    expect(await verify()).toEqual({ campaigns: 1, drifts: [] })
  })

  it.each([
    ['total', 10],
    ['skipped', 1],
    ['recorded', 9],
    ['sent', 6],
    ['delivered', 4],
    ['read', 2],
    ['failed', 3],
    ['clicked', 2],
    ['opted_out', 1],
    ['button: Yes', 2],
    ['button: Perhaps', 0],
    ['error: 131026', 1],
    ['error: outcome_unknown', 1],
    ['error: 1', 0],
  ])('reports that %s is 1 more than the expected %i', async (name, recounted) => {
    const id = await seedBroadcast(organization, { [name]: 1 })
    const [counter, detail = ''] = name.split(': ')
    const drift = { campaignId: id, name: 'Spring', counter, detail, counted: recounted + 1, recounted }
    expect((await verify()).drifts).toEqual([drift])
  })

  it('reports a missing counter', async () => {
    const id = await seedBroadcast()
    await world.database.pool.query("DELETE FROM campaign_counts WHERE campaign_id = $1 AND counter = 'read'", [id])
    expect((await verify()).drifts).toMatchObject([{ counter: 'read', counted: 0, recounted: 2 }])
  })

  it('counts the send-templates of a day together', async () => {
    const id = await seedCampaign(world, organization, {
      kind: 'singles',
      counts: { total: 2, recorded: 2, sent: 2, read: 1, delivered: 1, clicked: 1, 'button: Yes': 1, skipped: 1 },
    })
    const broadcastId = newId()
    await seedRecipient(world, organization, id, { broadcastId, n: 0, status: 'read', clicked: ['Yes'] })
    await seedRecipient(world, organization, id, { broadcastId: newId(), n: 0, status: 'sent' })
    await seedRecipient(world, organization, id, { broadcastId: newId(), n: 0, skip_reason: 'opted out' })
    expect(await verify()).toEqual({ campaigns: 1, drifts: [] })
    await seedRecipient(world, organization, id, { broadcastId: newId(), n: 0, status: 'sent' })
    const drifts = (await verify()).drifts.map(({ counter, counted, recounted }) => [counter, recounted - counted])
    expect(drifts).toEqual([
      ['recorded', 1],
      ['sent', 1],
      ['total', 1],
    ])
  })

  describe('of revenue', () => {
    const DAY = 86_400_000
    const AT = Date.parse('2026-03-10T15:00:00Z')

    /** An order of the campaign "spring", placed this number of days after the start. */
    async function putOrder(days: number, contactId: string | null): Promise<void> {
      const at = new Date(AT + days * DAY)
      const order = { id: newId(), name: '#1', total_price: '10.00', currency: organization.currency, ordered_at: at }
      const visit = { utm_source: 'chat', utm_campaign: 'spring', contact_id: contactId, updated_at: at }
      const state = { financial_status: 'paid', is_test: false, cancelled_at: null }
      await putStorefrontOrders(world.database, organization.id, [{ ...order, ...visit, ...state }], null)
    }

    /** A link of the campaign "spring"; its code. */
    async function makeLink(): Promise<string> {
      const code = `verified-${newId()}`
      await world.database.pool.query(
        'INSERT INTO short_links (organization_id, code, redirect_url, utm_campaign) VALUES ($1, $2, $3, $4)',
        [organization.id, code, 'https://shop.example/?utm_source=chat&utm_campaign=spring', 'spring'],
      )
      return code
    }

    beforeEach(() => connectStorefront(world, organization))

    it('reports revenue that a broadcast lacks', async () => {
      const buyer = await createContact(world, organization, '+5511976543210')
      const parameters = { buttons: { param1: await makeLink() } }
      const counts = { total: 1, recorded: 1, sent: 1 }
      const id = await seedCampaign(world, organization, { parameters, counts, prepared_n: 1 })
      await seedRecipient(world, organization, id, { n: 1, status: 'sent' })
      const query = (sql: string, ...values: unknown[]) => world.database.pool.query(sql, [id, ...values])
      await query('UPDATE broadcast_recipients SET contact_id = $2 WHERE broadcast_id = $1', buyer)
      await query(
        'UPDATE messages SET contact_id = $2, accepted_at = $3 WHERE broadcast_id = $1',
        buyer,
        new Date(AT + 10 * DAY),
      )
      await putOrder(11, buyer)
      expect(await verify()).toEqual({ campaigns: 1, drifts: [] })
      // Its recorded end is before that message was sent.
      await query('UPDATE broadcasts SET completed_at = $2 WHERE id = $1', new Date(AT + DAY))
      const of = { campaignId: id, name: 'Spring', detail: '' }
      expect((await verify()).drifts).toEqual([
        { ...of, counter: 'attributed revenue', counted: 0, recounted: 10 },
        { ...of, counter: 'attributed orders', counted: 0, recounted: 1 },
      ])
    })

    it('reports revenue that the send-templates of a day lack', async () => {
      const code = await makeLink()
      const counts = { total: 1, recorded: 1, sent: 1 }
      const id = await seedCampaign(world, organization, { kind: 'singles', template: 'hello', counts })
      const broadcastId = newId()
      await seedRecipient(world, organization, id, { broadcastId, n: 0, status: 'sent' })
      await world.database.pool.query(
        `INSERT INTO sent_links (organization_id, broadcast_id, n, code, campaign_id, campaign, noted_at)
         VALUES ($1, $2, 0, $3, $4, 'spring', $5)`,
        [organization.id, broadcastId, code, id, new Date(AT - 1_000)],
      )
      await putOrder(1, null)
      expect(await verify()).toEqual({ campaigns: 1, drifts: [] })
      // Its recorded day is later than the day it was sent.
      await world.database.pool.query("UPDATE broadcasts SET day = '2026-03-20' WHERE id = $1", [id])
      const of = { campaignId: id, name: 'hello', detail: '' }
      expect((await verify()).drifts).toEqual([
        { ...of, counter: 'attributed revenue', counted: 0, recounted: 10 },
        { ...of, counter: 'attributed orders', counted: 0, recounted: 1 },
      ])
    })
  })

  it('names the broadcast whose counter is wrong', async () => {
    await seedBroadcast()
    const wrong = await seedBroadcast(organization, { sent: -1 })
    expect(await verify()).toMatchObject({
      campaigns: 2,
      drifts: [{ campaignId: wrong, counted: 5, recounted: 6 }],
    })
  })

  it('ignores other organizations', async () => {
    await seedBroadcast(other, { sent: 1 })
    expect(await verify()).toEqual({ campaigns: 0, drifts: [] })
  })
})
