import { beforeAll, describe, expect, it } from 'vitest'
import { resolveContact } from '../../../src/core/contacts/resolution/resolve-contact.js'
import { post, receiveMessages, seconds, textMessage, wamid } from '../../support/callbacks.js'
import { CONTACT_FIELDS, createContact } from '../../support/contacts.js'
import { readConversations } from '../../support/conversations.js'
import { requestAsDescribed } from '../../support/openapi.js'
import { type Answer, type TestOrganization, useWorld } from '../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)

const list = (organization: TestOrganization, query: Record<string, string> = {}) =>
  readConversations({ request }, organization, { action: 'contacts', ...query })

const namesOf = ({ body }: Answer) => body.contacts.map((contact: { full_name: string | null }) => contact.full_name)

async function names(organization: TestOrganization, search: string): Promise<string[]> {
  const answer = await list(organization, { search })
  expect(answer.status).toBe(200)
  return namesOf(answer).sort()
}

const numberOf = (index: number) => `1650558${String(index).padStart(4, '0')}`

/** An organization with this number of contacts, the last one named 1. */
async function withContacts(count: number): Promise<TestOrganization> {
  const organization = await world.createOrganization()
  for (let index = count; index >= 1; index--) {
    await createContact(world, organization, `+${numberOf(index)}`, { full_name: String(index) })
  }
  return organization
}

const upTo = (count: number) => Array.from({ length: count }, (_, index) => String(index + 1))

describe('GET /conversations?action=contacts', () => {
  it('returns 50 contacts with all their fields, and the total', async () => {
    const organization = await withContacts(51)
    const answer = await list(organization)
    expect(answer.status).toBe(200)
    const { contacts, ...rest } = answer.body
    expect(namesOf(answer)).toEqual(upTo(50))
    for (const contact of contacts) expect(Object.keys(contact)).toEqual(CONTACT_FIELDS)
    expect(rest).toEqual({
      success: true,
      pagination: {
        currentPage: 1,
        totalPages: 2,
        totalContacts: 51,
        contactsPerPage: 50,
        hasNextPage: true,
        hasPrevPage: false,
      },
      count: 50,
      searchTerms: null,
      filtered: false,
    })
    const [first] = contacts
    const path = `/contact?chat_id=${first.chat_id}`
    expect((await request('GET', path, { key: organization.key })).body.contact).toEqual(first)
  })

  it('returns the same contacts with any page size', async () => {
    const organization = await withContacts(11)
    for (let limit = 1; limit <= 13; limit++) {
      const pages = Math.ceil(11 / limit)
      const shown: string[] = []
      for (let page = 1; page <= pages + 2; page++) {
        const answer = await list(organization, { limit: String(limit), page: String(page) })
        shown.push(...namesOf(answer))
        expect(answer.body.count).toBe(answer.body.contacts.length)
        expect(answer.body.pagination).toEqual({
          currentPage: page,
          totalPages: pages,
          totalContacts: 11,
          contactsPerPage: limit,
          hasNextPage: page < pages,
          hasPrevPage: page > 1,
        })
      }
      expect({ limit, shown }).toEqual({ limit, shown: upTo(11) })
    }
  })

  it('returns an empty page past the end, and without contacts', async () => {
    const organization = await withContacts(2)
    expect((await list(organization, { page: '10000000', limit: '100' })).body).toMatchObject({
      contacts: [],
      count: 0,
      pagination: { currentPage: 10_000_000, totalPages: 1, totalContacts: 2, hasNextPage: false, hasPrevPage: true },
    })
    const empty = await world.createOrganization()
    const queries: Record<string, string>[] = [{}, { page: '2' }, { search: 'a' }]
    for (const query of queries) {
      expect((await list(empty, query)).body).toMatchObject({
        contacts: [],
        count: 0,
        pagination: { totalPages: 0, totalContacts: 0, hasNextPage: false, hasPrevPage: false },
      })
    }
  })

  it("shows no other organization's contacts", async () => {
    const [organization, other] = [await withContacts(2), await withContacts(3)]
    const ids = (answer: Answer) => answer.body.contacts.map((contact: { id: string }) => contact.id)
    const [mine, theirs] = [await list(organization), await list(other)]
    expect([mine.body.pagination.totalContacts, theirs.body.pagination.totalContacts]).toEqual([2, 3])
    expect(ids(theirs)).not.toEqual(expect.arrayContaining([ids(mine)[0]]))
    const searched = await list(organization, { search: '3' })
    expect(namesOf(searched)).not.toContain('3')
  })

  it('needs no contact, only the scope of conversations', async () => {
    const organization = await withContacts(1)
    expect((await list(organization, { chatNumber: '', query: 'x', orderId: 'x' })).status).toBe(200)
    const path = `/organizations/${organization.id}/keys`
    const issued = await world.admin('POST', path, { name: 'sender', scopes: ['contacts:read'] })
    expect((await list({ ...organization, key: issued.body.api_key.key })).status).toBe(403)
  })
})

