import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { verifyCounters } from '../../../src/core/analytics/verify.js'
import { getOrganization } from '../../../src/core/organizations.js'
import { newId } from '../../../src/lib/id.js'
import type { Organization } from '../../../src/model/organization.js'
import { type RecipientFields, seedCampaign, seedRecipient } from '../../support/campaigns.js'
import { startWorld, type World } from '../../support/world.js'

let world: World
let organization: Organization
let other: Organization

beforeAll(async () => {
  world = await startWorld()
  other = await getOrganization(world.app.ctx, (await world.createOrganization()).id)
})

beforeEach(async () => {
  organization = await getOrganization(world.app.ctx, (await world.createOrganization()).id)
})

afterAll(() => world.close())

const error = { code: 131026, text: 'Message undeliverable' }

/** One of every kind; the last is not ready. */
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

/** A broadcast with them, its counters right but for `changes`. */
async function seedBroadcast(owner = organization, changes: Record<string, number> = {}): Promise<string> {
  const counts = {
    ...{ total: 10, skipped: 1, recorded: 9, sent: 6, delivered: 4, read: 2, failed: 3, clicked: 2, opted_out: 1 },
    ...{ 'button: Yes': 2, 'button: No': 1, 'error: 131026': 1, 'error: 131047': 1, 'error: outcome_unknown': 1 },
  }
  const id = await seedCampaign(world, owner, { prepared_n: RECIPIENTS.length - 1, counts, deltas: changes })
  for (const [index, fields] of RECIPIENTS.entries()) await seedRecipient(world, owner, id, { n: index + 1, ...fields })
  return id
}

const verify = (broadcastId?: string) => verifyCounters(world.app.ctx, organization, broadcastId)

describe('a recount', () => {
  it('finds nothing where every counter is what the recipients and their messages say', async () => {
    const id = await seedBroadcast()
    expect(await verify()).toEqual({ campaigns: 1, drifts: [] })
    expect(await verify(id)).toEqual({ campaigns: 1, drifts: [] })
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
  ])('finds that %s is 1 more than the %i that it should be', async (name, recounted) => {
    const id = await seedBroadcast(organization, { [name]: 1 })
    const [counter, detail = ''] = name.split(': ')
    const drift = { campaignId: id, name: 'Spring', counter, detail, counted: recounted + 1, recounted }
    expect((await verify()).drifts).toEqual([drift])
  })

  it('finds a counter that is missing', async () => {
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
    expect(await verify(broadcastId)).toEqual({ campaigns: 1, drifts: [] })
    await seedRecipient(world, organization, id, { broadcastId: newId(), n: 0, status: 'sent' })
    const drifts = (await verify(broadcastId)).drifts.map(({ counter, counted, recounted }) => [
      counter,
      recounted - counted,
    ])
    expect(drifts).toEqual([
      ['recorded', 1],
      ['sent', 1],
      ['total', 1],
    ])
  })

  it('counts one broadcast only where one is named', async () => {
    const right = await seedBroadcast()
    const wrong = await seedBroadcast(organization, { sent: -1 })
    expect((await verify(right)).drifts).toEqual([])
    expect((await verify(wrong)).drifts).toMatchObject([{ campaignId: wrong, counted: 5, recounted: 6 }])
    expect(await verify()).toMatchObject({ campaigns: 2, drifts: [{ campaignId: wrong }] })
  })

  it('sees nothing of another organization', async () => {
    const foreign = await seedBroadcast(other, { sent: 1 })
    expect(await verify()).toEqual({ campaigns: 0, drifts: [] })
    await expect(verify(foreign)).rejects.toMatchObject({ code: 'broadcast_not_found' })
  })
})
