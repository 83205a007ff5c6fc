import { describe, expect, it } from 'vitest'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

const SCOPES = [
  ...['contacts:read', 'contacts:write', 'conversations:read', 'messages:send', 'templates:send'],
  ...['templates:write', 'broadcasts:read'],
  ...['broadcasts:write', 'analytics:read', 'webhooks:read', 'webhooks:write', 'gateway'],
]

const issue = (body: unknown, id = organization.id) => world.admin('POST', `/organizations/${id}/keys`, body)
const list = async (id = organization.id) => (await world.admin('GET', `/organizations/${id}/keys`)).body.api_keys
const works = async (key: string) =>
  (await world.request('GET', '/contact?chat_id=5511987654321', { key })).status === 404

describe('POST /admin/organizations/{id}/keys', () => {
  it('returns 201 with a key that has all scopes and never expires', async () => {
    const { status, body } = await issue({ name: 'shop system' })
    expect(status).toBe(201)
    expect(body.success).toBe(true)
    expect(body.api_key).toMatchObject({ name: 'shop system', scopes: SCOPES, expires_at: null })
    expect(body.api_key.key).toMatch(/^parley_[\w-]{32,}$/)
    expect(body.api_key.key.startsWith(body.api_key.prefix)).toBe(true)
    expect(Object.keys(body.api_key)).toEqual(
      expect.arrayContaining(['id', 'name', 'prefix', 'scopes', 'expires_at', 'created_at', 'key']),
    )
    expect(await works(body.api_key.key)).toBe(true)
  })

  it('returns 201 with the given scopes and expiry', async () => {
    const expires_at = '2999-12-31T23:59:59.000Z'
    const { body } = await issue({ name: 'x', scopes: ['gateway'], expires_at })
    expect(body.api_key).toMatchObject({ scopes: ['gateway'], expires_at })
    expect((await issue({ name: 'x', expires_at: null })).body.api_key.expires_at).toBeNull()
  })

  it('creates another key each time', async () => {
    const keys = await Promise.all(Array.from({ length: 10 }, () => issue({ name: 'same' })))
    expect(new Set(keys.map(({ body }) => body.api_key.key)).size).toBe(10)
  })

  it.each([
    [{}, 'Missing required field', 'name'],
    [{ name: '' }, 'Missing required field', 'name'],
    [{ name: 5 }, 'Invalid field', 'name'],
    [{ name: 'x', scopes: 'gateway' }, 'Invalid field', 'scopes'],
    [{ name: 'x', scopes: [] }, 'Invalid field', 'scopes'],
    [{ name: 'x', scopes: ['gateway', 'everything'] }, 'Invalid field', 'scopes[1]'],
    [{ name: 'x', expires_at: 'tomorrow' }, 'Invalid field', 'expires_at'],
    [{ name: 'x', expires_at: 1_900_000_000 }, 'Invalid field', 'expires_at'],
    [{ name: 'x', expires_at: '2030-13-45T00:00:00Z' }, 'Invalid field', 'expires_at'],
    [{ name: 'x', expires_at: '2030-02-30T00:00:00Z' }, 'Invalid field', 'expires_at'],
  ])('returns 400 for %j', async (body, error, name) => {
    const answer = await issue(body)
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})

describe('GET /admin/organizations/{id}/keys', () => {
  it("lists only the organization's keys, without their secrets", async () => {
    const { key, ...shown } = (await issue({ name: 'listed' })).body.api_key
    const listed = await list()
    expect(listed).toContainEqual(expect.objectContaining({ id: shown.id, last_used_at: null, revoked_at: null }))
    expect(JSON.stringify(listed)).not.toContain(key)
    for (const one of listed) expect(one).not.toHaveProperty('hash')
    expect(await list(other.id)).not.toContainEqual(expect.objectContaining({ id: shown.id }))
  })
})

describe('POST /admin/keys/{keyId}/rotate', () => {
  const rotate = (id: string, body?: unknown) => world.admin('POST', `/keys/${id}/rotate`, body)

  it('returns 201 with a new key of the same name, scopes and expiry; the old one stops working at once', async () => {
    const expires_at = '2999-12-31T23:59:59.000Z'
    const old = (await issue({ name: 'old', scopes: ['contacts:read'], expires_at })).body.api_key
    const { status, body } = await rotate(old.id, {})
    expect(status).toBe(201)
    expect(body.api_key).toMatchObject({ name: 'old', scopes: ['contacts:read'], expires_at })
    expect(body.api_key.id).not.toBe(old.id)
    expect([await works(old.key), await works(body.api_key.key)]).toEqual([false, true])
  })

  it('needs no body, with or without Content-Type', async () => {
    const [one, two] = [(await issue({ name: 'a' })).body.api_key, (await issue({ name: 'b' })).body.api_key]
    expect((await rotate(one.id)).status).toBe(201)
    const headers = { 'content-type': 'application/json' }
    const answer = await world.request('POST', `/admin/keys/${two.id}/rotate`, { key: world.adminToken, headers })
    expect(answer.status).toBe(201)
  })

  it('keeps the old one for the overlap, unless it is revoked before', async () => {
    const old = (await issue({ name: 'old' })).body.api_key
    await rotate(old.id, { overlap_seconds: 60 })
    expect(await works(old.key)).toBe(true)
    await world.admin('DELETE', `/keys/${old.id}`)
    expect(await works(old.key)).toBe(false)
  })

  it('returns 409 for a key that is revoked, rotated or expired; one of several concurrent requests succeeds', async () => {
    const old = (await issue({ name: 'old' })).body.api_key
    const answers = await Promise.all(Array.from({ length: 5 }, () => rotate(old.id, { overlap_seconds: 60 })))
    expect(answers.map(({ status }) => status).sort()).toEqual([201, 409, 409, 409, 409])
    const revoked = (await issue({ name: 'revoked' })).body.api_key
    await world.admin('DELETE', `/keys/${revoked.id}`)
    const expired = (await issue({ name: 'expired', expires_at: '2020-01-01T00:00:00Z' })).body.api_key
    for (const { id } of [revoked, expired]) {
      const answer = await rotate(id)
      expect([answer.status, answer.body.error]).toEqual([409, 'API key not active'])
    }
  })

  it.each([-1, 1.5, '60', null, 1e12])('returns 400 for overlap_seconds %j', async (overlap_seconds) => {
    const { id, key } = (await issue({ name: 'x' })).body.api_key
    const answer = await rotate(id, { overlap_seconds })
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
    expect(answer.body.message).toContain('overlap_seconds')
    expect(await works(key)).toBe(true)
  })
})

describe('DELETE /admin/keys/{keyId}', () => {
  it('revokes the key; a second time changes nothing', async () => {
    const { id, key } = (await issue({ name: 'x' })).body.api_key
    expect((await world.admin('DELETE', `/keys/${id.toUpperCase()}`)).status).toBe(200)
    expect(await works(key)).toBe(false)
    const { revoked_at } = (await list()).find((one: { id: string }) => one.id === id)
    expect(revoked_at).not.toBeNull()
    world.advance(1_000)
    expect((await world.admin('DELETE', `/keys/${id}`)).status).toBe(200)
    expect((await list()).find((one: { id: string }) => one.id === id).revoked_at).toBe(revoked_at)
  })
})
