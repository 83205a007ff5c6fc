import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import { connectUpstream } from '../../../src/core/organizations/connections.js'
import { useWorld } from '../../support/world.js'

const world = useWorld()

function settings(fields: object = {}) {
  const ids = { phone_number_id: randomUUID(), business_account_id: randomUUID() }
  const [access_token, app_secret, verify_token] = [randomUUID(), randomUUID(), randomUUID()]
  return { ...ids, access_token, app_secret, verify_token, ...fields }
}

async function newOrganization() {
  const made = await world.admin('POST', '/organizations', { name: 'Shop', slug: `shop-${randomUUID().slice(0, 8)}` })
  return made.body.organization
}

const connect = (id: string, body: unknown) => world.admin('PUT', `/organizations/${id}/upstream`, body)

/** The tables with a row that contains one of the texts, in clear or as the hexadecimal form of bytes. */
async function tablesHolding(texts: string[]): Promise<string[]> {
  const { rows } = await world.database.pool.query<{ name: string }>(
    "SELECT table_name AS name FROM information_schema.tables WHERE table_schema = 'public'",
  )
  const forms = texts.flatMap((text) => [text, Buffer.from(text).toString('hex')])
  const held = rows.map(async ({ name }) => {
    const found = await world.database.pool.query(
      `SELECT FROM ${name} t WHERE EXISTS (SELECT FROM unnest($1::text[]) AS form WHERE position(form IN t::text) > 0)`,
      [forms],
    )
    return found.rowCount === 0 ? [] : [name]
  })
  return (await Promise.all(held)).flat()
}

describe('PUT /admin/organizations/{id}/upstream', () => {
  it('returns 200, sets the provider, and shows everything except secrets, with defaults', async () => {
    const { id } = await newOrganization()
    const given = settings()
    const { status, body } = await connect(id, given)
    expect(status).toBe(200)
    expect(body).toMatchObject({ success: true, organization: { id, provider: 'upstream' } })
    const { phone_number_id, business_account_id } = given
    expect(body.upstream).toEqual({ phone_number_id, business_account_id, messages_per_second: 80, pair_limit: true })
    const unpaced = await connect(id, { ...given, messages_per_second: 0, pair_limit: false })
    expect(unpaced.body.upstream).toMatchObject({ messages_per_second: 0, pair_limit: false })
  })

  it('never returns a secret, and stores none in clear', async () => {
    const { id } = await newOrganization()
    const { access_token, app_secret, verify_token, ...rest } = settings()
    const secrets = [access_token, app_secret, verify_token]
    const answers = [
      await connect(id, { ...rest, access_token, app_secret, verify_token }),
      await world.admin('GET', `/organizations/${id}`),
      await world.admin('GET', '/organizations'),
      await world.admin('PATCH', `/organizations/${id}`, { name: 'New' }),
    ]
    for (const secret of secrets) expect(JSON.stringify(answers)).not.toContain(secret)
    expect(await tablesHolding(secrets)).toEqual([])
    expect(await tablesHolding([rest.phone_number_id])).toEqual(['upstream_settings'])
  })

  it('fails without a job that fetches the templates', async () => {
    const { id } = await newOrganization()
    const given = { ...settings(), messages_per_second: 80, pair_limit: true }
    const breaking = { ...world.app.ctx, linkWithSimulator: () => Promise.reject(new Error('the simulator is down')) }
    await expect(connectUpstream(breaking, id, given)).rejects.toThrow('the simulator is down')
    const connected = async () => {
      const { rows } = await world.database.pool.query(
        `SELECT (SELECT count(*)::int FROM upstream_settings WHERE organization_id = $1) AS settings,
           (SELECT count(*)::int FROM jobs WHERE organization_id = $1 AND task = 'sync_templates') AS jobs`,
        [id],
      )
      return rows[0]
    }
    expect(await connected()).toEqual({ settings: 0, jobs: 0 })
    await connect(id, given)
    expect(await connected()).toEqual({ settings: 1, jobs: 1 })
  })

  it('registers the number at the simulator before a worker can fetch its templates', async () => {
    const { id } = await newOrganization()
    const seen: unknown[] = []
    const watching = {
      ...world.app.ctx,
      linkWithSimulator: async () => {
        const { rows } = await world.database.pool.query('SELECT FROM upstream_settings WHERE organization_id = $1', [
          id,
        ])
        seen.push(rows.length)
      },
    }
    onTestFinished(world.database.onCommit(({ topic }) => topic === 'jobs' && seen.push('woken')))
    await connectUpstream(watching, id, { ...settings(), messages_per_second: 80, pair_limit: true })
    expect(seen).toEqual([0, 'woken'])
  })

  it.each(['phone_number_id', 'business_account_id'] as const)(
    'returns 409 for a %s that another organization uses',
    async (kind) => {
      const [one, two] = [await newOrganization(), await newOrganization()]
      const first = settings()
      await connect(one.id, first)
      const answer = await connect(two.id, settings({ [kind]: first[kind] }))
      expect([answer.status, answer.body.error]).toEqual([409, 'Already taken'])
      expect(answer.body.message).toContain(kind)
      const { body } = await world.admin('GET', `/organizations/${two.id}`)
      expect(body.organization.provider).toBeNull()
    },
  )

  it("accepts the organization's own ids again, even in concurrent requests", async () => {
    const { id } = await newOrganization()
    const own = settings()
    const answers = await Promise.all(Array.from({ length: 10 }, () => connect(id, own)))
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200))
    expect((await connect(id, { ...own, access_token: 'another' })).status).toBe(200)
  })

  it('frees the old ids for other organizations', async () => {
    const [one, two] = [await newOrganization(), await newOrganization()]
    const first = settings()
    await connect(one.id, first)
    expect((await connect(two.id, first)).status).toBe(409)
    await connect(one.id, settings())
    expect((await connect(two.id, first)).status).toBe(200)
  })

  it('frees the ids when the organization is deleted', async () => {
    const [one, two] = [await newOrganization(), await newOrganization()]
    const first = settings()
    await connect(one.id, first)
    await world.admin('DELETE', `/organizations/${one.id}`)
    expect((await connect(two.id, first)).status).toBe(200)
  })

  it.each([
    ...['phone_number_id', 'business_account_id', 'access_token', 'app_secret', 'verify_token'].flatMap(
      (name): [object, string, string][] => [
        [{ [name]: undefined }, 'Missing required field', name],
        [{ [name]: '' }, 'Missing required field', name],
        [{ [name]: 5 }, 'Invalid field', name],
      ],
    ),
    [{ messages_per_second: -1 }, 'Invalid field', 'messages_per_second'] as const,
    [{ messages_per_second: 1.5 }, 'Invalid field', 'messages_per_second'] as const,
    [{ messages_per_second: '80' }, 'Invalid field', 'messages_per_second'] as const,
    [{ pair_limit: 'no' }, 'Invalid field', 'pair_limit'] as const,
    // The name of another organization's simulated phone.
    [{ phone_number_id: '0192f0c0-0000-7000-8000-00000000abcd/shop' }, 'Invalid field', 'phone_number_id'] as const,
  ])('returns 400 for %j', async (fields, error, name) => {
    const { id } = await newOrganization()
    const answer = await connect(id, settings(fields))
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})

