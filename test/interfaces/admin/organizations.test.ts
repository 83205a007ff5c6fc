import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { useWorld } from '../../support/world.js'

const world = useWorld()

const FIELDS = [
  ...['id', 'name', 'slug', 'provider', 'default_country', 'timezone', 'currency', 'language'],
  ...['attribution_window_days', 'retention_days', 'message_retention_days', 'media_retention_days', 'legal_hold'],
  ...['suspended_at', 'created_at', 'updated_at'],
]
const newSlug = () => `shop-${randomUUID().slice(0, 8)}`

async function create(fields: Record<string, unknown> = {}) {
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: newSlug(), ...fields })
  expect(made.status).toBe(201)
  return made.body.organization
}

/** Every endpoint of the admin API; `:id` stands for an organization's id, `:key` and `:member` for theirs. */
const CALLS: [string, string, object?][] = [
  ['POST', '/organizations', { name: 'Shop', slug: 'some-shop' }],
  ['GET', '/organizations'],
  ['GET', '/organizations/:id'],
  ['POST', '/organizations/:id/retention-preview', {}],
  ['PUT', '/organizations/:id/hold', { reason: 'Case 12' }],
  ['DELETE', '/organizations/:id/hold'],
  ['PATCH', '/organizations/:id', { name: 'Shop' }],
  ['DELETE', '/organizations/:id'],
  ['PUT', '/organizations/:id/upstream', upstreamSettings()],
  ['PUT', '/organizations/:id/storefront', { url: 'https://shop.example', access_token: 'a', webhook_secret: 'b' }],
  ['POST', '/organizations/:id/keys', { name: 'one' }],
  ['GET', '/organizations/:id/keys'],
  ['POST', '/keys/:key/rotate', {}],
  ['DELETE', '/keys/:key'],
  ['POST', '/organizations/:id/members', { email: 'a@b.c', full_name: 'Ana', role: 'agent' }],
  ['GET', '/organizations/:id/members'],
  ['DELETE', '/members/:member'],
]

function upstreamSettings(fields: object = {}) {
  const [phone_number_id, business_account_id] = [randomUUID(), randomUUID()]
  const secrets = { access_token: 'an access token', app_secret: 'an app secret', verify_token: 'a verify token' }
  return { phone_number_id, business_account_id, ...secrets, ...fields }
}

const withIds = (path: string, id: string) => path.replace(/:\w+/, id)

describe.each(CALLS)('%s /admin%s', (method, path, body) => {
  it('returns 401 without the admin token', async () => {
    const answer = await world.request(method, `/admin${withIds(path, randomUUID())}`, { body })
    expect(answer.status).toBe(401)
    expect(answer.body).toMatchObject({ success: false, error: 'Authorization required' })
  })

  it("returns 401 with a wrong token, such as an organization's key", async () => {
    const { key } = await world.createOrganization()
    for (const token of [key, `${world.adminToken}x`, world.adminToken.slice(0, -1)]) {
      const answer = await world.request(method, `/admin${withIds(path, randomUUID())}`, { key: token, body })
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ success: false, error: 'Invalid API key' })
    }
  })
})

describe.each(CALLS.filter(([, path]) => path.includes(':')))('%s /admin%s', (method, path, body) => {
  it('returns 404 for an unknown id and for an invalid id', async () => {
    for (const id of [randomUUID(), 'nobody', '1', `${randomUUID()}x`, '%20', "'--", 'x'.repeat(500), '%00', '%zz']) {
      const answer = await world.admin(method, withIds(path, id), body)
      expect({ id, status: answer.status }).toEqual({ id, status: 404 })
      expect(answer.body).toMatchObject({ success: false, error: expect.any(String), message: expect.any(String) })
    }
  })
})

