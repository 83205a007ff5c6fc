import { expect, it } from 'vitest'
import { signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

it('returns the tags of the organization, the most used first', async () => {
  const analyst = await signIn(world, organization, { role: 'analyst' })
  expect((await analyst.call('GET', '/tags')).body).toEqual({ success: true, tags: [] })
  await createContact(world, organization, '+16505550001', { tags: ['new', 'vip'] })
  await createContact(world, organization, '+16505550002', { tags: ['vip', 'b2b'] })
  const stranger = await signIn(world, await world.createOrganization())
  expect((await analyst.call('GET', '/tags')).body.tags).toEqual([
    { tag: 'vip', count: 2 },
    { tag: 'b2b', count: 1 },
    { tag: 'new', count: 1 },
  ])
  expect((await stranger.call('GET', '/tags')).body.tags).toEqual([])
})

it('returns 500 at most', async () => {
  const many = await world.createOrganization()
  const member = await signIn(world, many)
  await createContact(world, many, '+16505550001')
  await world.database.pool.query(
    `UPDATE contacts SET tags = ARRAY (SELECT 'tag' || n FROM generate_series(1, 501) n) WHERE organization_id = $1`,
    [many.id],
  )
  expect((await member.call('GET', '/tags')).body.tags).toHaveLength(500)
})
