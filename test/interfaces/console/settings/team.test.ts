import { randomUUID } from 'node:crypto'
import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type SignedInMember, signInWithPassword } from '../../../support/console.js'
import { hold, untilWaiting } from '../../../support/locks.js'
import { expectForOwners } from '../../../support/refusals.js'
import { type TestOrganization, useWorld } from '../../../support/world.js'

const NO_ID = '00000000-0000-7000-8000-000000000000'

const world = useWorld()
let organization: TestOrganization
let owner: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  stranger = await signInWithPassword(world, await world.createOrganization())
})
beforeEach(async () => {
  organization = await world.createOrganization()
  owner = await signInWithPassword(world, organization)
})

const person = () => ({ email: `${randomUUID()}@example.com`, full_name: 'Ana', role: 'agent' })
const invite = (body: object = person(), by = owner) => by.call('POST', '/team', { body })
const change = (id: string, body: object, by = owner) => by.call('PATCH', `/team/${id}`, { body })
const remove = (id: string, by = owner) => by.call('DELETE', `/team/${id}`)
const list = async (by = owner) => (await by.call('GET', '/team')).body.members
const tokenOf = (link: { url: string }) => link.url.split('#')[1]
const signInBy = (token: string | undefined) => world.request('POST', '/console/api/session/link', { body: { token } })

describe('GET /console/api/team', () => {
  it('shows all members to every member, and none of another team', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent', fullName: 'Ana' })
    const analyst = await signInWithPassword(world, organization, { role: 'analyst', fullName: 'Bia' })
    const expected = [owner, agent, analyst].map(({ member }) => ({ ...member, has_password: true }))
    for (const by of [owner, agent, analyst]) expect(await list(by)).toEqual(expected)
    expect(await list(stranger)).toEqual([{ ...stranger.member, has_password: true }])
  })
})

it('can only be changed by owners', async () => {
  const others = [
    await signInWithPassword(world, organization, { role: 'agent' }),
    await signInWithPassword(world, organization, { role: 'analyst' }),
  ]
  const own = `/team/${others[0]?.member.id}`
  await expectForOwners(others, ['POST /team', `PATCH ${own}`, `DELETE ${own}`, `POST ${own}/link`])
})

describe('POST /console/api/team', () => {
  it('returns 201 with a link that signs the new member in once', async () => {
    const given = person()
    const { status, body } = await invite(given)
    expect([status, body.member]).toEqual([201, { id: expect.any(String), ...given, has_password: false }])
    expect(body.link).toEqual({
      url: expect.stringContaining(`${world.app.ctx.publicUrl()}/console/sign-in#`),
      expires_at: expect.stringMatching(/^\d{4}-.*Z$/),
    })
    const first = await signInBy(tokenOf(body.link))
    expect([first.status, first.body.session.member.id]).toEqual([200, body.member.id])
    expect((await signInBy(tokenOf(body.link))).status).toBe(401)
    expect(JSON.stringify(await list())).not.toContain(tokenOf(body.link))
  })

  it('accepts no password: members set their own', async () => {
    const refused = await invite({ ...person(), password: 'chosen by the owner' })
    expect([refused.status, refused.body.message]).toEqual([400, 'The field password is not known.'])
    expect((await invite(person())).body.member.has_password).toBe(false)
  })

  it('returns 409 for an e-mail address of the team', async () => {
    const given = person()
    await invite(given)
    const again = await invite({ ...given, email: given.email.toUpperCase() })
    expect([again.status, again.body.error]).toEqual([409, 'Already taken'])
    expect((await invite(given, stranger)).status).toBe(201)
  })

  it.each([
    [{ email: 'nobody' }, 'email'],
    [{ full_name: '' }, 'full_name'],
    [{ role: 'king' }, 'role'],
  ])('returns 400 for %j', async (fields, name) => {
    const { status, body } = await invite({ ...person(), ...fields })
    expect([status, body.message]).toEqual([400, expect.stringContaining(name)])
  })
})

describe('POST /console/api/team/{id}/link', () => {
  it('returns 201 with another link', async () => {
    const { member } = (await invite()).body
    const { status, body } = await owner.call('POST', `/team/${member.id}/link`)
    expect(status).toBe(201)
    expect((await signInBy(tokenOf(body.link))).body.session.member.id).toBe(member.id)
  })

  it('returns 403 for another owner with a password; an operator can create one', async () => {
    const another = await signInWithPassword(world, organization)
    const { status, body } = await owner.call('POST', `/team/${another.member.id.toUpperCase()}/link`)
    expect([status, body.error]).toEqual([403, 'Forbidden'])
    expect(body).not.toHaveProperty('link')
    expect((await owner.call('POST', `/team/${owner.member.id}/link`)).status).toBe(201)
    expect((await world.admin('POST', `/members/${another.member.id}/sign-in-link`)).status).toBe(201)
    const { member } = (await invite({ ...person(), role: 'owner' })).body
    expect((await owner.call('POST', `/team/${member.id}/link`)).status).toBe(201)
  })

  it('returns 404 for a member of another team, so that no session of it can be started', async () => {
    for (const [by, id] of [
      [stranger, owner.member.id],
      [owner, NO_ID],
    ] as const) {
      const { status, body } = await by.call('POST', `/team/${id}/link`)
      expect([status, body.error]).toEqual([404, 'Member not found'])
      expect(body).not.toHaveProperty('link')
    }
  })
})

