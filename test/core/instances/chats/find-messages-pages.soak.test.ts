import { beforeAll, expect, it } from 'vitest'
import { requireInstance } from '../../../../src/core/instances/manage/find.js'
import { LOOKED_THROUGH } from '../../../../src/storage/instances/channel-messages.js'
import { insertMessages } from '../../../support/conversations.js'
import { createInstance } from '../../../support/instances.js'
import { type RunPlan, watchPlans } from '../../../support/plans.js'
import { useOrganization, useWorld } from '../../../support/world.js'

/** More than a filter looks through. */
const MESSAGES = LOOKED_THROUGH + 2_000
const LIMIT = 50
const MIDDLE = MESSAGES / LIMIT / 2
/** Among the oldest, which a filter does not look through. */
const RARE = 'locationMessage'

const world = useWorld()
const organization = useOrganization(world)
let contactId: string
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  await createInstance(world, organization, { instanceName: 'phone', integration: 'SANDBOX' })
  const { id: instanceId } = await requireInstance(world.app.ctx, organization.id, 'phone')
  const body = { phone_number: '+16505550001' }
  contactId = (await world.request('POST', '/contact', { key: organization.key, body })).body.contact.id
  const { pool } = world.database
  await insertMessages(world, contactId, Array(MESSAGES).fill('x'))
  await pool.query(
    `UPDATE messages SET instance_id = $2, created_at = '2020-01-01'::timestamptz + seq / 3 * interval '1 second',
       gateway_type = CASE WHEN seq = 7 THEN '${RARE}' ELSE 'conversation' END
     WHERE contact_id = $1`,
    [contactId, instanceId],
  )
  await pool.query('INSERT INTO line_counts (organization_id, instance_id, change) VALUES ($1, $2, $3)', [
    organization.id,
    instanceId,
    MESSAGES,
  ])
  await pool.query('VACUUM ANALYZE messages')
  explain = await watchPlans(world.database)
})

async function find(body: object) {
  const answer = await world.request('POST', '/gateway/chat/findMessages/phone', { key: organization.key, body })
  const { messages } = answer.body
  return { ...answer, total: messages?.total, ids: messages?.records.map(({ id }: { id: string }) => id) }
}

async function expectedPage(page: number): Promise<string[]> {
  const { rows } = await world.database.pool.query(
    'SELECT id FROM messages WHERE contact_id = $1 ORDER BY created_at DESC, id DESC OFFSET $2 LIMIT $3',
    [contactId, (page - 1) * LIMIT, LIMIT],
  )
  return rows.map(({ id }) => id)
}

it('every page of all messages holds those of its place', async () => {
  for (const page of [1, 200, 201, 202, MIDDLE, MIDDLE + 1, MESSAGES / LIMIT - 100, MESSAGES / LIMIT]) {
    const { ids, total } = await find({ page })
    expect([page, total, ids]).toEqual([page, MESSAGES, await expectedPage(page)])
  }
  expect((await find({ page: MESSAGES / LIMIT + 1 })).ids).toEqual([])
})

it('a page reads what is between it and the nearer end', async () => {
  for (const [page, between] of [
    [1, 0],
    [MIDDLE, MESSAGES / 2],
    [MESSAGES / LIMIT, 0],
  ] as const) {
    const plans = await explain(async () => void (await find({ page })))
    for (const { name, rows } of plans) expect([page, name, rows <= between + 4 * LIMIT]).toEqual([page, name, true])
  }
})

it('a filter looks through the newest messages of its time range, and refuses a page that it does not find there', async () => {
  const found = await find({ where: { messageType: 'conversation' } })
  expect([found.total, found.ids]).toEqual([LOOKED_THROUGH + 1, await expectedPage(1)])

  const refused = await find({ where: { messageType: RARE } })
  expect(refused.status).toBe(400)
  expect(JSON.stringify(refused.body)).toContain(`newest ${LOOKED_THROUGH} messages`)

  const messageTimestamp = { gte: '2020-01-01T00:00:00Z', lte: '2020-01-01T00:10:00Z' }
  const narrowed = await find({ where: { messageType: RARE, messageTimestamp } })
  expect([narrowed.status, narrowed.total]).toEqual([200, 1])
})

it('a filter reads no more than it looks through', async () => {
  const plans = await explain(async () => void (await find({ where: { messageType: RARE } })))
  for (const { name, rows } of plans) expect([name, rows <= LOOKED_THROUGH + 1]).toEqual([name, true])
})
