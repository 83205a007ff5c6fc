import { beforeAll, expect, it } from 'vitest'
import { LOOKED_THROUGH } from '../../../src/core/broadcasts/read.js'
import { type SeededBroadcast, seedBroadcast } from '../../support/broadcast-rows.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { useOrganization, useWorld } from '../../support/world.js'

const RECIPIENTS = LOOKED_THROUGH + 100

const world = useWorld()
const organization = useOrganization(world)
let broadcast: SeededBroadcast
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

/** All recipients have read the message; the last one has it delivered only. */
beforeAll(async () => {
  broadcast = await seedBroadcast(world, organization)
  const { pool } = world.database
  await pool.query(
    `INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, number, outcome)
     SELECT $1, $2, n, $2, n::text, jsonb_build_object('status', CASE n WHEN $3 THEN 'delivered' ELSE 'read' END)
     FROM generate_series(1, $3::int) n`,
    [organization.id, broadcast.id, RECIPIENTS],
  )
  await pool.query('UPDATE broadcasts SET prepared_n = $2 WHERE id = $1', [broadcast.id, RECIPIENTS])
  await pool.query(
    `INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
     SELECT $1, $2, counter, $3::int - (counter = 'read')::int FROM unnest(ARRAY['total', 'recorded', 'delivered', 'read']) counter`,
    [organization.id, broadcast.id, RECIPIENTS],
  )
  await pool.query('ANALYZE broadcast_recipients')
  explain = await watchPlans(world.database)
})

const list = (query: string) =>
  world.request('GET', `/broadcasts/${broadcast.id}/recipients?${query}`, { key: organization.key })

it('the recipients of a common status are found at once', async () => {
  const plans = await explain(async () => {
    const { status, body } = await list('status=read&limit=50')
    expect([status, body.recipients.length]).toEqual([200, 50])
  })
  for (const { name, rows } of plans) expect([name, rows <= 200]).toEqual([name, true])
})

it('those of a rare one are looked for among the first 100,000, and all are in the export', async () => {
  const plans = await explain(async () => {
    const { status, body } = await list('status=delivered')
    expect([status, body.message]).toEqual([
      400,
      'the first 100000 recipients, which are all that are looked through, have too few of status "delivered" for this page. ' +
        'With format=csv you get all',
    ])
  })
  for (const { name, rows } of plans) expect([name, rows <= LOOKED_THROUGH + 10]).toEqual([name, true])
  const { status, body } = await list('status=delivered&format=csv')
  expect([status, body.trim().split('\n').length]).toEqual([200, 2])
})

it('every recipient is on a page of all', async () => {
  const { body } = await list(`limit=100&page=${RECIPIENTS / 100}`)
  expect([body.recipients.length, body.recipients.at(-1).status]).toEqual([100, 'delivered'])
})
