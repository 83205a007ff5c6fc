import { beforeAll, expect, it } from 'vitest'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { useOrganization, useWorld } from '../../support/world.js'

/** The last page is not full. */
const CONTACTS = 2_605
const LIMIT = 10
const PAGES = 261
const MIDDLE = 131

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  for (const { id } of [organization, other]) await addContacts(id, CONTACTS, "now() - interval '1 day'")
  await world.database.pool.query('VACUUM ANALYZE contact_activity')
  explain = await watchPlans(world.database)
})

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

it('every page holds the contacts of its place, of this organization', async () => {
  for (const owner of [organization, other]) {
    for (const page of [1, 2, MIDDLE - 1, MIDDLE, MIDDLE + 1, PAGES - 1, PAGES, PAGES + 1]) {
      expect(await readPage(page, owner)).toEqual({ ids: await expectedPage(page, owner), total: CONTACTS })
    }
  }
})

it('a page reads what is between it and the nearer end', async () => {
  for (const [page, between] of [
    [1, 0],
    [MIDDLE, CONTACTS / 2],
    [PAGES - 5, 5 * LIMIT],
    [PAGES, 0],
    [PAGES + 1, 0],
  ] as const) {
    const plans = await explain(async () => void (await readPage(page)))
    for (const { name, rows } of plans) expect([page, name, rows <= between + 3 * LIMIT]).toEqual([page, name, true])
  }
})

it('new contacts, and those that become active, move the pages at once', async () => {
  await addContacts(organization.id, 30, 'now()')
  await world.database.pool.query(
    `UPDATE contact_activity SET active_at = now() WHERE organization_id = $1 AND contact_id IN (
       SELECT contact_id FROM contact_activity WHERE organization_id = $1 ORDER BY active_at, contact_id LIMIT 40
     )`,
    [organization.id],
  )
  for (const page of [1, MIDDLE, PAGES]) expect((await readPage(page)).ids).toEqual(await expectedPage(page))
})
