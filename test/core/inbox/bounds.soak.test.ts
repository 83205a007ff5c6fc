import { beforeAll, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../support/console.js'
import { type RunPlan, watchPlans } from '../../support/plans.js'
import { type TestOrganization, useOrganization, useWorld } from '../../support/world.js'

/** More than a page of the inbox walks through. */
const CONTACTS = 125_000
const MAX_WALKED = 111_000

const world = useWorld()
const organization = useOrganization(world)
let member: SignedInMember
let explain: (work: () => Promise<void>) => Promise<RunPlan[]>

beforeAll(async () => {
  member = await signIn(world, organization)
  await addContacts(organization, CONTACTS)
  await addContacts(await world.createOrganization(), 100)
  await world.database.pool.query('ANALYZE')
  explain = await watchPlans(world.database)
})

/** The first two, which are the least recently active, and the last one are unread and have a tag. */
async function addContacts({ id }: TestOrganization, count: number): Promise<void> {
  await world.database.pool.query(
    `WITH made AS (
       INSERT INTO contacts (organization_id, id, chat_id, full_name, folded_name, tags, has_unread_messages)
       SELECT $1, gen_random_uuid(), 'c' || n, 'P' || n, 'p' || n,
         CASE WHEN n IN (1, 2, $2) THEN ARRAY['rare'] ELSE '{}' END, n IN (1, 2, $2)
       FROM generate_series(1, $2::int) n
       RETURNING organization_id, id, chat_id
     )
     INSERT INTO contact_activity (organization_id, contact_id, active_at)
     SELECT organization_id, id, '2026-01-01'::timestamptz + substr(chat_id, 2)::int * interval '1 second' FROM made`,
    [id, count],
  )
}

it.each(['filter=unread', 'tag=rare'])(
  'a page with %s ends after a number of contacts, and the next one goes on',
  async (filter) => {
    const pages: string[][] = []
    const plans = await explain(async () => {
      for (let cursor: string | null = ''; cursor !== null; ) {
        const { status, body } = await member.call('GET', `/inbox?${filter}${cursor && `&cursor=${cursor}`}`)
        expect(status).toBe(200)
        pages.push(body.contacts.map(({ full_name }: { full_name: string }) => full_name))
        cursor = body.next_cursor
      }
    })
    expect(pages).toEqual([[`P${CONTACTS}`], ['P2', 'P1']])
    for (const { name, rows } of plans) expect([name, rows <= 2 * MAX_WALKED]).toEqual([name, true])
  },
)