describe('POST /admin/organizations', () => {
  it('returns 201 with defaults', async () => {
    const slug = newSlug()
    const { status, body } = await world.admin('POST', '/organizations', { name: 'Café Ünïcode 🥐', slug })
    expect(status).toBe(201)
    expect(body.success).toBe(true)
    expect(Object.keys(body.organization)).toEqual(FIELDS)
    expect(body.organization).toMatchObject({ name: 'Café Ünïcode 🥐', slug, provider: null, default_country: 'BR' })
    expect(body.organization).toMatchObject({ timezone: 'America/Sao_Paulo', currency: 'BRL', language: 'pt_BR' })
  })

  it('returns 201 with all given values', async () => {
    const place = { default_country: 'IT', timezone: 'Europe/Rome', currency: 'EUR', language: 'it' }
    const given = { name: 'Negozio', slug: newSlug(), provider: 'gateway', ...place }
    expect(await create(given)).toMatchObject(given)
  })

  it("returns 201 with country, the command line's name for default_country", async () => {
    expect(await create({ country: 'US' })).toMatchObject({ default_country: 'US' })
    const organization = await create({ country: 'PT', default_country: 'PT' })
    expect(Object.keys(organization)).toEqual(FIELDS)
    const { body } = await world.admin('PATCH', `/organizations/${organization.id}`, { country: 'FR' })
    expect(body.organization).toMatchObject({ default_country: 'FR' })
  })

  it('returns 400 for an unknown parameter, and for a body if none is expected', async () => {
    const listed = await world.admin('GET', '/organizations?limit=5')
    expect([listed.status, listed.body.error]).toEqual([400, 'Invalid parameter'])
    expect(listed.body.message).toBe('The parameter limit is not known.')
    const removed = await world.admin('DELETE', `/organizations/${randomUUID()}`, { force: true })
    expect([removed.status, removed.body.message]).toEqual([400, 'The field force is not known.'])
  })

  it('returns 409 for a slug in use, also in concurrent requests', async () => {
    const slug = newSlug()
    const asked = Array.from({ length: 5 }, () => world.admin('POST', '/organizations', { name: 'Shop', slug }))
    const statuses = (await Promise.all(asked)).map(({ status }) => status)
    expect(statuses.sort()).toEqual([201, 409, 409, 409, 409])
    const late = await world.admin('POST', '/organizations', { name: 'Shop', slug })
    expect(late.body).toMatchObject({ success: false, error: 'Already taken' })
    expect(late.body.message).toContain(slug)
  })

  it.each([
    [{ name: undefined }, 'Missing required field', 'name'],
    [{ name: '' }, 'Missing required field', 'name'],
    [{ slug: undefined }, 'Missing required field', 'slug'],
    [{ name: 5 }, 'Invalid field', 'name'],
    [{ name: 'a\u0000' }, 'Invalid field', 'name'],
    [{ slug: 'Upper' }, 'Invalid field', 'slug'],
    [{ slug: 'a b' }, 'Invalid field', 'slug'],
    [{ slug: '-a' }, 'Invalid field', 'slug'],
    [{ slug: 'x'.repeat(64) }, 'Invalid field', 'slug'],
    [{ provider: 'other' }, 'Invalid field', 'provider'],
    [{ default_country: 'ZZ' }, 'Invalid field', 'default_country'],
    [{ default_country: 'br' }, 'Invalid field', 'default_country'],
    [{ timezone: 'Mars/Olympus' }, 'Invalid field', 'timezone'],
    [{ currency: 'ZZZ' }, 'Invalid field', 'currency'],
    [{ currency: 5 }, 'Invalid field', 'currency'],
    [{ language: '!' }, 'Invalid field', 'language'],
    [{ contry: 'US' }, 'Invalid field', 'The field contry is not known. Did you mean country?'],
    [{ default_contry: 'US' }, 'Invalid field', 'Did you mean default_country?'],
    [{ colour: 'red' }, 'Invalid field', 'The field colour is not known.'],
    [{ country: 'US', default_country: 'BR' }, 'Invalid field', 'two names for one setting'],
    [{ country: 'ZZ' }, 'Invalid field', 'country'],
    [{ attribution_window_days: 0 }, 'Invalid field', 'attribution_window_days'],
    [{ attribution_window_days: 91 }, 'Invalid field', 'attribution_window_days'],
    [{ attribution_window_days: 1.5 }, 'Invalid field', 'attribution_window_days'],
    [{ retention_days: 0 }, 'Invalid field', 'retention_days'],
    [{ retention_days: 366 }, 'Invalid field', 'retention_days'],
  ])('returns 400 for %j', async (fields, error, name) => {
    const answer = await world.admin('POST', '/organizations', { name: 'Shop', slug: newSlug(), ...fields })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error })
    expect(answer.body.message).toContain(name)
  })
})

describe('GET /admin/organizations', () => {
  it('lists all organizations, and returns one by id', async () => {
    const [one, two] = [await create(), await create()]
    const { body } = await world.admin('GET', '/organizations')
    expect(body.organizations).toEqual(expect.arrayContaining([one, two]))
    const read = await world.admin('GET', `/organizations/${one.id}`)
    expect(read.body).toEqual({ success: true, organization: one })
  })
})

describe('PATCH /admin/organizations/{id}', () => {
  it('changes the given values and leaves the rest', async () => {
    const before = await create()
    const { status, body } = await world.admin('PATCH', `/organizations/${before.id}`, { name: 'New', currency: 'EUR' })
    expect(status).toBe(200)
    expect(body.organization).toEqual({
      ...before,
      name: 'New',
      currency: 'EUR',
      updated_at: body.organization.updated_at,
    })
    const provider = await world.admin('PATCH', `/organizations/${before.id}`, { provider: 'gateway' })
    expect(provider.body.organization.provider).toBe('gateway')
    const none = await world.admin('PATCH', `/organizations/${before.id}`, { provider: null })
    expect(none.body.organization.provider).toBeNull()
  })

  it('changes the slug: the new one works, the old one is free, the current one is not a conflict', async () => {
    const organization = await world.createOrganization()
    const slug = newSlug()
    for (const wanted of [organization.slug, slug, slug]) {
      expect((await world.admin('PATCH', `/organizations/${organization.id}`, { slug: wanted })).status).toBe(200)
    }
    const ask = (tenantId: string) =>
      world.request('GET', `/contact?chat_id=5511987654321&tenantId=${tenantId}`, { key: organization.key })
    expect((await ask(slug)).status).toBe(404)
    expect((await ask(organization.slug)).status).toBe(401)
    await create({ slug: organization.slug })
  })

  it('returns 409 for the slug of another organization, and changes nothing', async () => {
    const [one, two] = [await create(), await create()]
    const answer = await world.admin('PATCH', `/organizations/${one.id}`, { name: 'New', slug: two.slug })
    expect([answer.status, answer.body.error]).toEqual([409, 'Already taken'])
    expect((await world.admin('GET', `/organizations/${one.id}`)).body.organization).toEqual(one)
  })

  it.each([
    [{ name: null }],
    [{ slug: null }],
    [{ timezone: 'Nowhere' }],
    [{ default_country: 'XX' }],
    [{ currency: '' }],
  ])('returns 400 for %j', async (fields) => {
    const before = await create()
    const answer = await world.admin('PATCH', `/organizations/${before.id}`, fields)
    expect(answer.status).toBe(400)
    expect(answer.body.message).toContain(Object.keys(fields)[0])
    expect((await world.admin('GET', `/organizations/${before.id}`)).body.organization).toEqual(before)
  })
})
