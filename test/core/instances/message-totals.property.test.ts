import fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { rollUpCounts } from '../../../src/core/maintenance/maintenance.js'
import { rollUpChannelCounts } from '../../../src/storage/counts/channels.js'
import { startMessageWorld } from '../../support/gateway-messages.js'
import { createInstance, scan } from '../../support/instances.js'
import { useStarted } from '../../support/started.js'
import type { TestOrganization } from '../../support/world.js'

const on = useStarted(startMessageWorld)

beforeAll(async () => {
  await openPhone(on.other, '5511988886666')
  await receive(on.other, 'phone', { from: '16505510001' })
  await on.world.settle()
})

async function openPhone(organization: TestOrganization, number: string, instanceName = 'phone'): Promise<string> {
  const { world } = on
  const { id } = await createInstance(world, organization, { instanceName, integration: 'SANDBOX' })
  await world.request('GET', `/gateway/instance/connect/${instanceName}`, { key: organization.key })
  expect((await scan(world, organization, instanceName, number)).status).toBe(200)
  await world.settle()
  return id
}

/** A person writes to an instance, or (`shop`) to the organization's number. */
async function receive({ id, phoneNumberId }: TestOrganization, instance: string, from: object): Promise<void> {
  const to = instance === 'shop' ? { phone_number_id: phoneNumberId } : { organization_id: id, instance }
  const body = { ...to, ...from, type: 'text', text: { body: 'Oi' } }
  expect((await on.world.sim('POST', '/inbound', body)).status).toBe(200)
}

async function totalOf(instance: string, { key } = on.organization): Promise<number> {
  const { body } = await on.world.request('POST', `/gateway/chat/findMessages/${instance}`, { key, body: {} })
  return body.messages.total
}

/** The messages according to their rows, by channel; null is the organization's number. */
async function recount({ id }: TestOrganization): Promise<Map<string | null, number>> {
  const { rows } = await on.world.database.pool.query<{ instance_id: string | null; count: number }>(
    'SELECT instance_id, count(*) AS count FROM messages WHERE organization_id = $1 AND seq IS NOT NULL GROUP BY instance_id',
    [id],
  )
  return new Map(rows.map((row) => [row.instance_id, row.count]))
}

/** The rows of the totals: their number for each channel, and their sum. */
async function rowsOf(instanceIds: readonly string[]): Promise<{ rows: number; sum: number }[]> {
  const { rows } = await on.world.database.pool.query<{ rows: number; sum: number }>(
    `SELECT count(*) AS rows, sum(change)::float8 AS sum FROM line_counts WHERE instance_id = ANY ($1)
     GROUP BY instance_id ORDER BY array_position($1, instance_id)`,
    [instanceIds],
  )
  return rows
}

async function idOf(name: string, { id } = on.organization): Promise<string> {
  const { rows } = await on.world.database.pool.query(
    'SELECT id FROM instances WHERE organization_id = $1 AND name = $2',
    [id, name],
  )
  return rows[0].id
}

type Kind = 'send' | 'react' | 'receive' | 'erase' | 'meet' | 'merge'
type Step = { kind: Kind; person: number; instance: 'phone' | 'shop' } | { kind: 'fold' }

const step: fc.Arbitrary<Step> = fc.oneof(
  {
    weight: 6,
    arbitrary: fc.record({
      kind: fc.constantFrom<Kind>('send', 'send', 'react', 'receive', 'receive', 'erase', 'meet', 'merge'),
      person: fc.nat({ max: 4 }),
      instance: fc.constantFrom('phone' as const, 'shop' as const),
    }),
  },
  { weight: 2, arbitrary: fc.constant({ kind: 'fold' as const }) },
)
/** Groups of concurrent steps, one group after the other. */
const moments = fc.array(fc.array(step, { minLength: 2, maxLength: 8 }), { minLength: 2, maxLength: 6 })

