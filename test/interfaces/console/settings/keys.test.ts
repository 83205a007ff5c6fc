import { beforeAll, describe, expect, it } from 'vitest'
import { SCOPES } from '../../../../src/model/organizations/scope.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { expectForOwners } from '../../../support/refusals.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  owner = await signIn(world, organization)
  stranger = await signIn(world, await world.createOrganization())
})

const issue = (body: object, by = owner) => by.call('POST', '/keys', { body })
const rotate = (id: string, body: object = {}, by = owner) => by.call('POST', `/keys/${id}/rotate`, { body })
const revoke = (id: string, by = owner) => by.call('DELETE', `/keys/${id}`)
const list = async (by = owner) => (await by.call('GET', '/keys')).body.api_keys
const works = async (key: string) =>
  (await world.request('GET', '/contact?chat_id=5511987654321', { key })).status === 404

it('API keys are for owners', async () => {
  const others = [
    await signIn(world, organization, { role: 'agent' }),
    await signIn(world, organization, { role: 'analyst' }),
  ]
  await expectForOwners(others, ['GET /keys', 'POST /keys', `POST /keys/${NO_ID}/rotate`, `DELETE /keys/${NO_ID}`])
})

describe('POST /console/api/keys', () => {
  it('returns 201 with the key, which is shown once', async () => {
    const { status, body } = await issue({ name: 'shop system', scopes: ['contacts:read'] })
    expect([status, body.api_key]).toMatchObject([201, { name: 'shop system', scopes: ['contacts:read'] }])
    expect(await works(body.api_key.key)).toBe(true)
    const shown = await list()
    expect(shown).toContainEqual(expect.objectContaining({ id: body.api_key.id, prefix: body.api_key.prefix }))
    expect(JSON.stringify(shown)).not.toContain(body.api_key.key)
    for (const key of shown) expect(key).not.toHaveProperty('hash')
  })

  it.each([
    [{}, 'name'],
    [{ name: 'x', scopes: [] }, 'scopes'],
    [{ name: 'x', scopes: ['gateway', 'everything'] }, 'scopes[1]'],
    [{ name: 'x', scopes: Array.from({ length: SCOPES.length + 1 }, () => 'gateway') }, 'scopes'],
    [{ name: 'x', expires_at: 'tomorrow' }, 'expires_at'],
  ])('returns 400 for %j', async (given, field) => {
    const { status, body } = await issue(given)
    expect([status, body.message]).toEqual([400, expect.stringContaining(field)])
  })
})

describe('POST /console/api/keys/{id}/rotate', () => {
  it('returns 201 with a new key, while the old one works for the overlap', async () => {
    const { id, key } = (await issue({ name: 'x', scopes: ['contacts:read'] })).body.api_key
    const { status, body } = await rotate(id, { overlap_seconds: 60 })
    expect([status, body.api_key]).toMatchObject([201, { name: 'x', scopes: ['contacts:read'] }])
    expect([await works(key), await works(body.api_key.key)]).toEqual([true, true])
    const again = await rotate(id)
    expect([again.status, again.body.error]).toEqual([409, 'API key not active'])
  })

  it("returns 404 for another organization's key, which continues to work", async () => {
    const { id, key } = (await issue({ name: 'x' })).body.api_key
    for (const answer of [await rotate(id, {}, stranger), await rotate(NO_ID)]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'API key not found'])
    }
    expect(await works(key)).toBe(true)
    expect(await list(stranger)).toHaveLength(1)
  })
})

describe('DELETE /console/api/keys/{id}', () => {
  it('revokes it from the next request on', async () => {
    const { id, key } = (await issue({ name: 'x' })).body.api_key
    const { status, body } = await revoke(id)
    expect([status, body.api_key]).toMatchObject([200, { id, revoked_at: expect.any(String) }])
    expect(await works(key)).toBe(false)
  })

  it("returns 404 for another organization's key, which continues to work", async () => {
    const { id, key } = (await issue({ name: 'x' })).body.api_key
    for (const answer of [await revoke(id, stranger), await revoke(NO_ID)]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'API key not found'])
    }
    expect(await works(key)).toBe(true)
    expect(await list(stranger)).not.toContainEqual(expect.objectContaining({ id }))
  })
})
