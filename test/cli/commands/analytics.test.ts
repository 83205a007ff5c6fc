import { beforeAll, describe, expect, it } from 'vitest'
import { seedCampaign } from '../../support/campaigns.js'
import { besideService, type Result, run } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization
let other: TestOrganization
let broadcastId: string

beforeAll(async () => {
  env = besideService(world.database.connection)
  organization = await world.createOrganization()
  other = await world.createOrganization()
  broadcastId = await seedCampaign(world, organization, {
    name: 'Spring\u0007',
    buttons: ['Yes'],
    counts: { total: 4, recorded: 4, sent: 4, delivered: 2, failed: 1, 'error: 131026': 1, 'button: Yes': 1 },
  })
})

/** Runs `parley analytics <args>` for the organization, next to the world's service. */
function analytics(command: string, args: string[], org = organization.slug): Promise<Result> {
  return run(['analytics', command, '--org', org, ...args], env)
}

const answerOf = async (query: string) =>
  (await world.request('GET', `/broadcast-analytics?${query}`, { key: organization.key })).body.data

describe('analytics show', () => {
  it("prints the API's answer for a broadcast", async () => {
    const shown = await analytics('show', ['--broadcast', broadcastId, '--json'])
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.json()).toEqual(await answerOf(`broadcast_id=${broadcastId}`))
  })

  it("prints the API's answer for a range", async () => {
    const shown = await analytics('show', ['--from', '2026-03-01', '--to', '2026-03-31', '--json'])
    expect(shown).toMatchObject({ code: 0, err: '' })
    expect(shown.json()).toEqual(await answerOf('start_date=2026-03-01&end_date=2026-03-31'))
  })

  it('prints a readable table', async () => {
    const one = await analytics('show', ['--broadcast', broadcastId])
    expect(one.out).toMatch(/^name +Spring *$/m)
    expect(one.out).toMatch(/^deliveryRate +50$/m)
    expect(one.out).toMatch(/^Yes +1 +50$/m)
    const all = await analytics('show', ['--from', '2026-03-01', '--to', '2026-03-31'])
    expect(all.out).toMatch(/^totalCampaigns +1$/m)
    expect(all.out).toMatch(new RegExp(`^${broadcastId} +Spring +promo `, 'm'))
    expect(all.out).toMatch(/^131026 +131026 +1 +100$/m)
  })

  it.each([
    [[], /^parley: Give --broadcast, or --from and --to/],
    [['--from', '2026-03-01'], /^parley: Give --broadcast, or --from and --to/],
    [['--broadcast', 'nonsense'], /^parley: --broadcast must be the id of a broadcast, not "nonsense"/],
    [['--from', '2026-02-30', '--to', '2026-03-01'], /^parley: start_date must be a date/],
  ])('ends with 2 and one line for %j', async (args, complaint) => {
    const refused = await analytics('show', args)
    expect(refused).toMatchObject({ code: 2, out: '' })
    expect(refused.err).toMatch(complaint)
    expect(refused.err.trimEnd()).not.toContain('\n')
  })

  it("ends with 1 for an unknown broadcast, another organization's, and an unknown organization", async () => {
    expect(await analytics('show', ['--broadcast', NO_ID])).toMatchObject({ code: 1, out: '' })
    expect(await analytics('show', ['--broadcast', broadcastId], other.slug)).toMatchObject({ code: 1, out: '' })
    expect(await analytics('show', ['--broadcast', broadcastId], 'nowhere')).toMatchObject({ code: 1, out: '' })
  })
})
