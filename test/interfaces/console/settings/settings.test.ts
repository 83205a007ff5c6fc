import { randomInt, randomUUID } from 'node:crypto'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { bare, json, startHttpServer } from '../../../support/http-server.js'
import { expectForOwners } from '../../../support/refusals.js'
import { startWorld, type TestOrganization, useWorld, type World } from '../../../support/world.js'

const world = useWorld()
let organization: TestOrganization
let owner: SignedInMember

beforeEach(async () => {
  organization = await world.createOrganization()
  owner = await signIn(world, organization)
})

const get = async () => (await owner.call('GET', '/settings')).body
const put = (path: string, body: object) => owner.call('PUT', `/settings/${path}`, { body })
const test = (path: string, body: object = {}) => owner.call('POST', `/settings/${path}/test`, { body })
const ids = () => ({ phone_number_id: organization.phoneNumberId, business_account_id: organization.businessAccountId })
const secretsOf = async (table: 'upstream_settings' | 'storefront_settings', id = organization.id) =>
  (await world.database.pool.query(`SELECT * FROM ${table} WHERE organization_id = $1`, [id])).rows[0]
const openToken = async () =>
  world.app.ctx.secrets.open(
    (await secretsOf('upstream_settings')).access_token,
    `${organization.id}:upstream.access_token`,
  )

it('settings are for owners', async () => {
  const others = [
    await signIn(world, organization, { role: 'agent' }),
    await signIn(world, organization, { role: 'analyst' }),
  ]
  await expectForOwners(others, [
    'GET /settings',
    'PATCH /settings/organization',
    'PUT /settings/upstream',
    'POST /settings/upstream/test',
    'POST /settings/upstream/connect',
    'GET /settings/upstream/health',
    'PUT /settings/storefront',
    'POST /settings/storefront/test',
  ])
})

describe('POST /console/api/settings/upstream/connect', () => {
  it("goes over the steps of the organization's own number, which its health shows then", async () => {
    const { status, body } = await owner.call('POST', '/settings/upstream/connect', { body: {} })
    expect([status, body.connected, body.upstream]).toEqual([200, true, expect.objectContaining(ids())])
    await world.drain()
    const health = await owner.call('GET', '/settings/upstream/health')
    expect(health.body.numbers).toMatchObject([{ phone_number_id: organization.phoneNumberId, state: 'ok' }])
    const refreshed = await owner.call('GET', '/settings/upstream/health?refresh=true')
    expect(refreshed.body.numbers).toHaveLength(1)
  })

  it('refuses a number of another organization, whose token it has', async () => {
    const other = await world.createOrganization()
    const token = `token-${other.slug.slice('shop-'.length)}`
    const given = { access_token: token, app_secret: other.appSecret, phone_number_id: other.phoneNumberId }
    const answer = await owner.call('POST', '/settings/upstream/connect', { body: given })
    expect([answer.status, answer.body.error]).toEqual([409, 'Already taken'])
    expect(answer.body.message).not.toContain(other.name)
  })
})

describe('GET /console/api/settings', () => {
  it('shows the organization and its connections, with the URLs of the service', async () => {
    const url = world.app.ctx.publicUrl()
    expect(await get()).toEqual({
      success: true,
      organization: expect.objectContaining({ id: organization.id, slug: organization.slug, provider: 'upstream' }),
      upstream: { ...ids(), messages_per_second: 0, pair_limit: false },
      storefront: null,
      callback_url: `${url}/hooks/upstream`,
      callback_fields: expect.arrayContaining(['messages', 'user_preferences', 'account_update']),
      storefront_callback_url: `${url}/hooks/storefront/${organization.slug}`,
    })
  })

  it('shows null for a missing connection', async () => {
    const slug = `bare-${randomUUID().slice(0, 8)}`
    const made = await world.admin('POST', '/organizations', { name: 'Bare', slug })
    const bareOwner = await signIn(world, { ...organization, id: made.body.organization.id, slug })
    expect((await bareOwner.call('GET', '/settings')).body).toMatchObject({ upstream: null, storefront: null })
  })
})

