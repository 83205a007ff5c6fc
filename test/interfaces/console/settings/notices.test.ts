import { beforeAll, describe, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { expectForOwners } from '../../../support/refusals.js'
import { receiveSamples } from '../../../support/samples.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  owner = await signIn(world, organization)
  stranger = await signIn(world, await world.createOrganization())
  await receiveSamples(world, organization, 'account-restriction', 'number-flagged')
})

const list = async (by = owner) => (await by.call('GET', '/notices')).body.notices
const close = (id: string, by = owner) => by.call('POST', `/notices/${id}/close`)

it('notices are for owners', async () => {
  const others = [
    await signIn(world, organization, { role: 'agent' }),
    await signIn(world, organization, { role: 'analyst' }),
  ]
  await expectForOwners(others, ['GET /notices', `POST /notices/${NO_ID}/close`])
})

describe('GET /console/api/notices', () => {
  it('lists what WhatsApp reported, newest first, with what to do', async () => {
    expect(await list()).toMatchObject([
      { field: 'phone_number_quality_update', kind: 'FLAGGED', severity: 'warning', until: null, closed_at: null },
      {
        kind: 'ACCOUNT_RESTRICTION',
        severity: 'critical',
        advice: expect.stringContaining('WhatsApp Manager'),
        until: '2026-11-25T11:06:40.000Z',
      },
    ])
    expect(await list(stranger)).toEqual([])
  })
})

describe('POST /console/api/notices/{id}/close', () => {
  it('marks a notice as done, once', async () => {
    const [{ id }] = await list()
    const first = await close(id)
    expect(first.body.notice).toMatchObject({ id, closed_at: expect.any(String) })
    world.advance(60_000)
    expect((await close(id)).body.notice.closed_at).toBe(first.body.notice.closed_at)
  })

  it('finds none of another organization', async () => {
    const [{ id }] = await list()
    expect((await close(id, stranger)).status).toBe(404)
    expect((await close(NO_ID)).status).toBe(404)
  })
})