describe('the order of contacts', () => {
  it('follows received and sent messages, and creation', async () => {
    const organization = await withContacts(4)
    expect(namesOf(await list(organization))).toEqual(['1', '2', '3', '4'])
    await receiveMessages(world, organization, textMessage(numberOf(3), 'Oi'))
    expect(namesOf(await list(organization))).toEqual(['3', '1', '2', '4'])
    const body = { phone_number: numberOf(4), message_type: 'text', text: 'Oi' }
    await world.request('POST', '/send-chat', { key: organization.key, body })
    expect(namesOf(await list(organization))).toEqual(['4', '3', '1', '2'])
    await createContact(world, organization, `+${numberOf(9)}`, { full_name: 'new' })
    expect(namesOf(await list(organization))).toEqual(['new', '4', '3', '1', '2'])
    await receiveMessages(world, organization, textMessage(numberOf(10), 'Oi'))
    expect(namesOf(await list(organization, { limit: '2' }))).toEqual([null, 'new'])
  })

  it('does not follow changes of a contact, reactions, nor statuses', async () => {
    const organization = await withContacts(3)
    const { key } = organization
    const original = textMessage(numberOf(3), 'Oi')
    for (const message of [original, textMessage(numberOf(2), 'Oi'), textMessage(numberOf(1), 'Oi')]) {
      await receiveMessages(world, organization, message)
    }
    const reaction = { message_id: original.id, emoji: '👍' }
    const received = { from: numberOf(3), id: wamid(), timestamp: seconds(), type: 'reaction', reaction }
    await receiveMessages(world, organization, received)
    const body = { phone_number: numberOf(3), message_type: 'reaction', reaction }
    expect((await world.request('POST', '/send-chat', { key, body })).status).toBe(200)
    await world.settle()
    const path = `/contact?chat_id=${numberOf(3)}`
    await world.request('PATCH', path, { key, body: { archived: true, full_name: '3, changed' } })
    expect(namesOf(await list(organization))).toEqual(['1', '2', '3, changed'])
  })

  it('keeps the later time of two merged contacts', async () => {
    const organization = await withContacts(3)
    const becomeOne = (digits: string, userId: string) =>
      resolveContact(world.app.ctx, organization.id, { waId: digits, userId })
    const write = (userId: string) => receiveMessages(world, organization, fromUser(userId))
    await write('US.77')
    expect(namesOf(await list(organization))).toEqual([null, '1', '2', '3'])
    await becomeOne(numberOf(3), 'US.77')
    expect(namesOf(await list(organization))).toEqual(['3', '1', '2'])
    await write('US.78')
    await receiveMessages(world, organization, textMessage(numberOf(2), 'Oi'))
    await receiveMessages(world, organization, textMessage(numberOf(1), 'Oi'))
    await becomeOne(numberOf(2), 'US.78')
    const answer = await list(organization)
    expect(namesOf(answer)).toEqual(['1', '2', '3'])
    expect(answer.body.pagination.totalContacts).toBe(3)
  })
})