describe('PUT /admin/organizations/{id}/storefront', () => {
  const put = (id: string, body: unknown) => world.admin('PUT', `/organizations/${id}/storefront`, body)

  it('returns 200, again 200, and stores no secret in clear', async () => {
    const { id } = await newOrganization()
    const secrets = [randomUUID(), randomUUID()]
    const given = { url: 'https://shop.example', access_token: secrets[0], webhook_secret: secrets[1] }
    for (const answer of [await put(id, given), await put(id, given)]) {
      expect(answer.status).toBe(200)
      expect(answer.body).toMatchObject({ success: true, storefront: { url: 'https://shop.example' } })
      for (const secret of secrets) expect(JSON.stringify(answer.body)).not.toContain(secret)
    }
    expect(await tablesHolding(secrets)).toEqual([])
  })

  it('shows the url without the token on GET; null before', async () => {
    const { id } = await newOrganization()
    const read = () => world.admin('GET', `/organizations/${id}/storefront`)
    expect((await read()).body).toEqual({ success: true, storefront: null })
    await put(id, { url: 'https://shop.example', access_token: 'a', webhook_secret: 'b' })
    expect((await read()).body).toEqual({ success: true, storefront: { url: 'https://shop.example' } })
    expect((await world.admin('GET', `/organizations/${randomUUID()}/storefront`)).status).toBe(404)
  })

  it.each([
    [{ url: 'not a url' }, 'Invalid field', 'url'],
    [{ url: 'ftp://shop.example' }, 'Invalid field', 'url must be an http or https URL'],
    [{ url: 'https://user:password@shop.example' }, 'Invalid field', 'url'],
    [{ url: 'https://shop.example/?shop=1' }, 'Invalid field', 'url'],
    [{ access_token: 'two\r\nlines' }, 'Invalid field', 'access_token'],
    [{ url: undefined }, 'Missing required field', 'url'],
    [{ access_token: '' }, 'Missing required field', 'access_token'],
    [{ webhook_secret: 5 }, 'Invalid field', 'webhook_secret'],
  ])('returns 400 for %j', async (fields, error, name) => {
    const { id } = await newOrganization()
    const answer = await put(id, { url: 'https://shop.example', access_token: 'a', webhook_secret: 'b', ...fields })
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})