describe('PATCH /console/api/settings/organization', () => {
  const patch = (body: object) => owner.call('PATCH', '/settings/organization', { body })

  it('changes only what an owner may change', async () => {
    const changes = { name: 'Loja', default_country: 'PT', timezone: 'Europe/Lisbon', currency: 'EUR', language: 'pt' }
    const refused = await patch({ ...changes, slug: 'somebody-elses' })
    expect([refused.status, refused.body.message]).toEqual([400, 'The field slug is not known.'])
    expect((await patch({ ...changes, provider: null })).status).toBe(400)
    const { status, body } = await patch(changes)
    expect(status).toBe(200)
    expect(body.organization).toMatchObject({ ...changes, slug: organization.slug, provider: 'upstream' })
    expect((await get()).organization).toEqual(body.organization)
  })

  it.each([
    [{ name: '' }, 'name'],
    [{ default_country: 'XX' }, 'default_country'],
    [{ timezone: 'Mars/Base' }, 'timezone'],
    [{ currency: 'ZZZ' }, 'currency'],
  ])('returns 400 for %j', async (changes, field) => {
    const { status, body } = await patch(changes)
    expect([status, body.message]).toEqual([400, expect.stringContaining(field)])
  })

  it('returns 400 for a misspelt field, which Interface A still ignores', async () => {
    const { status, body } = await patch({ nmae: 'Loja' })
    const message = 'The field nmae is not known. Did you mean name?'
    expect([status, body]).toEqual([400, { success: false, error: 'Invalid field', message }])
    const created = await owner.call('POST', '/contact', { body: { phone_number: '5511977770001', ful_name: 'Ana' } })
    expect([created.status, created.body.warnings]).toEqual([
      201,
      ['The field ful_name is not known and was ignored. Did you mean full_name?'],
    ])
  })

  it('leaves other organizations unchanged', async () => {
    const other = await world.createOrganization()
    await patch({ name: 'Loja' })
    const { body } = await world.admin('GET', `/organizations/${other.id}`)
    expect(body.organization.name).toBe(other.name)
  })
})

describe('PUT /console/api/settings/upstream', () => {
  it('keeps secrets and limits that are left out', async () => {
    await put('upstream', { ...ids(), access_token: 'a-new-token', messages_per_second: 20 })
    const before = await secretsOf('upstream_settings')
    const { status, body } = await put('upstream', { ...ids(), pair_limit: true })
    expect(status).toBe(200)
    expect(body.upstream).toEqual({ ...ids(), messages_per_second: 20, pair_limit: true })
    const { access_token, app_secret, verify_token_hash } = await secretsOf('upstream_settings')
    expect({ access_token, app_secret, verify_token_hash }).toEqual({
      access_token: before.access_token,
      app_secret: before.app_secret,
      verify_token_hash: before.verify_token_hash,
    })
    expect(await openToken()).toBe('a-new-token')
  })

  it('accepts new secrets, and never shows them', async () => {
    const secrets = { access_token: 'token-one', app_secret: 'secret-one', verify_token: 'verify-one' }
    const answer = await put('upstream', { ...ids(), ...secrets })
    const shown = JSON.stringify([answer.body, await get()])
    for (const secret of Object.values(secrets)) expect(shown).not.toContain(secret)
    expect(await openToken()).toBe('token-one')
    const verify = `hub.mode=subscribe&hub.verify_token=verify-one&hub.challenge=7`
    expect((await world.request('GET', `/hooks/upstream?${verify}`)).status).toBe(200)
  })

  it('returns 400 for a missing first secret, and stores nothing', async () => {
    const slug = `bare-${randomUUID().slice(0, 8)}`
    const made = await world.admin('POST', '/organizations', { name: 'Bare', slug })
    const bareOwner = await signIn(world, { ...organization, id: made.body.organization.id, slug })
    const body = { phone_number_id: `30${randomInt(1e9)}`, business_account_id: `40${randomInt(1e9)}` }
    const given = { ...body, access_token: 'x', app_secret: 'y' }
    const answer = await bareOwner.call('PUT', '/settings/upstream', { body: given })
    expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
    expect(answer.body.message).toContain('verify_token')
    expect((await bareOwner.call('GET', '/settings')).body.upstream).toBeNull()
    // The number is not claimed either.
    expect((await put('upstream', body)).status).toBe(200)
  })

  it('returns 409 for a number of another organization', async () => {
    const other = await world.createOrganization()
    const answer = await put('upstream', { ...ids(), phone_number_id: other.phoneNumberId })
    expect([answer.status, answer.body.error]).toEqual([409, 'Already taken'])
    expect((await get()).upstream).toMatchObject(ids())
  })

  it('loses no secret in concurrent requests', async () => {
    await Promise.all([
      put('upstream', { ...ids(), access_token: 'token-of-two' }),
      put('upstream', { ...ids(), app_secret: 'secret-of-two' }),
    ])
    const { app_secret } = await secretsOf('upstream_settings')
    expect(await openToken()).toBe('token-of-two')
    expect(world.app.ctx.secrets.open(app_secret, `${organization.id}:upstream.app_secret`)).toBe('secret-of-two')
  })
})

