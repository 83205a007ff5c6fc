import { afterAll, beforeAll, expect, it } from 'vitest'
import { MILESTONE_STEP } from '../../../src/model/page.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

const CONTACTS = 26_000
const LIMIT = 100
/** More than 10,000 contacts from both ends. */
const MIDDLE = 131

let world: World
let organization: TestOrganization
let other: TestOrganization
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  other = await world.createOrganization()
  for (const { id } of [organization, other]) await addContacts(id, CONTACTS, "now() - interval '1 day'")
  await world.database.pool.query('VACUUM ANALYZE contact_activity')
  explain = await watchPlans(world.database)
})

afterAll(() => world.close())

/** Many have the same activity, as after an import. */
async function addContacts(organizationId: string, count: number, before: string): Promise<void> {
  await world.database.pool.query(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, full_name, folded_name)
       SELECT $1, gen_random_uuid(), (5511900000000 + n)::text, 'Ana', 'ana'
       FROM (SELECT count(*) + generate_series(1, $2::int) AS n FROM contacts WHERE organization_id = $1) numbers
       RETURNING organization_id, id, chat_id
     ), counted AS (
       INSERT INTO contact_counts (organization_id, change) VALUES ($1, $2)
     )
     INSERT INTO contact_activity (organization_id, contact_id, active_at)
     SELECT organization_id, id, ${before} + chat_id::bigint / 70 % 100 * interval '1 second' FROM made`,
    [organizationId, count],
  )
}

async function readPage(page: number, { key } = organization) {
  const path = `/conversations?action=contacts&limit=${LIMIT}&page=${page}`
  const { status, body } = await world.request('GET', path, { key })
  expect(status).toBe(200)
  return { ids: body.contacts.map(({ id }: { id: string }) => id), total: body.pagination.totalContacts }
}

async function expectedPage(page: number, { id } = organization): Promise<string[]> {
  const { rows } = await world.database.pool.query(
    `SELECT contact_id AS id FROM contact_activity WHERE organization_id = $1
     ORDER BY active_at DESC, contact_id DESC OFFSET $2 LIMIT $3`,
    [id, (page - 1) * LIMIT, LIMIT],
  )
  return rows.map((row) => row.id)
}

it('pages in the middle hold the contacts of their place, of this organization', async () => {
  for (const owner of [organization, other]) {
    for (const page of [101, 102, MIDDLE, MIDDLE + 1, 159, 160, 161, 260, 261]) {
      expect(await readPage(page, owner)).toEqual({ ids: await expectedPage(page, owner), total: CONTACTS })
    }
  }
})

it('a page in the middle reads less than the way between two milestones', async () => {
  await readPage(MIDDLE)
  const plans = await explain(async () => void (await readPage(MIDDLE)))
  for (const { name, rows } of plans) expect([name, rows <= MILESTONE_STEP + 2 * LIMIT]).toEqual([name, true])
  expect(plans.map(({ name }) => name)).toContain('contactLists.from')
})

it('new contacts move the pages at once', async () => {
  await readPage(MIDDLE)
  await addContacts(organization.id, 30, 'now()')
  expect((await readPage(MIDDLE)).ids).toEqual(await expectedPage(MIDDLE))
})

it('contacts that become active move them within a minute', async () => {
  await readPage(MIDDLE)
  await world.database.pool.query(
    `UPDATE contact_activity SET active_at = now() WHERE organization_id = $1 AND contact_id IN (
       SELECT contact_id FROM contact_activity WHERE organization_id = $1 ORDER BY active_at, contact_id LIMIT 40
     )`,
    [organization.id],
  )
  world.advance(60_000)
  expect((await readPage(MIDDLE)).ids).toEqual(await expectedPage(MIDDLE))
})
