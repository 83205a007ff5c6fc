import { beforeAll, expect, it } from 'vitest'
import { LOOKED_THROUGH } from '../../../src/storage/webhooks/log.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { setWebhook } from '../../support/webhooks.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let webhookId: string
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  webhookId = (await setWebhook(world, organization)).id
  // The oldest one failed, and so did one of another organization.
  for (const [{ id }, count] of [
    [organization, LOOKED_THROUGH + 50],
    [await world.createOrganization(), 1],
  ] as const) {
    await world.database.pool.query(
      `INSERT INTO webhook_deliveries (organization_id, id, webhook_id, event_seq, event_id, event_type, in_order, status)
       SELECT $1, ('00000000-0000-7000-8000-' || lpad(n::text, 12, '0'))::uuid, $2, n, gen_random_uuid(), 'contact.created', false,
         CASE n WHEN 1 THEN 'failed' ELSE 'delivered' END
       FROM generate_series(1, $3::int) n`,
      [id, webhookId, count],
    )
  }
  await world.database.pool.query('ANALYZE webhook_deliveries')
  explain = await watchPlans(world.database)
})

const list = (query: string) => world.request('GET', `/webhook-deliveries?${query}`, { key: organization.key })

it('a status that is not among the newest deliveries is looked for in one webhook only', async () => {
  const { status, body } = await list('status=failed')
  expect([status, body.message]).toEqual([
    400,
    `page 1 of status "failed" is not among the newest ${LOOKED_THROUGH} deliveries, which are all that are looked through: filter by webhook_id, too`,
  ])
  const { body: found } = await list(`status=failed&webhook_id=${webhookId}`)
  expect([found.count, found.pagination.totalDeliveries]).toEqual([1, 1])
})

it('a common status is found at once', async () => {
  const plans = await explain(async () => {
    const { status, body } = await list('status=delivered')
    expect([status, body.count, body.pagination.totalDeliveries]).toEqual([200, 50, 10_001])
  })
  for (const { name, rows } of plans) expect([name, rows <= 10_001]).toEqual([name, true])
})

it('a rare one costs the reading of as many as are looked through', async () => {
  const plans = await explain(async () => void (await list('status=pending')))
  for (const { name, rows } of plans) expect([name, rows <= LOOKED_THROUGH + 1]).toEqual([name, true])
})