async function take(step: Step): Promise<void> {
  const { world, organization } = on
  if (step.kind === 'fold') return rollUpCounts(world.app.work)
  const { kind, instance, person } = step
  const number = `1650551${String(person + 10).padStart(4, '0')}`
  const userId = `US.${person}`
  switch (kind) {
    case 'send':
      await on.send('sendText', instance, { number, text: 'hello' })
      break
    case 'react': {
      const where = { key: { remoteJid: number } }
      const body = { where, offset: 1 }
      const found = await world.request('POST', `/gateway/chat/findMessages/${instance}`, {
        key: organization.key,
        body,
      })
      const [message] = found.body.messages.records
      if (message) await on.send('sendReaction', instance, { key: message.key, reaction: '👍' })
      break
    }
    case 'erase': {
      const { status } = await world.request('DELETE', `/contact?chat_id=${number}`, { key: organization.key })
      expect([200, 404]).toContain(status)
      break
    }
    case 'receive':
      return receive(organization, instance, { from: number })
    case 'meet':
      return receive(organization, instance, { user_id: userId })
    case 'merge':
      return receive(organization, instance, { from: number, user_id: userId })
  }
}

it('totals are right under concurrent changes, whenever the counts are rolled up', async () => {
  const { world, organization, other } = on
  const phone = await idOf('phone')
  let erased = 0
  await fc.assert(
    fc.asyncProperty(moments, async (story) => {
      for (const steps of story) {
        const before = await recount(organization)
        await Promise.all(steps.map(take))
        await Promise.all([world.settle(), rollUpCounts(world.app.work), rollUpCounts(world.app.work)])
        world.advance(60_000)
        const expected = await recount(organization)
        if ((expected.get(phone) ?? 0) < (before.get(phone) ?? 0)) erased++
        expect(await totalOf('phone')).toBe(expected.get(phone) ?? 0)
        expect(await totalOf('shop')).toBe(expected.get(null) ?? 0)
        expect(await totalOf('phone', other)).toBe(1)
      }
      await rollUpCounts(world.app.work)
      for (const { rows } of await rowsOf([phone])) expect(rows).toBe(1)
    }),
    { seed: 7, numRuns: 20 },
  )
  const { rows } = await world.database.pool.query(
    `SELECT count(*) FILTER (WHERE message_type = 'reaction') AS reactions,
       (SELECT count(DISTINCT contact_id) FROM contact_addresses n WHERE n.address LIKE 'user:%' AND EXISTS (
         SELECT FROM contact_addresses d WHERE d.contact_id = n.contact_id AND d.address LIKE '1650%'
       )) AS merged
     FROM messages`,
  )
  expect(rows[0].reactions).toBeGreaterThan(0)
  expect(rows[0].merged).toBeGreaterThan(0)
  expect(erased).toBeGreaterThan(5)
})

it('the messages of a deleted instance do not count for the organization', async () => {
  const { world, organization } = on
  const id = await openPhone(organization, '5511988885555', 'gone')
  const before = await totalOf('shop')
  await receive(organization, 'gone', { from: on.newNumber() })
  await world.settle()
  expect(await totalOf('gone')).toBe(1)
  await world.request('DELETE', '/gateway/instance/logout/gone', { key: organization.key })
  await world.request('DELETE', '/gateway/instance/delete/gone', { key: organization.key })
  expect(await world.request('GET', '/gateway/instance/connectionState/gone', { key: organization.key })).toMatchObject(
    { status: 404 },
  )
  expect(await totalOf('shop')).toBe(before)
  expect(await rowsOf([id])).toEqual([{ rows: 1, sum: 1 }])
})

it('concurrent roll-ups of many channels keep the counts right, in several steps', async () => {
  const { world, organization, other } = on
  const { pool } = world.database
  const lines = [organization.id, organization.id, other.id].map((owner) => ({ owner, id: crypto.randomUUID() }))
  const ids = lines.map(({ id }) => id)
  await pool.query(
    `INSERT INTO line_counts (organization_id, instance_id, change)
     SELECT owner, id, CASE WHEN n % 3 = 0 THEN -1 ELSE 1 END
     FROM unnest($1::uuid[], $2::uuid[]) AS line (owner, id), generate_series(1, 300) AS n ORDER BY n`,
    [lines.map(({ owner }) => owner), ids],
  )
  const add = ({ owner, id }: { owner: string; id: string }) =>
    pool.query('INSERT INTO line_counts (organization_id, instance_id, change) VALUES ($1, $2, 1)', [owner, id])
  await Promise.all(
    Array.from({ length: 40 }, (_, index) => {
      const line = lines[index % 4]
      return line ? add(line) : rollUpChannelCounts(world.database, 50)
    }),
  )
  await rollUpCounts(world.app.work)
  expect(await rowsOf(ids)).toEqual(lines.map(() => ({ rows: 1, sum: 110 })))
})
