import { describe, expect, it } from 'vitest'
import { SCOPES } from '../../../src/model/organizations/scope.js'
import { ENDPOINTS, type Endpoint, urlOf } from '../../support/endpoints.js'
import { operationsOf, readDescription, requestAsDescribed } from '../../support/openapi.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
const other = useOrganization(world)

const HOUR_MS = 3_600_000

async function issueKey(fields: Record<string, unknown> = {}, id = organization.id) {
  const issued = await world.admin('POST', `/organizations/${id}/keys`, { name: 'one', ...fields })
  expect(issued.status).toBe(201)
  return issued.body.api_key
}

function ask(endpoint: Endpoint, key: string | undefined, parameter = '', headers: Record<string, string> = {}) {
  return request(endpoint.method, urlOf(endpoint, parameter), { key, body: endpoint.body, headers })
}

/** The body with an object in place of each value. */
function mistype(body: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(body).map((name) => [name, { not: 'this' }]))
}

it('authentication is tested for every endpoint', async () => {
  const listed = ENDPOINTS.map(({ method, path }) => `${method} ${path}`)
  expect(operationsOf(await readDescription(world)).sort()).toEqual(listed.sort())
})

describe.each(ENDPOINTS.map((endpoint) => ({ name: `${endpoint.method} ${endpoint.path}`, endpoint })))(
  '$name',
  ({ endpoint }) => {
    it.each([
      ['no header', {}],
      ['another scheme', { authorization: 'Basic cGFybGV5OnBhcmxleQ==' }],
      ['no token', { authorization: 'Bearer' }],
      ['an empty token', { authorization: 'Bearer   ' }],
      ['two tokens', { authorization: 'Bearer parley_a parley_b' }],
      ['another header', { apikey: 'parley_abc' }],
    ])('returns 401 Authorization required for %s', async (_name, headers) => {
      const answer = await ask(endpoint, undefined, '', headers as Record<string, string>)
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ success: false, error: 'Authorization required' })
      expect(answer.body.message).toContain('Bearer')
    })

    it.each([
      ['another prefix', 'sk_live_0123456789012345678901234567890123', 'parley_'],
      ['the prefix without underscore', 'parley0123456789012345678901234567890123', 'parley_'],
      ['an unknown key', `parley_${'x'.repeat(43)}`, 'API key is not known'],
      ['nothing but the prefix', 'parley_', 'API key is not known'],
    ])('returns 401 Invalid API key for %s', async (_name, key, message) => {
      const answer = await ask(endpoint, key)
      expect(answer.status).toBe(401)
      expect(answer.body).toMatchObject({ success: false, error: 'Invalid API key' })
      expect(answer.body.message).toContain(message)
    })

    it('returns 401 for a revoked key, from the next request on', async () => {
      const { id, key } = await issueKey()
      expect((await ask(endpoint, key)).status).not.toBe(401)
      expect((await world.admin('DELETE', `/keys/${id}`)).status).toBe(200)
      const answer = await ask(endpoint, key)
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({ success: false, error: 'Invalid API key', message: 'API key has been revoked' })
    })

    it('returns 401 for an expired key', async () => {
      const { key } = await issueKey({ expires_at: new Date(world.now().getTime() + HOUR_MS).toISOString() })
      expect((await ask(endpoint, key)).status).not.toBe(401)
      world.advance(HOUR_MS)
      const answer = await ask(endpoint, key)
      expect(answer.status).toBe(401)
      expect(answer.body).toEqual({ success: false, error: 'Invalid API key', message: 'API key has expired' })
    })

    it('accepts a rotated key during the overlap, and not after it', async () => {
      const { id, key } = await issueKey()
      const rotated = await world.admin('POST', `/keys/${id}/rotate`, { overlap_seconds: 3600 })
      expect(rotated.status).toBe(201)
      expect((await ask(endpoint, key)).status).not.toBe(401)
      expect((await ask(endpoint, rotated.body.api_key.key)).status).not.toBe(401)
      world.advance(HOUR_MS)
      expect((await ask(endpoint, key)).body.message).toBe('API key has been revoked')
      expect((await ask(endpoint, rotated.body.api_key.key)).status).not.toBe(401)
    })

    it('returns 403 without the scope', async () => {
      const { key } = await issueKey({ scopes: SCOPES.filter((scope) => scope !== endpoint.scope) })
      const answer = await ask(endpoint, key)
      expect(answer.status).toBe(403)
      expect(answer.body).toMatchObject({ success: false, error: 'Insufficient scope' })
      expect(answer.body.message).toContain(endpoint.scope)
    })

    it('accepts a key with only this scope', async () => {
      const { key } = await issueKey({ scopes: [endpoint.scope] })
      expect([401, 403]).not.toContain((await ask(endpoint, key)).status)
    })

    it('returns 404 after the organization was deleted', async () => {
      const short = await world.createOrganization()
      await world.admin('DELETE', `/organizations/${short.id}`)
      const answer = await ask(endpoint, short.key)
      expect(answer.status).toBe(404)
      expect(answer.body).toMatchObject({ success: false, error: 'Organization not found' })
    })

    it('accepts its own tenantId', async () => {
      expect((await ask(endpoint, organization.key, `tenantId=${organization.slug}`)).status).not.toBe(401)
    })

    it('returns 401 with the same body for any other tenantId', async () => {
      const foreign = await ask(endpoint, organization.key, `tenantId=${other.slug}`)
      expect(foreign.status).toBe(401)
      expect(foreign.body).toMatchObject({ success: false, error: 'Invalid API key' })
      for (const tenantId of ['nobody', organization.id, `${organization.slug}&tenantId=${other.slug}`, '%00']) {
        const answer = await ask(endpoint, organization.key, `tenantId=${tenantId}`)
        expect(answer.status).toBe(401)
        expect(answer.body).toEqual(foreign.body)
      }
    })

    it('checks key, scope, tenantId and body in this order', async () => {
      const wrong = { ...endpoint, body: endpoint.body && mistype(endpoint.body) }
      const { key } = await issueKey({ scopes: ['gateway'] })
      const refusals = [
        await ask(wrong, 'parley_unknown', 'tenantId=nobody'),
        await ask(wrong, key, 'tenantId=nobody'),
        await ask(wrong, organization.key, 'tenantId=nobody'),
      ]
      expect(refusals.map(({ body }) => body.error)).toEqual([
        'Invalid API key',
        'Insufficient scope',
        'Invalid API key',
      ])
      if (endpoint.body) expect((await ask(wrong, organization.key)).body.error).toBe('Invalid field')
    })
  },
)

