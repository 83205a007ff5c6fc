import { describe, expect, it } from 'vitest'
import { receiveMessages, seconds, textMessage, type WireMessage, wamid } from '../../../support/callbacks.js'
import { createContact } from '../../../support/contacts.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOfContact } from '../../../support/rows/events.js'
import { type TestOrganization, useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId, take, texts, send, lastSend } = peopleOf(() => ({ world, organization }))

const REQUESTED = { origin: 'contact_request' }

/** A contact card in a message of a person with only a user id. */
function card(from_user_id: string, content: object, fields: WireMessage = {}): WireMessage {
  const contacts = [{ name: { formatted_name: 'Una' }, ...content }]
  return { from_user_id, id: wamid(), timestamp: seconds(10), type: 'contacts', contacts, ...fields }
}

async function contactOf(user_id: string, { key }: TestOrganization = organization) {
  return (await world.request('GET', `/contact?user_id=${user_id}`, { key })).body.contact
}

describe('the answer to the request for a number', () => {
  it.each([
    ['the id of the phone', (number: string) => ({ ...REQUESTED, phones: [{ phone: '+1 650', wa_id: number }] }), {}],
    ['the written number', (number: string) => ({ ...REQUESTED, phones: [{ phone: `+${number}` }] }), {}],
    ['the vCard', (number: string) => ({ ...REQUESTED, vcard: `TEL;waid=${number}:+${number}` }), {}],
    ['the origin beside the card', (number: string) => ({ phones: [{ wa_id: number }] }), REQUESTED],
  ])('gives the contact its number: %s', async (_name, content, fields) => {
    const [number, userId] = [newNumber(), newUserId()]
    await take({ ...textMessage('', 'hi'), from: undefined, from_user_id: userId })
    const { id } = await contactOf(userId)
    await take(card(userId, content(number), fields))
    expect(await contactOf(userId)).toMatchObject({ id, phone_number: `+${number}`, chat_id: number, user_id: userId })
    const told = (await eventsOfContact(world, id)).map(({ type }) => type)
    expect(told.slice(-2)).toEqual(['contact.updated', 'message.received'])
    await send(number)
    expect(await lastSend()).toMatchObject({ to: number })
    await take(textMessage(number, 'with the number', { timestamp: seconds(20) }))
    expect((await texts(number)).at(-1)).toBe('with the number')
  })

  it('gives it to a person who writes for the first time, once', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const answer = card(userId, { ...REQUESTED, phones: [{ wa_id: number }] })
    await take(answer, answer)
    const contact = await contactOf(userId)
    expect(contact).toMatchObject({ phone_number: `+${number}` })
    expect(await texts(number)).toHaveLength(1)
  })

  it('leaves a number of another contact there', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const other = await createContact(world, organization, `+${number}`)
    await take(card(userId, { ...REQUESTED, phones: [{ wa_id: number }] }))
    const contact = await contactOf(userId)
    expect(contact).toMatchObject({ phone_number: null })
    expect(contact.id).not.toBe(other)
    await take(textMessage(number, 'now both', { from_user_id: userId, timestamp: seconds(20) }))
    expect(await contactOf(userId)).toMatchObject({ id: other, phone_number: `+${number}` })
  })

  it.each([
    ['another origin', { origin: 'other', phones: [{ wa_id: '16505559001' }] }],
    ['no origin', { phones: [{ wa_id: '16505559002' }] }],
    ['two numbers', { ...REQUESTED, phones: [{ wa_id: '16505559003' }, { wa_id: '16505559004' }] }],
    ['no number', { ...REQUESTED, phones: [{ phone: '555 9005' }] }],
    ['phones that are none', { ...REQUESTED, phones: '16505559006', vcard: 5 }],
  ])('is not a card with %s', async (_name, content) => {
    const userId = newUserId()
    await take(card(userId, content))
    expect(await contactOf(userId)).toMatchObject({ phone_number: null })
  })

  it('is not one of two cards, and none of a person with a number', async () => {
    const [number, own, userId, both] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const two = card(userId, {})
    await take({ ...two, contacts: [{ ...REQUESTED, phones: [{ wa_id: number }] }, { name: {} }] })
    expect(await contactOf(userId)).toMatchObject({ phone_number: null })
    await take(card(both, { ...REQUESTED, phones: [{ wa_id: number }] }, { from: own }))
    expect(await contactOf(both)).toMatchObject({ phone_number: `+${own}` })
  })

  it('changes nothing in another organization', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const other = await world.createOrganization()
    await receiveMessages(world, other, { ...textMessage('', 'hi'), from: undefined, from_user_id: userId })
    await take(card(userId, { ...REQUESTED, phones: [{ wa_id: number }] }))
    expect(await contactOf(userId, other)).toMatchObject({ phone_number: null })
  })
})
