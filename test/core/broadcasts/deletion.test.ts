import { expect, it } from 'vitest'
import { reconcileBroadcasts } from '../../../src/core/broadcasts/reconcile.js'
import { rollUpCounts } from '../../../src/core/maintenance/maintenance.js'
import { deleteOrganizationData } from '../../../src/core/maintenance/organization-deletion.js'
import { newBroadcaster, OFFER, OFFER_PARAMETERS } from '../../support/broadcasts.js'
import { workOffLater } from '../../support/jobs.js'
import { jobRows } from '../../support/rows/jobs.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()

const TABLES = [
  ...['broadcasts', 'broadcast_recipients', 'broadcast_failures', 'broadcast_utm_campaigns', 'campaign_deltas'],
  ...['campaign_counts', 'campaign_errors', 'short_links', 'templates', 'contacts', 'messages'],
]

async function countRows({ id }: TestOrganization): Promise<Record<string, number>> {
  const found: Record<string, number> = {}
  for (const table of TABLES) {
    const { rows } = await world.database.pool.query(
      `SELECT count(*) AS count FROM ${table} WHERE organization_id = $1`,
      [id],
    )
    found[table] = rows[0].count
  }
  return found
}

async function broadcast({ key }: TestOrganization, recipients: object[]): Promise<void> {
  const body = { name: 'News', templateName: OFFER, ...OFFER_PARAMETERS, audience: { recipients } }
  expect((await world.request('POST', '/broadcasts', { key, body })).status).toBe(202)
}

const NUMBERS = Array.from({ length: 200 }, (_, n) => `1650777${1_000 + n}`)

/** An organization with something in every table of broadcasts. */
async function furnish(): Promise<TestOrganization> {
  const organization = await newBroadcaster(world)
  const { key } = organization
  const shortlink = { redirect_url: 'https://shop.example/?utm_campaign=natal', code: `natal-${organization.slug}` }
  await world.request('POST', '/shortlinks', { key, body: shortlink })
  await broadcast(organization, [
    { chatNumber: '16505000001', buttonParameters: { param1: shortlink.code } },
    { chatNumber: NUMBERS[0] },
  ])
  await world.settle()
  await rollUpCounts(world.app.work)
  return organization
}

it('deleting an organization removes all of its broadcasts, and none of another organization', async () => {
  const [organization, other] = [await furnish(), await furnish()]
  await broadcast(organization, [{ chatNumber: NUMBERS[1] }])
  await broadcast(other, [{ chatNumber: NUMBERS[1] }])
  const before = await countRows(organization)
  const untouched = await countRows(other)
  for (const [table, count] of Object.entries(before))
    expect({ table, isEmpty: count === 0 }).toEqual({ table, isEmpty: false })
  expect((await world.admin('DELETE', `/organizations/${organization.id}`)).status).toBe(200)
  await deleteOrganizationData(world.app.ctx, organization.id, true)
  expect(await countRows(organization)).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])))
  expect(await countRows(other)).toEqual(untouched)
})

it('deleting an organization while its broadcast is being sent removes everything, and its jobs end', async () => {
  await world.sim('POST', '/settings', { statuses: false })
  const organization = await newBroadcaster(world)
  await broadcast(
    organization,
    NUMBERS.map((chatNumber) => ({ chatNumber })),
  )
  const draining = world.drain()
  const sent = async () =>
    (await world.sim('GET', `/messages?phone_number_id=${organization.phoneNumberId}&limit=0`)).body.total
  await expect.poll(sent).toBeGreaterThan(0)
  expect((await world.admin('DELETE', `/organizations/${organization.id}`)).status).toBe(200)
  await draining
  await reconcileBroadcasts(world.app.ctx)
  // Running work is gone, and then the row of the organization.
  await workOffLater(world)
  await workOffLater(world)
  expect(await countRows(organization)).toEqual(Object.fromEntries(TABLES.map((table) => [table, 0])))
  expect(await jobRows(world, { organization_id: organization.id })).toEqual([])
})