describe('PUT /console/api/settings/upstream, at an upstream other than the simulator', () => {
  const link = { linkWithSimulator: null as World['app']['ctx']['linkWithSimulator'] }

  beforeAll(() => {
    link.linkWithSimulator = world.app.ctx.linkWithSimulator
    world.app.ctx.linkWithSimulator = null
  })
  afterAll(() => {
    Object.assign(world.app.ctx, link)
  })

  /** Another company's number, and its business account. */
  async function newNumber(access_token: string) {
    const ids = { phone_number_id: `50${randomInt(1e9)}`, business_account_id: `60${randomInt(1e9)}` }
    const { phone_number_id, business_account_id } = ids
    const number = {
      access_token,
      app_secret: 'x',
      callback_url: `${world.app.url}/hooks/upstream`,
      business_account_id,
    }
    expect((await world.sim('PUT', `/numbers/${phone_number_id}`, number)).status).toBe(200)
    return ids
  }

  it('accepts only ids that the access token can read', async () => {
    const wanted = await newNumber('token-of-a-stranger')
    const guesses = [
      wanted,
      { ...ids(), phone_number_id: wanted.phone_number_id },
      { ...ids(), business_account_id: wanted.business_account_id },
      { ...wanted, access_token: 'a-guess' },
    ]
    for (const guess of guesses) {
      const { status, body } = await put('upstream', guess)
      expect([status, body.error]).toEqual([400, 'Upstream credentials rejected'])
    }
    expect((await get()).upstream).toMatchObject(ids())
    const other = await world.createOrganization()
    const given = { ...wanted, access_token: 'token-of-a-stranger', app_secret: 'x', verify_token: 'y' }
    expect((await world.admin('PUT', `/organizations/${other.id}/upstream`, given)).status).toBe(200)
  })

  it('accepts ids that it can read, without a request if the ids stay the same', async () => {
    const wanted = await newNumber('token-of-our-own')
    const answer = await put('upstream', { ...wanted, access_token: 'token-of-our-own' })
    expect([answer.status, answer.body.upstream]).toMatchObject([200, wanted])
    expect((await put('upstream', { ...wanted, access_token: 'not-known-there', pair_limit: true })).status).toBe(200)
  })
})