/** A message of a person known only by a user id. */
const fromUser = (from_user_id: string) => ({ ...textMessage('', 'Oi'), from: undefined, from_user_id })

describe('the number of contacts', () => {
  it('stays right after creating, erasing and creating again', async () => {
    const organization = await withContacts(3)
    const total = async () => (await list(organization)).body.pagination.totalContacts
    expect(await total()).toBe(3)
    const erase = () =>
      world.request('DELETE', `/contact?chat_id=${numberOf(2)}`, { key: organization.key }).then(({ status }) => status)
    expect(await erase()).toBe(200)
    expect(await erase()).toBe(404)
    expect(await total()).toBe(2)
    await createContact(world, organization, `+${numberOf(2)}`)
    expect(await total()).toBe(3)
  })

  it('counts a contact created by 20 concurrent requests once', async () => {
    const organization = await world.createOrganization()
    const body = { phone_number: numberOf(1) }
    await Promise.all(
      Array.from({ length: 20 }, () => world.request('POST', '/contact', { key: organization.key, body })),
    )
    expect((await list(organization)).body).toMatchObject({ count: 1, pagination: { totalContacts: 1 } })
  })
})

describe('search among contacts', () => {
  let organization: TestOrganization

  beforeAll(async () => {
    organization = await world.createOrganization()
    const people: [string, string | undefined][] = [
      ['+5511987654321', 'João da Silva'],
      ['+5521912345678', 'Maria João Peçanha'],
      ['+493012345678', 'Jürgen Großmann'],
      ['+14155550123', '100% Wool_Shop'],
      ['+390612345678', 'ΓΙΏΡΓΟΣ'],
      ['+442079460000', undefined],
    ]
    for (const [number, full_name] of people) await createContact(world, organization, number, { full_name })
  })

  it('returns the search terms', async () => {
    const { body } = await list(organization, { search: '  joão ' })
    expect(body).toMatchObject({
      count: 2,
      searchTerms: ['joão'],
      filtered: true,
      pagination: { totalContacts: 2, totalPages: 1, hasNextPage: false },
    })
    expect(namesOf({ body } as Answer)).toEqual(['Maria João Peçanha', 'João da Silva'])
  })

  it.each([
    ['joao', ['João da Silva', 'Maria João Peçanha']],
    ['JOÃO', ['João da Silva', 'Maria João Peçanha']],
    ['joa\u0303o DA', ['João da Silva']],
    ['oão pe', ['Maria João Peçanha']],
    ['pecanha', ['Maria João Peçanha']],
    ['jurgen grossmann', ['Jürgen Großmann']],
    ['GROẞ', ['Jürgen Großmann']],
    ['γιωργος', ['ΓΙΏΡΓΟΣ']],
    ['%', ['100% Wool_Shop']],
    ['l_s', ['100% Wool_Shop']],
    ['_', ['100% Wool_Shop']],
    ['\\', []],
    ["'", []],
    ['\u0301', []],
    ['´', []],
    ['nobody', []],
  ])('finds by name: %s', async (search, expected) => {
    expect(await names(organization, search)).toEqual(expected)
  })

  it.each([
    ['+55 (11) 98765-4321'],
    ['5511987654321'],
    ['+5511987654321'],
    ['011 98765-4321'],
    ['11 98765-4321'],
    ['00 55 11 98765 4321'],
    ['+55 11 8765-4321'],
    ['551187654321'],
    ['98765-4321'],
    ['98765 43'],
    ['(11) 987'],
    ['(011) 987'],
    ['8765.4321'],
  ])('finds by number: %s', async (search) => {
    expect(await names(organization, search)).toEqual(['João da Silva'])
  })

  it('finds by a number without a name', async () => {
    const { body } = await list(organization, { search: '+44 20 7946 0000' })
    expect(body.contacts).toMatchObject([{ chat_id: '442079460000', full_name: null }])
  })

  it('finds digits in numbers and names', async () => {
    expect(await names(organization, '12345')).toEqual(['Jürgen Großmann', 'Maria João Peçanha', 'ΓΙΏΡΓΟΣ'].sort())
    expect(await names(organization, '100')).toEqual(['100% Wool_Shop'])
  })

  it('finds any of several terms, page by page', async () => {
    const pages = await Promise.all(
      ['1', '2', '3', '4'].map((page) => list(organization, { search: '12345', limit: '1', page })),
    )
    expect(pages.flatMap(namesOf)).toEqual(['ΓΙΏΡΓΟΣ', 'Jürgen Großmann', 'Maria João Peçanha'])
    expect(pages.map(({ body }) => body.pagination.totalContacts)).toEqual([3, 3, 3, 3])
    expect(pages.map(({ body }) => body.pagination.hasNextPage)).toEqual([true, true, false, false])
  })

  it.each(['', ' ', '\t'])('is empty for "%s"', async (search) => {
    const { body } = await list(organization, { search })
    expect(body).toMatchObject({ count: 6, searchTerms: null, filtered: false })
  })

  it.each(['+', '-', '()', '()-'])('finds no numbers for text without digits: %s', async (search) => {
    expect(await names(organization, search)).toEqual([])
  })

  it('finds a person by the new name, not by the old one', async () => {
    const owner = await world.createOrganization()
    await createContact(world, owner, '+14155550199', { full_name: 'Zoë' })
    const path = '/contact?phone_number=14155550199'
    await world.request('PATCH', path, { key: owner.key, body: { full_name: 'Chloé' } })
    expect(await names(owner, 'zoe')).toEqual([])
    expect(await names(owner, 'chloe')).toEqual(['Chloé'])
    await world.request('PATCH', path, { key: owner.key, body: { full_name: null } })
    expect(await names(owner, 'chloe')).toEqual([])
  })

  it('finds a person by the profile name of a message', async () => {
    const owner = await world.createOrganization()
    await createContact(world, owner, '+14155550198')
    const contacts = [{ wa_id: '14155550198', profile: { name: 'Renée' } }]
    await post(world, owner, { contacts, messages: [textMessage('14155550198', 'Oi')] })
    await world.drain()
    expect(await names(owner, 'renee')).toEqual(['Renée'])
  })

  it('finds a person without a number by chat id and by the whole user id', async () => {
    const owner = await world.createOrganization()
    await receiveMessages(world, owner, fromUser('US.1234567'))
    const { body } = await list(owner)
    const [{ chat_id, phone_number }] = body.contacts
    expect([phone_number, chat_id]).toEqual([null, expect.stringMatching(/^0\d{19}$/)])
    expect((await list(owner, { search: chat_id })).body.count).toBe(1)
    expect((await list(owner, { search: chat_id.slice(5, 15) })).body.count).toBe(1)
    expect((await list(owner, { search: 'user:' })).body.count).toBe(0)
    expect((await list(owner, { search: 'US.1234567' })).body.count).toBe(1)
    expect((await list(owner, { search: '1234567' })).body.count).toBe(0)
  })

  it.each([
    ['search', 'x'.repeat(201)],
    ['search', 'a\u0000'],
    ['limit', '0'],
    ['limit', '101'],
    ['page', '0'],
    ['page', '10000001'],
  ])('refuses %s=%j', async (name, value) => {
    const { status, body } = await list(organization, { [name]: value })
    expect([status, body.error]).toEqual([400, 'Invalid parameter'])
    expect(body.message).toMatch(new RegExp(`^${name} `))
  })

  it('accepts 200 characters, however many bytes', async () => {
    expect((await list(organization, { search: '😀'.repeat(200) })).status).toBe(200)
  })
})