describe('an API key', () => {
  it('is accepted with any case of the scheme and any spaces around it', async () => {
    const headers = { authorization: `bearer   ${organization.key} ` }
    expect((await request('GET', '/contact?chat_id=5511987650000', { headers })).status).not.toBe(401)
  })

  it('is not stored in clear in the database', async () => {
    const { key } = await issueKey()
    await request('GET', '/contact?chat_id=5511987650000', { key })
    const { rows: tables } = await world.database.pool.query<{ name: string }>(
      `SELECT format('%I.%I', table_schema, table_name) AS name FROM information_schema.tables
       WHERE table_schema NOT IN ('pg_catalog', 'information_schema')`,
    )
    expect(tables.length).toBeGreaterThan(10)
    const tablesHolding = async (text: string) => {
      const held = tables.map(async ({ name }) => {
        const found = await world.database.pool.query(
          `SELECT FROM ${name} AS t WHERE position($1 IN t::text) > 0 OR position($2 IN t::text) > 0 LIMIT 1`,
          [text, Buffer.from(text).toString('hex')],
        )
        return found.rowCount === 0 ? [] : [name]
      })
      return (await Promise.all(held)).flat()
    }
    const shown = 'parley_'.length + 6
    expect(await tablesHolding(key.slice(0, shown))).toEqual(['public.api_keys'])
    expect(await tablesHolding(key.slice(shown))).toEqual([])
  })

  it('shows when it was last used', async () => {
    const { id, key } = await issueKey()
    const lastUsed = async () => {
      const listed = await world.admin('GET', `/organizations/${organization.id}/keys`)
      return listed.body.api_keys.find((one: { id: string }) => one.id === id).last_used_at
    }
    expect(await lastUsed()).toBeNull()
    await request('GET', '/contact?chat_id=5511987650000', { key })
    await expect.poll(lastUsed).not.toBeNull()
    const first = await lastUsed()
    world.advance(HOUR_MS)
    await request('GET', '/contact?chat_id=5511987650000', { key })
    await expect.poll(lastUsed).not.toBe(first)
  })
})