describe('POST /console/api/settings/upstream/test', () => {
  const OK = { check: expect.any(String), ok: true, message: expect.any(String) }

  it('uses the stored values', async () => {
    const { status, body } = await test('upstream')
    expect([status, body]).toEqual([200, { success: true, checks: [OK, OK] }])
    expect(body.checks.map(({ check }: { check: string }) => check)).toEqual(['number', 'templates'])
  })

  it('uses the given values, and stores none of them', async () => {
    const before = await secretsOf('upstream_settings')
    const { body } = await test('upstream', { access_token: 'a-wrong-token' })
    for (const check of body.checks) {
      expect(check).toMatchObject({ ok: false, message: expect.stringContaining('refused the access token') })
    }
    expect(JSON.stringify(body)).not.toContain('a-wrong-token')
    expect(await secretsOf('upstream_settings')).toEqual(before)
  })

  it('reports which of the two is wrong', async () => {
    const unknown = `30${randomInt(1e9)}`
    const { body } = await test('upstream', { phone_number_id: unknown })
    expect(body.checks).toEqual([
      { check: 'number', ok: false, message: expect.stringContaining(unknown) },
      { ...OK, check: 'templates' },
    ])
  })

  it('reports that the upstream does not answer, without an internal error', async () => {
    const failing = await startWorld({ PARLEY_UPSTREAM_URL: 'http://127.0.0.1:9/v23.0' })
    try {
      const one = await failing.createOrganization()
      const { status, body } = await (await signIn(failing, one)).call('POST', '/settings/upstream/test', { body: {} })
      expect(status).toBe(200)
      for (const check of body.checks) {
        expect(check).toMatchObject({ ok: false, message: expect.stringContaining('could not be asked') })
      }
    } finally {
      await failing.close()
    }
  })

  it.each(['with spaces in it', 'ação'])(
    'reports a token that cannot be sent in a header: %s',
    async (access_token) => {
      const { status, body } = await test('upstream', { access_token })
      expect(status).toBe(200)
      expect(body.checks).toMatchObject([{ ok: false }, { ok: false }])
      expect(JSON.stringify(body)).not.toContain(access_token)
    },
  )

  it('returns 400 for a value that is neither given nor stored', async () => {
    const slug = `bare-${randomUUID().slice(0, 8)}`
    const made = await world.admin('POST', '/organizations', { name: 'Bare', slug })
    const bareOwner = await signIn(world, { ...organization, id: made.body.organization.id, slug })
    const answer = await bareOwner.call('POST', '/settings/upstream/test', { body: ids() })
    expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
    expect(answer.body.message).toContain('access_token')
  })
})

describe('/console/api/settings/storefront', () => {
  const shop = () => ({ url: world.simulator.storefrontUrl, access_token: 'shpat_of-the-test', webhook_secret: 'hush' })

  it('can be set, is shown without its secrets, and changed without repeating them', async () => {
    const { status, body } = await put('storefront', shop())
    expect([status, body.storefront]).toEqual([200, { url: shop().url }])
    const before = await secretsOf('storefront_settings')
    await put('storefront', { url: shop().url, webhook_secret: 'another' })
    const after = await secretsOf('storefront_settings')
    expect(after.access_token).toEqual(before.access_token)
    expect(after.webhook_secret).not.toEqual(before.webhook_secret)
    const shown = JSON.stringify(await get())
    for (const secret of ['shpat_of-the-test', 'hush', 'another']) expect(shown).not.toContain(secret)
  })

  it('returns 400 for another url without its token, because the stored one is sent nowhere else', async () => {
    const elsewhere = await startHttpServer(json(200, {}))
    try {
      await put('storefront', shop())
      for (const answer of [
        await put('storefront', { url: elsewhere.url }),
        await test('storefront', { url: elsewhere.url }),
      ]) {
        expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
        expect(answer.body.message).toContain('access_token')
      }
      expect(elsewhere.taken).toEqual([])
      expect((await get()).storefront).toEqual({ url: shop().url })
    } finally {
      await elsewhere.close()
    }
  })

  it('can be tested with stored or given values', async () => {
    const given = await test('storefront', { url: shop().url, access_token: shop().access_token })
    expect(given.body).toEqual({ success: true, checks: [{ check: 'orders', ok: true, message: expect.any(String) }] })
    expect((await get()).storefront).toBeNull()
    await put('storefront', shop())
    expect((await test('storefront')).body.checks).toMatchObject([{ ok: true }])
    const { status, body } = await test('storefront', { access_token: 'refused-token' })
    expect(status).toBe(200)
    expect(body.checks).toMatchObject([{ ok: false, message: expect.stringContaining('refused the access token') }])
  })

  it('reports that the server does not answer, or is not a shop', async () => {
    const access_token = 'shpat_secret-token'
    const website = await startHttpServer(bare(404))
    try {
      for (const url of ['http://127.0.0.1:9', website.url]) {
        const { status, body } = await test('storefront', { url, access_token })
        expect(status).toBe(200)
        expect(body.checks).toMatchObject([{ ok: false, message: expect.stringContaining(url) }])
        expect(JSON.stringify(body)).not.toContain(access_token)
      }
    } finally {
      await website.close()
    }
  })

  it('never connects to a private address', async () => {
    const { body } = await test('storefront', { url: 'http://10.0.0.1', access_token: 'x' })
    expect(body.checks).toMatchObject([{ ok: false, message: expect.stringContaining('private') }])
  })
})
