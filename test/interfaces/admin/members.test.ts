import { describe, expect, it } from 'vitest'
import { makeSignInLink } from '../../support/console.js'
import { createContact } from '../../support/contacts.js'
import { hold, untilWaiting } from '../../support/locks.js'
import { contactRow } from '../../support/rows/contacts.js'
import { eventsOf } from '../../support/rows/events.js'
import { useOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

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
  it.each(['owner', 'agent', 'analyst'])('returns 201 for an %s', async (role) => {
    const given = newMember({ role })
    const { status, body } = await add(given)
    expect(status).toBe(201)
    expect(body).toMatchObject({ success: true, member: given })
    expect(body.member.id).toMatch(/^[0-9a-f-]{36}$/)
    expect(body.member.has_password).toBe(false)
    expect(await list()).toContainEqual(body.member)
  })

  it('hashes the password, and shows neither', async () => {
    const password = 'correct horse battery staple'
    const { body } = await add(newMember({ password }))
    const shown = JSON.stringify([body, await list()])
    expect(shown).not.toContain(password)
    expect(shown).not.toContain('password_hash')
    expect(body.member.has_password).toBe(true)
    const { rows } = await world.database.pool.query('SELECT password_hash FROM members WHERE id = $1', [
      body.member.id,
    ])
    expect(rows[0].password_hash).toMatch(/^\$argon2id\$/)
    expect(rows[0].password_hash).not.toContain(password)
  })

  it('returns 409 for the e-mail address of another member of the organization, in any case', async () => {
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
  ])('returns 400 for %j', async (fields, error, name) => {
    const answer = await add(newMember(fields))
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(name)
  })
})

describe('GET /admin/organizations/{id}/members', () => {
  it("shows only the organization's own team", async () => {
    const { id } = (await add(newMember())).body.member
    expect(await list(other.id)).not.toContainEqual(expect.objectContaining({ id }))
  })
})

describe('DELETE /admin/members/{id}', () => {
  it("unassigns the member's contacts, and leaves its notes without an author", async () => {
    const [leaving, staying] = [(await add(newMember())).body.member, (await add(newMember())).body.member]
    const { pool } = world.database
    const assigned = (memberId: string) =>
      pool.query<{ id: string }>('SELECT id FROM contacts WHERE assignee_id = $1', [memberId])
    for (const [index, { id }] of [leaving, staying].entries()) {
      const body = { phone_number: `551198765000${index}` }
      const { contact } = (await world.request('POST', '/contact', { key: organization.key, body })).body
      await pool.query('UPDATE contacts SET assignee_id = $1 WHERE id = $2', [id, contact.id])
      await pool.query(
        `INSERT INTO notes (organization_id, id, contact_id, after_seq, member_id, text, event_seq)
         VALUES ($1, gen_random_uuid(), $2, 0, $3, $4, 1)`,
        [organization.id, contact.id, id, `of ${index}`],
      )
    }
    const [left] = (await assigned(leaving.id)).rows
    await world.admin('DELETE', `/members/${leaving.id}`)
    expect((await assigned(leaving.id)).rows).toEqual([])
    expect((await assigned(staying.id)).rows).toHaveLength(1)
    const updates = await eventsOf(world, organization, 'contact.updated')
    expect(updates.map(({ contact_id, data }) => [contact_id, data.contact.assignee_id])).toEqual([[left?.id, null]])
    const { rows } = await pool.query('SELECT text, member_id FROM notes ORDER BY text')
    expect(rows).toEqual([
      { text: 'of 0', member_id: null },
      { text: 'of 1', member_id: staying.id },
    ])
  })

  it('waits for a concurrent assignment to the member, and then removes it', async () => {
    const { id } = (await add(newMember())).body.member
    const contactId = await createContact(world, organization, '+16505550001')
    const held = await hold(world.database, 'SELECT FROM members WHERE id = $1 FOR KEY SHARE', [id])
    await held.run('UPDATE contacts SET assignee_id = $1 WHERE id = $2', [id, contactId])
    const removed = world.admin('DELETE', `/members/${id}`)
    await untilWaiting(world.database, 1, 'members')
    await held.commit()
    expect((await removed).status).toBe(200)
    expect((await contactRow(world, { id: contactId })).assignee_id).toBeNull()
  })

  it('and a concurrent use of a sign-in link do not deadlock', async () => {
    const { id } = (await add(newMember())).body.member
    const token = await makeSignInLink(world, id)
    const contactId = await createContact(world, organization, '+16505550002')
    await world.database.pool.query('UPDATE contacts SET assignee_id = $1 WHERE id = $2', [id, contactId])
    const held = await hold(world.database, 'SELECT FROM contacts WHERE id = $1 FOR UPDATE', [contactId])
    const removed = world.admin('DELETE', `/members/${id}`)
    await untilWaiting(world.database, 1)
    const used = world.request('POST', '/console/api/session/link', { body: { token } })
    // Each now holds the lock that the other one needs.
    await untilWaiting(world.database, 2)
    await held.commit()
    expect((await removed).status).toBe(200)
    expect([200, 401]).toContain((await used).status)
    const { rows } = await world.database.pool.query('SELECT id FROM member_sessions WHERE member_id = $1', [id])
    expect(rows).toEqual([])
  })

  it('returns 200, then 404', async () => {
    const { id } = (await add(newMember())).body.member
    expect((await world.admin('DELETE', `/members/${id}`)).status).toBe(200)
    expect(await list()).not.toContainEqual(expect.objectContaining({ id }))
    const again = await world.admin('DELETE', `/members/${id}`)
    expect([again.status, again.body.error]).toEqual([404, 'Member not found'])
  })
})
