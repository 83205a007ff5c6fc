import { describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { CONTACT_FIELDS, createContact } from '../../../support/contacts.js'
import { readConversations } from '../../../support/conversations.js'
import { requestAsDescribed } from '../../../support/openapi.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)
const organization = useOrganization(world)
let people = 0

const newPerson = () => `1650560${String(++people).padStart(4, '0')}`

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const isText = (value: unknown) => typeof value === 'string'
const isFlag = (value: unknown) => typeof value === 'boolean'
const isTime = (value: unknown) => isText(value) && /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(String(value))
const orNull = (fits: (value: unknown) => boolean) => (value: unknown) => value === null || fits(value)

/** Every field of a contact, with a check of its type. */
const TYPES: Record<string, (value: unknown) => boolean> = {
  id: (value) => UUID.test(String(value)),
  full_name: orNull(isText),
  chat_id: (value) => /^\d+$/.test(String(value)) && isText(value),
  phone_number: orNull((value) => /^\+\d+$/.test(String(value))),
  user_id: orNull((value) => /^[A-Z]{2}\.\d+$/.test(String(value))),
  parent_user_id: orNull((value) => /^[A-Z]{2}\.ENT\.\d+$/.test(String(value))),
  username: orNull(isText),
  email: orNull(isText),
  tags: (value) => Array.isArray(value) && value.every(isText),
  organization_id: (value) => value === organization.id,
  bot_status: orNull((value) => value === 'active' || value === 'paused'),
  allow_broadcast: isFlag,
  archived: isFlag,
  blocked: isFlag,
  active_status: isFlag,
  has_unread_messages: isFlag,
  source: orNull((value) => isText((value as { type: unknown }).type)),
  referral: (value) => JSON.stringify(value) === '{"first":null,"last":null}',
  contact_summary: orNull(isText),
  contact_summary_updated_at: orNull(isTime),
  created_at: isTime,
  updated_at: isTime,
}

function expectContact(contact: Record<string, unknown>): void {
  expect(Object.keys(contact)).toEqual(CONTACT_FIELDS)
  const wrong = Object.entries(contact).filter(([name, value]) => !TYPES[name]?.(value))
  expect(wrong).toEqual([])
}

/** The contact from every endpoint that returns it, which must be the same. */
async function shownEverywhere(chatId: string): Promise<Record<string, unknown>> {
  const { key } = organization
  const single = (await request('GET', `/contact?chat_id=${chatId}`, { key })).body.contact
  const read = (query: Record<string, string>) => readConversations({ request }, organization, query)
  const found = (await read({ action: 'find-by-phone', chatNumber: chatId })).body.contact
  const searched = (await read({ action: 'contacts', search: chatId })).body.contacts
  const listed = (await read({ action: 'contacts', limit: '1' })).body.contacts
  const changed = await request('PATCH', `/contact?chat_id=${chatId}`, { key, body: {} })
  for (const contact of [single, found, ...searched, ...listed, changed.body.contact]) {
    expectContact(contact)
    expect(contact).toEqual(single)
  }
  expect([searched.length, listed.length]).toEqual([1, 1])
  return single
}

describe('a contact has exactly these fields, with these types, in every response', () => {
  it('when POST /contact creates it with only a number', async () => {
    const digits = newPerson()
    const made = await request('POST', '/contact', { key: organization.key, body: { phone_number: digits } })
    expectContact(made.body.contact)
    expect(await shownEverywhere(digits)).toEqual(made.body.contact)
  })

  it('when POST /contact creates it with all fields', async () => {
    const source = { type: 'website', location: { city: 'Recife' }, created_at: '2025-01-01T00:00:00Z' }
    const fields = { full_name: 'Ana', email: 'ana@example.com', tags: ['vip'], allow_broadcast: false, source }
    const digits = newPerson()
    const made = await request('POST', '/contact', { key: organization.key, body: { chat_id: digits, ...fields } })
    expectContact(made.body.contact)
    expect(await shownEverywhere(digits)).toMatchObject({ ...fields, active_status: false, has_unread_messages: false })
  })

  it('when an inbound message creates it', async () => {
    const digits = newPerson()
    await receiveMessages(
      world,
      organization,
      textMessage(digits, 'Oi', { timestamp: String(Math.floor(Date.now() / 1_000)) }),
    )
    expect(await shownEverywhere(digits)).toMatchObject({
      chat_id: digits,
      phone_number: `+${digits}`,
      source: { type: 'inbound_message' },
      active_status: true,
      has_unread_messages: true,
    })
  })

  it('when an inbound message of a person without a number creates it', async () => {
    const { from: _, ...message } = textMessage('', 'Oi')
    const ids = { user_id: 'US.13491208655302741918', parent_user_id: 'US.ENT.11815799212886844830' }
    const from = { from_user_id: ids.user_id, from_parent_user_id: ids.parent_user_id }
    await receiveMessages(world, organization, { ...message, ...from })
    const { body } = await readConversations(world, organization, { action: 'contacts', limit: '1' })
    const contact = await shownEverywhere(body.contacts[0].chat_id)
    expect(contact).toMatchObject({ ...ids, phone_number: null, chat_id: expect.stringMatching(/^0\d{19}$/) })
  })

  it('when PATCH /contact changes it', async () => {
    const digits = newPerson()
    await createContact(world, organization, `+${digits}`)
    const changes = {
      ...{ full_name: 'Zoë', email: 'zoe@example.com', tags: ['a', 'b'], allow_broadcast: false },
      ...{ archived: true, blocked: true, bot_status: 'active', contact_summary: 'Buys on Fridays' },
    }
    const path = `/contact?chat_id=${digits}`
    const changed = await request('PATCH', path, { key: organization.key, body: changes })
    expectContact(changed.body.contact)
    expect(await shownEverywhere(digits)).toMatchObject({ ...changes, contact_summary_updated_at: expect.any(String) })
  })
})
