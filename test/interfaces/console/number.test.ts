import { expect, it } from 'vitest'
import { signIn } from '../../support/console.js'
import { createInstance } from '../../support/instances.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

it('tells every role what is wrong with the number of its own organization', async () => {
  const other = await world.createOrganization()
  await world.database.pool.query(
    "INSERT INTO number_states (organization_id, phone_number_id, state, steps) VALUES ($1, $2, 'failed', $3)",
    [
      organization.id,
      organization.phoneNumberId,
      JSON.stringify([{ reason: 'secret_fits' }, { reason: 'not_registered', values: { status: 'PENDING' } }]),
    ],
  )
  for (const role of ['owner', 'agent', 'analyst'] as const) {
    const { status, body } = await (await signIn(world, organization, { role })).call('GET', '/number')
    expect([status, body.trouble.state, body.trouble.phone_number_id]).toEqual([
      ...[200, 'failed', organization.phoneNumberId],
    ])
    expect(body.trouble.steps).toMatchObject([{ reason: 'not_registered', sentence: expect.stringMatching(/PENDING/) }])
  }
  const stranger = await signIn(world, other, { role: 'owner' })
  expect((await stranger.call('GET', '/number')).body).toEqual({ success: true, trouble: null, restrictions: [] })
  await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' })
  const owner = await signIn(world, organization, { role: 'owner' })
  expect((await owner.call('GET', '/number')).body.trouble).toBeNull()
})

it('tells of a further number that fails, although the first one has only a warning', async () => {
  const owned = await world.createOrganization()
  await createInstance(world, owned, {
    ...{ instanceName: 'second', number: '30700700700', accessToken: 'token', businessId: '777000222' },
    appSecret: 'secret-of-second',
  })
  const find = async (id: string, state: string) => {
    await world.database.pool.query(
      `INSERT INTO number_states (organization_id, phone_number_id, state, steps) VALUES ($1, $2, $3, $4)
       ON CONFLICT (organization_id, phone_number_id) DO UPDATE SET state = excluded.state, steps = excluded.steps`,
      [owned.id, id, state, JSON.stringify([{ reason: 'not_registered', values: { status: 'PENDING' } }])],
    )
  }
  const owner = await signIn(world, owned, { role: 'owner' })
  const trouble = async () => (await owner.call('GET', '/number')).body.trouble
  await find('30700700701', 'failed')
  expect(await trouble()).toBeNull()
  await find(owned.phoneNumberId, 'warning')
  expect(await trouble()).toMatchObject({ phone_number_id: owned.phoneNumberId, state: 'warning' })
  await find('30700700700', 'failed')
  expect(await trouble()).toMatchObject({ phone_number_id: '30700700700', state: 'failed' })
})

it('tells every role what the account may not send, while that holds', async () => {
  const restricted = await world.createOrganization()
  const other = await world.createOrganization()
  const restrict = (restrictions: object[]) =>
    world.database.pool.query('UPDATE upstream_settings SET restrictions = $2 WHERE organization_id = $1', [
      restricted.id,
      JSON.stringify(restrictions),
    ])
  const templates = { of: 'templates', name: 'RESTRICTED_BIZ_INITIATED_MESSAGING' }
  const soon = new Date(world.now().getTime() + 60_000).toISOString()
  const past = new Date(world.now().getTime() - 60_000).toISOString()
  await restrict([
    { ...templates, until: soon },
    { of: 'answers', name: 'RESTRICTED_CUSTOMER_INITIATED_MESSAGING', until: past },
  ])
  const roles = ['owner', 'agent', 'analyst'] as const
  const members = await Promise.all(roles.map((role) => signIn(world, restricted, { role })))
  for (const member of members) {
    expect((await member.call('GET', '/number')).body.restrictions).toEqual([{ ...templates, until: soon }])
  }
  const stranger = await signIn(world, other, { role: 'owner' })
  expect((await stranger.call('GET', '/number')).body.restrictions).toEqual([])

  await restrict([{ of: 'all', name: 'DISABLE', until: null }])
  const [owner] = members
  expect((await owner?.call('GET', '/number'))?.body.restrictions).toMatchObject([{ of: 'all', until: null }])
  // Its messages are sent by the gateway's instances, whose accounts are not known.
  await world.admin('PATCH', `/organizations/${restricted.id}`, { provider: 'gateway' })
  expect((await owner?.call('GET', '/number'))?.body.restrictions).toEqual([])
})
