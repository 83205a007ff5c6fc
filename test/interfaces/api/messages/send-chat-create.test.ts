import { describe, expect, it } from 'vitest'
import { contact } from '../../../support/contacts.js'
import { eventsOf } from '../../../support/rows/events.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)
let people = 0

const newNumber = () => `1650558${String(++people).padStart(4, '0')}`
const text = (phone_number: string, fields: object = {}) => ({
  phone_number,
  message_type: 'text',
  text: 'Olá',
  ...fields,
})
const find = async (digits: string) => (await contact(house.world, house.organization, digits)).body.contact

describe('POST /send-chat with create', () => {
  it('makes an unknown recipient a contact, and sends', async () => {
    const digits = newNumber()
    const answer = await house.send(text(`+${digits}`, { create: true, full_name: 'Ana Souza' }))
    expect([answer.status, answer.body.data?.recipient], JSON.stringify(answer.body)).toEqual([200, digits])
    const made = await find(digits)
    expect(made).toMatchObject({
      full_name: 'Ana Souza',
      phone_number: `+${digits}`,
      tags: [],
      allow_broadcast: true,
      source: { type: 'send_chat_create' },
    })
    expect(await house.shown(digits)).toMatchObject([{ message: 'Olá', message_status: 'sent' }])
    const events = (await eventsOf(house.world, house.organization)).filter(({ contact_id }) => contact_id === made.id)
    expect(events.map(({ type }) => type)).toEqual(['contact.created', 'message.sent'])
  })

  it('needs no name, and takes an empty one as none', async () => {
    for (const fields of [{ create: true }, { create: true, full_name: '' }]) {
      const digits = newNumber()
      expect((await house.send(text(digits, fields))).status).toBe(200)
      expect((await find(digits)).full_name).toBeNull()
    }
  })

  it('leaves a contact as it is, in any form of its number', async () => {
    const digits = await house.newContact({ full_name: 'Bia', tags: ['vip'] })
    const before = await find(digits)
    expect((await house.send(text(`+${digits}`, { create: true, full_name: 'Ana' }))).status).toBe(200)
    const { id, full_name, tags, source } = await find(digits)
    expect({ id, full_name, tags, source }).toEqual({
      id: before.id,
      full_name: 'Bia',
      tags: ['vip'],
      source: before.source,
    })
  })

  it('makes a contact of a user id, but not of a parent user id', async () => {
    const to_user_id = 'US.70000000000000009101'
    const { phone_number: _, ...message } = text('', { create: true, full_name: 'Una' })
    const answer = await house.send({ ...message, to_user_id })
    expect(answer.status, JSON.stringify(answer.body)).toBe(200)
    const { key } = house.organization
    const { body } = await house.world.request('GET', `/contact?user_id=${to_user_id}`, { key })
    expect(body.contact).toMatchObject({ full_name: 'Una', phone_number: null, user_id: to_user_id })
    const parent = await house.send({ ...message, to_user_id: 'US.ENT.70000000000000009102' })
    expect([parent.status, parent.body.error]).toEqual([400, 'Invalid field'])
  })

  it('makes one contact for sends at the same time', async () => {
    const digits = newNumber()
    const sends = Array.from({ length: 5 }, () => house.send(text(digits, { create: true, full_name: 'Ana' })))
    expect((await Promise.all(sends)).map(({ status }) => status)).toEqual([200, 200, 200, 200, 200])
    expect(await house.shown(digits)).toHaveLength(5)
    const created = (await eventsOf(house.world, house.organization, 'contact.created')).filter(
      ({ data }) => (data as { contact: { chat_id: string } }).contact.chat_id === digits,
    )
    expect(created).toHaveLength(1)
  })

  it('makes the contact of the sending organization only', async () => {
    const digits = newNumber()
    const stranger = await house.world.createOrganization()
    await house.send(text(digits, { create: true }))
    expect((await contact(house.world, stranger, digits)).status).toBe(404)
  })

  it('does not send to a blocked contact', async () => {
    const digits = await house.newContact()
    const patched = await house.world.request('PATCH', `/contact?phone_number=${digits}`, {
      key: house.organization.key,
      body: { blocked: true },
    })
    expect(patched.status).toBe(200)
    const answer = await house.send(text(digits, { create: true }))
    expect([answer.status, answer.body.error]).toEqual([400, 'Contact blocked'])
  })

  it.each([
    ['a wrong number', { phone_number: '12' }, 400],
    ['an unknown member', { memberId: '0198c2f0-0000-7000-8000-000000000000' }, 400],
    ['a name that is too long', { full_name: 'a'.repeat(256) }, 400],
    ['create that is no boolean', { create: 'yes' }, 400],
    ['a group', { phone_number: '120363041234567890@g.us' }, 404],
  ])('makes no contact for %s', async (_what, fields, status) => {
    const digits = newNumber()
    const answer = await house.send(text(digits, { create: true, ...fields }))
    expect(answer.status, JSON.stringify(answer.body)).toBe(status)
    expect((await contact(house.world, house.organization, digits)).status).toBe(404)
  })

  it('is named by the 404 of a send without it, which makes no contact', async () => {
    const digits = newNumber()
    for (const fields of [{}, { create: false }, { full_name: 'Ana' }]) {
      const answer = await house.send(text(digits, fields))
      expect([answer.status, answer.body.error]).toEqual([404, 'Contact not found'])
      expect(answer.body.message).toMatch(/create the contact first \(POST \/contact\), or give create = true$/)
    }
    expect((await contact(house.world, house.organization, digits)).status).toBe(404)
  })

  it('repeats the first answer for the same Idempotency-Key', async () => {
    const body = text(newNumber(), { create: true })
    const first = await house.send(body, 'create-1')
    const again = await house.send(body, 'create-1')
    expect(again.body).toEqual(first.body)
    expect(await house.shown(body.phone_number)).toHaveLength(1)
  })
})