describe('PATCH /console/api/team/{id}', () => {
  it('changes name and role, which applies from the next request', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent' })
    expect((await agent.call('GET', '/keys')).status).toBe(403)
    const { status, body } = await change(agent.member.id, { full_name: 'Ana Maria', role: 'owner' })
    expect([status, body.member]).toMatchObject([200, { full_name: 'Ana Maria', role: 'owner' }])
    expect((await agent.call('GET', '/keys')).status).toBe(200)
    expect((await change(agent.member.id, { full_name: 'Ana' })).body.member).toMatchObject({ role: 'owner' })
  })

  it('returns 409 for the last owner, who stays owner', async () => {
    await signInWithPassword(world, organization, { role: 'agent' })
    const { status, body } = await change(owner.member.id, { role: 'agent' })
    expect([status, body.error]).toEqual([409, 'Last owner'])
    expect((await change(owner.member.id, { role: 'owner', full_name: 'Olga' })).status).toBe(200)
    expect(await list()).toContainEqual(expect.objectContaining({ id: owner.member.id, role: 'owner' }))
  })

  it('keeps one of two owners who demote each other at the same moment', async () => {
    const second = await signInWithPassword(world, organization)
    // Both are in progress, and each sees two owners unless it waits for the other.
    const held = await hold(world.database, 'SELECT FROM members WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    const answers = Promise.all([
      change(second.member.id, { role: 'agent' }, owner),
      change(owner.member.id, { role: 'agent' }, second),
    ])
    await untilWaiting(world.database, 2)
    await held.commit()
    expect((await answers).map(({ status }) => status).sort()).toEqual([200, 409])
    const { rows } = await world.database.pool.query('SELECT role FROM members WHERE organization_id = $1', [
      organization.id,
    ])
    expect(rows.map(({ role }) => role).sort()).toEqual(['agent', 'owner'])
  })

  it('returns 404 for a member of another team, who is not changed', async () => {
    for (const answer of [await change(owner.member.id, { role: 'agent' }, stranger), await change(NO_ID, {})]) {
      expect([answer.status, answer.body.error]).toEqual([404, 'Member not found'])
    }
    expect(await list()).toMatchObject([{ role: 'owner' }])
  })

  it('returns 400 for an unknown role', async () => {
    const { status, body } = await change(owner.member.id, { role: 'king' })
    expect([status, body.message]).toEqual([400, expect.stringContaining('role')])
  })
})

describe('DELETE /console/api/team/{id}', () => {
  it('ends the sessions of a member at once', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent' })
    expect((await remove(agent.member.id)).status).toBe(200)
    expect((await agent.call('GET', '/team')).status).toBe(401)
    const again = await remove(agent.member.id)
    expect([again.status, again.body.error]).toEqual([404, 'Member not found'])
  })

  it('removes an owner, except the last one', async () => {
    const second = await signInWithPassword(world, organization)
    expect((await remove(owner.member.id, owner)).status).toBe(200)
    const last = await remove(second.member.id.toUpperCase(), second)
    expect([last.status, last.body.error]).toEqual([409, 'Last owner'])
    expect(await list(second)).toMatchObject([{ id: second.member.id, role: 'owner' }])
  })

  it('keeps one of two owners who remove each other at the same moment', async () => {
    const second = await signInWithPassword(world, organization)
    const held = await hold(world.database, 'SELECT FROM members WHERE organization_id = $1 FOR UPDATE', [
      organization.id,
    ])
    const answers = Promise.all([remove(second.member.id, owner), remove(owner.member.id, second)])
    await untilWaiting(world.database, 2)
    await held.commit()
    expect((await answers).map(({ status }) => status).sort()).toEqual([200, 409])
  })

  it('returns 404 for a member of another team, who stays', async () => {
    const agent = await signInWithPassword(world, organization, { role: 'agent' })
    const { status, body } = await remove(agent.member.id, stranger)
    expect([status, body.error]).toEqual([404, 'Member not found'])
    expect((await agent.call('GET', '/team')).status).toBe(200)
  })
})
