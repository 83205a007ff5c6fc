import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { besideService, run } from '../../support/cli.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
let env: Record<string, string>
let organization: TestOrganization

beforeAll(async () => {
  env = { ...besideService(world.database.connection), PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl }
})

beforeEach(async () => {
  organization = await world.createOrganization()
})

const templates = (...args: string[]) => run(['templates', ...args, '--org', organization.slug], env)

describe('templates sync', () => {
  it('fetches them, and prints the counts', async () => {
    const synced = await templates('sync')
    expect(synced).toMatchObject({ code: 0, err: '' })
    expect(synced.out).toMatch(/^total +4\nadded +4\nchanged +0\nremoved +0\nsynced_at +\S+Z\n$/)
    expect((await templates('sync', '--json')).json()).toMatchObject({ total: 4, added: 0 })
  })

  it('leaves it to the service if that runs the simulator', async () => {
    env = { ...env, PARLEY_UPSTREAM_URL: 'sandbox' }
    await world.drain()
    await world.sim('DELETE', '/templates', { phone_number_id: organization.phoneNumberId })
    const asked = await templates('sync')
    expect(asked).toMatchObject({ code: 0, err: '', out: expect.stringContaining('The service fetches') })
    await world.drain()
    expect((await templates('list', '--json')).json()).toEqual([])
    env = { ...env, PARLEY_UPSTREAM_URL: world.simulator.upstreamUrl }
  })

  it.each([
    [
      'the upstream refuses',
      () =>
        world.database.pool.query(`UPDATE upstream_settings SET business_account_id = '1' WHERE organization_id = $1`, [
          organization.id,
        ]),
      /does not list the templates of the business account 1/,
    ],
    [
      'the organization does not send by the upstream',
      () => world.admin('PATCH', `/organizations/${organization.id}`, { provider: 'gateway' }),
      /provider is gateway/,
    ],
  ])('ends with 1 if %s', async (_where, prepare, message) => {
    await prepare()
    const refused = await templates('sync')
    expect(refused).toMatchObject({ code: 1, out: '' })
    expect(refused.err).toMatch(message)
  })
})

describe('templates list', () => {
  it("prints only the organization's own, as a table or as the API shows them", async () => {
    await templates('sync')
    const other = await world.createOrganization()
    const listed = await templates('list')
    expect(listed).toMatchObject({ code: 0, err: '' })
    expect(listed.out).toMatch(/^name +language +status +category\nhello_world +en_US +APPROVED +UTILITY\n/)
    const { body } = await world.request('GET', '/templates', { key: organization.key })
    expect((await templates('list', '--json')).json()).toEqual(body.templates)
    expect(await run(['templates', 'list', '--org', other.slug], env)).toMatchObject({ code: 0, out: '(none)\n' })
  })
})

describe('org upstream next to a service with a simulator', () => {
  it('makes the service register the number and fetch its templates', async () => {
    const { slug } = (await world.admin('POST', '/organizations', { name: 'New', slug: 'new' })).body.organization
    const number = { phone_number_id: '1099000000001', business_account_id: '2099000000001' }
    const secrets = { access_token: 'token', app_secret: 'app', verify_token: 'verify' }
    const connected = await run(['org', 'upstream', slug], env, JSON.stringify({ ...number, ...secrets }))
    expect(connected.code).toBe(0)
    await world.drain()
    const { body } = await world.sim('GET', '/numbers')
    const callback_url = `${world.app.url}/hooks/upstream`
    expect(body.numbers).toContainEqual(expect.objectContaining({ ...number, callback_url }))
    const listed = await run(['templates', 'list', '--json', '--org', slug], env)
    expect(listed.json()).toHaveLength(4)
  })
})
