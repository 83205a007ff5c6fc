import { beforeAll, describe, expect, it } from 'vitest'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world, { language: 'pt_BR' })
let member: SignedInMember
let contactId: string

beforeAll(async () => {
  member = await signIn(world, organization, { role: 'agent' })
  contactId = await createContact(world, organization, '+5511900001234', {
    full_name: '🌸 Ana Souza',
    email: 'ana@example.com',
  })
})

const ask = (query: Record<string, string>, by = member) =>
  by.call('GET', `/placeholders?${new URLSearchParams(query)}`)

const ANA = {
  first_name: 'Ana',
  full_name: '🌸 Ana Souza',
  email: 'ana@example.com',
  phone_number: '+5511900001234',
  chat_id: '5511900001234',
}

describe('GET /console/api/placeholders', () => {
  it('returns the values of a contact, named by its id or by any form of its number', async () => {
    expect((await ask({ contactId })).body).toEqual({ success: true, placeholders: ANA })
    for (const chatNumber of ['+55 11 90000-1234', '011 90000-1234', '5511900001234']) {
      const { body } = await ask({ chatNumber, name: 'Somebody Else' })
      expect(body.placeholders).toEqual(ANA)
    }
  })

  it('returns the values for a new contact, and creates none', async () => {
    const { body } = await ask({ chatNumber: '+5511988887777', name: 'Bia Lima' })
    const known = { email: null, phone_number: '+5511988887777', chat_id: '5511988887777' }
    expect(body.placeholders).toEqual({ first_name: 'Bia', full_name: 'Bia Lima', ...known })
    const nameless = await ask({ chatNumber: '+5511988887777' })
    expect(nameless.body.placeholders).toEqual({ first_name: 'cliente', full_name: null, ...known })
    const found = await world.request('GET', '/contact?chat_id=5511988887777', { key: organization.key })
    expect(found.status).toBe(404)
  })

  it('does not know contacts of another organization', async () => {
    const other = await world.createOrganization()
    const stranger = await signIn(world, other)
    expect((await ask({ contactId }, stranger)).status).toBe(404)
    const { body } = await ask({ chatNumber: '+5511900001234' }, stranger)
    expect(body.placeholders).toMatchObject({ first_name: 'there', full_name: null, email: null })
  })

  it('refuses a request with no recipient, two recipients, or an invalid number', async () => {
    expect((await ask({})).status).toBe(400)
    expect((await ask({ contactId, chatNumber: '5511900001234' })).status).toBe(400)
    const answer = await ask({ chatNumber: 'hello' })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Invalid parameter', message: expect.stringContaining('hello') })
  })
})
