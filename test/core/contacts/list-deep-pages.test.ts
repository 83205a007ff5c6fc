import { beforeAll, expect, it } from 'vitest'
import { MAX_DEPTH } from '../../../src/model/page.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

beforeAll(async () => {
  for (const [{ id }, count] of [
    [organization, MAX_DEPTH + 150],
    [other, 3],
  ] as const) {
    await world.database.pool.query(
      `INSERT INTO contacts (organization_id, id, chat_id, full_name, folded_name, opted_out_at, opt_out_source)
       SELECT $1, gen_random_uuid(), (5511900000000 + n)::text, 'Ana', 'ana', now(), 'reply' FROM generate_series(1, $2::int) n`,
      [id, count],
    )
    await world.database.pool.query(
      `INSERT INTO contact_activity (organization_id, contact_id, active_at)
       SELECT organization_id, id, now() FROM contacts WHERE organization_id = $1 ON CONFLICT DO NOTHING`,
      [id],
    )
  }
})

it('counts up to one more than pages reach', async () => {
  const { key } = organization
  const optOuts = await world.request('GET', '/opt-outs?limit=1', { key })
  const found = await world.request('GET', '/conversations?action=contacts&search=ana', { key })
  expect([optOuts.body.pagination.totalOptOuts, found.body.pagination.totalContacts]).toEqual([10_001, 10_001])
})

const LISTS = [
  ['/opt-outs?', 'optOuts', /The export has all/],
  ['/conversations?action=contacts&search=ana&', 'contacts', /Search for more of the name/],
] as const

it.each(LISTS)(
  'GET %s returns pages up to the depth, 400 beyond it if there may be more, and an empty page past the end',
  async (path, name, hint) => {
    const read = (page: number, { key } = organization) =>
      world.request('GET', `${path}limit=100&page=${page}`, { key })
    const last = await read(100)
    expect([last.status, last.body[name].length]).toEqual([200, 100])
    for (const page of [101, 103]) {
      const deep = await read(page)
      expect(deep.status).toBe(400)
      expect(deep.body).toMatchObject({ success: false, error: 'Invalid parameter' })
      expect(deep.body.message).toMatch(new RegExp(`page ${page} is too deep.*first 10000 items`))
      expect(deep.body.message).toMatch(hint)
    }
    const past = await read(101, other)
    expect([past.status, past.body[name]]).toEqual([200, []])
  },
)
