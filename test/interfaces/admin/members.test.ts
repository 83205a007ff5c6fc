import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { startWorld, type TestOrganization, type World } from '../../support/world.js'

let world: World
let organization: TestOrganization
let other: TestOrganization

beforeAll(async () => {
  world = await startWorld()
  organization = await world.createOrganization()
  other = await world.createOrganization()
})

afterAll(() => world.close())

let members = 0
const newMember = (fields: object = {}) => ({
  email: `member${++members}@example.com`,
  full_name: 'Ana',
  role: 'agent',
  ...fields,
})
const add = (body: unknown, id = organization.id) => world.admin('POST', `/organizations/${id}/members`, body)
const list = async (id = organization.id) => (await world.admin('GET', `/organizations/${id}/members`)).body.members

describe('POST /admin/organizations/{id}/members', () => {
  it.each(['owner', 'agent', 'analyst'])('201 for an %s', async (role) => {
    const given = newMember({ role })
    const { status, body } = await add(given)
    expect(status).toBe(201)
    expect(body).toMatchObject({ success: true, member: given })
    expect(body.member.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(await list()).toContainEqual(body.member)
  })

  it('hashes the password, and shows neither', async () => {
    const password = 'correct horse battery staple'
    const { body } = await add(newMember({ password }))
    const shown = JSON.stringify([body, await list()])
    expect(shown).not.toContain(password)
    expect(shown).not.toContain('password')
    const { rows } = await world.database.pool.query('SELECT password_hash FROM members WHERE id = $1', [
      body.member.id,
    ])
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$/)
    expect(rows[0].password_hash).not.toContain(password)
  })

  it('409 for an e-mail address that a member of this organization has, whatever its case', async () => {
    const given = newMember()
    expect((await add(given)).status).toBe(201)
    for (const email of [given.email, given.email.toUpperCase()]) {
      const answer = await add({ ...given, email })
      expect([answer.status, answer.body.error]).toEqual([409, 'Already taken'])
    }
    expect((await add(given, other.id)).status).toBe(201)
  })

  it.each([
    [{ email: undefined }, 'Missing required field', 'email'],
    [{ full_name: '' }, 'Missing required field', 'full_name'],
    [{ role: undefined }, 'Missing required field', 'role'],
    [{ email: 'nobody' }, 'Invalid field', 'email'],
    [{ role: 'king' }, 'Invalid field', 'role'],
    [{ full_name: 5 }, 'Invalid field', 'full_name'],
    [{ password: 'short' }, 'Invalid field', 'password'],
    [{ password: 5 }, 'Invalid field', 'password'],
    [{ password: 'x'.repeat(257) }, 'Invalid field', 'password'],
  ])('400: %j', async (fields, error, name) => {
    const answer = await add(newMember(fields))
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})

describe('GET /admin/organizations/{id}/members', () => {
  it("shows nobody of another organization's team", async () => {
    const { id } = (await add(newMember())).body.member
    expect(await list(other.id)).not.toContainEqual(expect.objectContaining({ id }))
  })
})

describe('DELETE /admin/members/{id}', () => {
  it('200, then 404', async () => {
    const { id } = (await add(newMember())).body.member
    expect((await world.admin('DELETE', `/members/${id}`)).status).toBe(200)
    expect(await list()).not.toContainEqual(expect.objectContaining({ id }))
    const again = await world.admin('DELETE', `/members/${id}`)
    expect([again.status, again.body.error]).toEqual([404, 'Member not found'])
  })
})
