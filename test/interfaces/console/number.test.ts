import { expect, it } from 'vitest'
import { signIn } from '../../support/console.js'
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
  expect((await stranger.call('GET', '/number')).body).toEqual({ success: true, trouble: null })
  await world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' })
  const owner = await signIn(world, organization, { role: 'owner' })
  expect((await owner.call('GET', '/number')).body.trouble).toBeNull()
})
