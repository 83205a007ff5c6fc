import fc from 'fast-check'
import { expect, it } from 'vitest'
import { listContacts } from '../../../src/core/contacts/list.js'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { rollUpCounts } from '../../../src/core/maintenance/maintenance.js'
import { getOrganization } from '../../../src/core/organizations/organizations.js'
import type { Organization } from '../../../src/model/organizations/organization.js'
import { receiveMessages, textMessage } from '../../support/callbacks.js'
import { eventsOf } from '../../support/rows/events.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()

type Step = { kind: 'create' | 'erase' | 'receive' | 'meet' | 'merge'; person: number } | { kind: 'fold' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constantFrom('create', 'erase', 'meet', 'merge'), person: fc.nat({ max: 7 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('receive'), person: fc.nat({ max: 7 }) }) },
  { weight: 2, arbitrary: fc.constant({ kind: 'fold' }) },
) as fc.Arbitrary<Step>
/** Groups of concurrent steps, one group after the other. */
const moments = fc.array(fc.array(step, { minLength: 1, maxLength: 6 }), { minLength: 2, maxLength: 8 })

async function take(organization: TestOrganization, step: Step): Promise<void> {
  const { ctx } = world.app
  if (step.kind === 'fold') return rollUpCounts(world.app.work)
  const digits = `1650551${String(step.person).padStart(4, '0')}`
  const userId = `US.${step.person}`
  switch (step.kind) {
    case 'create':
      await world.request('POST', '/contact', { key: organization.key, body: { phone_number: digits } })
      break
    case 'erase': {
      const { status } = await world.request('DELETE', `/contact?chat_id=${digits}`, { key: organization.key })
      expect([200, 404]).toContain(status)
      break
    }
    case 'receive':
      return receiveMessages(world, organization, textMessage(digits, 'Oi'))
    case 'meet':
      await resolveContact(ctx, organization.id, { waId: null, userId })
      break
    case 'merge':
      await resolveContact(ctx, organization.id, { waId: digits, userId })
  }
}

/** The organization's contacts according to their rows, most recently active first. */
async function recount({ id }: Organization): Promise<string[]> {
  const { rows } = await world.database.pool.query(
    `SELECT c.id FROM contacts c LEFT JOIN contact_activity a ON a.organization_id = c.organization_id AND a.contact_id = c.id
     WHERE c.organization_id = $1 ORDER BY a.active_at DESC, c.id DESC`,
    [id],
  )
  return rows.map((row) => row.id)
}

const countRows = async (table: string, { id }: Organization) =>
  (await world.database.pool.query(`SELECT count(*) AS count FROM ${table} WHERE organization_id = $1`, [id])).rows[0]
    .count

it('the list is complete and its total right under concurrent changes, whenever the counts are rolled up', async () => {
  let merged = 0
  await fc.assert(
    fc.asyncProperty(moments, fc.integer({ min: 1, max: 5 }), async (story, limit) => {
      const made = await world.createOrganization()
      const organization = await getOrganization(world.app.ctx, made.id)
      for (const steps of story) {
        await Promise.all(steps.map((one) => take(made, one)))
        const expected = await recount(organization)
        const shown: string[] = []
        for (let page = 1; page <= Math.ceil(expected.length / limit) + 1; page++) {
          const { contacts, total } = await listContacts(world.app.ctx, organization, { search: null, page, limit })
          expect(total).toBe(expected.length)
          shown.push(...contacts.map(({ id }) => id))
        }
        expect(shown).toEqual(expected)
        expect(await countRows('contact_activity', organization)).toBe(expected.length)
      }
      merged += (await eventsOfMerges(organization)) > 0 ? 1 : 0
      await rollUpCounts(world.app.work)
      expect(await countRows('contact_counts', organization)).toBeLessThanOrEqual(1)
    }),
    { seed: 7, numRuns: 40 },
  )
  expect(merged).toBeGreaterThan(5)
})

async function eventsOfMerges(owner: Organization): Promise<number> {
  return (await eventsOf(world, owner, 'contact.updated')).length
}

it('concurrent roll-ups keep the counts of many organizations correct', async () => {
  const organizations = await Promise.all(Array.from({ length: 4 }, () => world.createOrganization()))
  const { pool } = world.database
  const ids = organizations.map(({ id }) => id)
  await pool.query(
    `INSERT INTO contact_counts (organization_id, change)
     SELECT id, CASE WHEN n % 3 = 0 THEN -1 ELSE 1 END FROM unnest($1::uuid[]) AS id, generate_series(1, 300) AS n ORDER BY n`,
    [ids],
  )
  const add = (id: string | undefined) =>
    pool.query('INSERT INTO contact_counts (organization_id, change) VALUES ($1, 1)', [id])
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 4 === 0 ? rollUpCounts(world.app.work) : add(ids[index % 4]))),
  )
  await rollUpCounts(world.app.work)
  const { rows } = await pool.query<{ rows: number; sum: string }>(
    `SELECT count(*) AS rows, sum(change)::float8 AS sum FROM contact_counts WHERE organization_id = ANY ($1)
     GROUP BY organization_id ORDER BY array_position($1, organization_id)`,
    [ids],
  )
  expect(rows).toEqual([100, 110, 110, 110].map((sum) => ({ rows: 1, sum })))
})
