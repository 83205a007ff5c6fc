import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../../src/model/contacts/phone-number.js'
import {
  changeFor,
  envelope,
  postBody,
  receive,
  seconds,
  textMessage,
  type WireMessage,
  wamid,
} from '../../../support/callbacks.js'
import { contact, createContact } from '../../../support/contacts.js'
import { peopleOf } from '../../../support/people.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)

const { newNumber, newUserId, take, texts, send, lastSend } = peopleOf(() => ({ world, organization }))

/** A message with both addresses, sent `at` seconds after the first moment. */
const both = (number: string, userId: string, text: string, at = 0) =>
  textMessage(number, text, { from_user_id: userId, timestamp: seconds(at) })

const fromNumber = (number: string, text: string, at = 0) => textMessage(number, text, { timestamp: seconds(at) })

function fromUser(userId: string, text: string, at = 0): WireMessage {
  return { from_user_id: userId, id: wamid(), timestamp: seconds(at), type: 'text', text: { body: text } }
}

function notice(fields: WireMessage, system: object, at = 10): WireMessage {
  return { id: wamid(), timestamp: seconds(at), type: 'system', system: { body: 'moved', ...system }, ...fields }
}

/** A callback of the field user_id_update. */
async function takeUpdate(update: object): Promise<void> {
  const change = { ...changeFor(organization, { user_id_update: [update] }), field: 'user_id_update' }
  const body = JSON.stringify(envelope(organization.businessAccountId, change))
  expect((await postBody(world, body, organization.appSecret)).status).toBe(200)
  await world.drain()
}

const contactOf = async (chatId: string) => (await contact(world, organization, chatId)).body.contact

describe('a number that moved to another person', () => {
  it('gives the other user id its own contact; the first contact keeps history and id, and loses the number', async () => {
    const [number, first, second] = [newNumber(), newUserId(), newUserId()]
    await take(both(number, first, 'mine'))
    const { id } = await contactOf(number)
    await take(both(number, second, 'theirs', 1), both(number, second, 'again', 2))
    expect(await texts(number)).toEqual(['theirs', 'again'])
    expect(await contactOf(number)).toMatchObject({ chat_id: number, phone_number: `+${number}` })
    expect(await contactOf(userIdChatId(first))).toMatchObject({
      id,
      chat_id: userIdChatId(first),
      phone_number: null,
    })
    expect(await texts(userIdChatId(first))).toEqual(['mine'])
    await send(userIdChatId(first))
    expect(await lastSend()).toMatchObject({ recipient: first })
    await send(number)
    expect(await lastSend()).toMatchObject({ to: number })
  })

  it('follows the user id, even if another contact had the number before', async () => {
    const [number, other, first, second] = [newNumber(), newNumber(), newUserId(), newUserId()]
    await take(both(number, first, 'a1'), both(other, second, 'b1', 1), both(number, second, 'b2', 2))
    expect(await texts(number)).toEqual(['b1', 'b2'])
    expect(await texts(userIdChatId(first))).toEqual(['a1'])
    expect((await contactOf(userIdChatId(second))).chat_id).toBe(number)
  })

  it('moves with its other forms', async () => {
    const [first, second] = [newUserId(), newUserId()]
    await take(both('5215512340001', first, 'mine'), both('525512340001', second, 'theirs', 1))
    expect(await texts('5215512340001')).toEqual(['theirs'])
    expect(await texts(userIdChatId(first))).toEqual(['mine'])
  })

  it('stays with its current owner if an older message arrives late', async () => {
    const [number, first, second] = [newNumber(), newUserId(), newUserId()]
    await take(
      both(number, first, 'one'),
      both(number, second, 'theirs', 5),
      both(number, first, 'two', 1),
      fromNumber(number, 'three', 2),
    )
    expect(await texts(number)).toEqual(['theirs'])
    expect(await texts(userIdChatId(first))).toEqual(['one', 'two', 'three'])
  })

  it.each([
    ['without a user id', undefined],
    ['with one', 'US.777712086553'],
  ])('gives a stranger %s a contact of its own after a change notice', async (_name, stranger) => {
    const [old, next] = [newNumber(), newNumber()]
    const person = textMessage(old, 'stranger', { timestamp: seconds(11), ...(stranger && { from_user_id: stranger }) })
    await take(fromNumber(old, 'one'), notice({ from: old }, { type: 'user_changed_number', wa_id: next }))
    const { id } = await contactOf(next)
    await take(person, fromNumber(old, 'late', 9), fromNumber(next, 'two', 12))
    expect(await texts(old)).toEqual(['stranger'])
    expect(await texts(next)).toEqual(['one', 'moved', 'late', 'two'])
    expect((await contactOf(next)).id).toBe(id)
  })

  it('leaves the first contact without an address if its user id is unknown', async () => {
    const [old, next, userId] = [newNumber(), newNumber(), newUserId()]
    await take(fromNumber(next, 'theirs'), fromNumber(old, 'mine'))
    const { id } = await contactOf(next)
    await take(notice({ from: old }, { type: 'user_changed_number', wa_id: next }), both(next, userId, 'mine too', 11))
    expect(await texts(next)).toEqual(['mine', 'moved', 'mine too'])
    const path = '/conversations?action=contacts&limit=100'
    const { body } = await world.request('GET', path, { key: organization.key })
    const left = body.contacts.find((one: { id: string }) => one.id === id)
    expect(left).toMatchObject({ phone_number: null, chat_id: expect.stringMatching(/^0\d{19}$/) })
    expect(await texts(left.chat_id)).toEqual(['theirs'])
    const refused = await send(left.chat_id)
    expect(refused.status).toBe(400)
    expect(refused.body.error).toBe('Contact not reachable')
  })

  it('never merges contacts with different user ids', async () => {
    const [number, first, second] = [newNumber(), newUserId(), newUserId()]
    await take(both(number, first, 'mine'), fromUser(second, 'theirs', 1), both(number, second, 'here', 2))
    expect(await texts(userIdChatId(first))).toEqual(['mine'])
    expect(await texts(userIdChatId(second))).toEqual(['theirs', 'here'])
  })
})

describe('a changed number', () => {
  const shapes: [string, (old: string, next: string) => WireMessage][] = [
    ['wa_id', (old, next) => notice({ from: old }, { type: 'user_changed_number', wa_id: next })],
    ['new_wa_id', (old, next) => notice({ from: old }, { type: 'user_changed_number', new_wa_id: next })],
    [
      'new_wa_id as a number',
      (old, next) => notice({ from: old }, { type: 'user_changed_number', new_wa_id: Number(next) }),
    ],
    [
      'new_wa_id beside the old wa_id',
      (old, next) => notice({ from: old }, { type: 'user_changed_number', wa_id: old, new_wa_id: next }),
    ],
    ['new_wa_id outside', (old, next) => notice({ from: old, new_wa_id: next }, { type: 'user_changed_number' })],
    [
      'customer, from the new number',
      (old, next) =>
        notice({ from: next }, { type: 'customer_changed_number', customer: old, wa_id: next, identity: 'hash' }),
    ],
    [
      'from the new number, the old one in the text',
      (old, next) =>
        notice(
          { from: next },
          { type: 'user_changed_number', wa_id: next, body: `moved: Al changed from \u200e${old} to ${next}\u200e` },
        ),
    ],
  ]

  it.each(shapes)('leads to one contact: %s', async (_name, shape) => {
    const [old, next] = [newNumber(), newNumber()]
    await take(fromNumber(old, 'one'), shape(old, next), fromNumber(next, 'two', 11))
    const all = await texts(next)
    expect(all).toEqual(['one', expect.stringMatching('moved'), 'two'])
    expect(await texts(old)).toEqual(all)
    await send(old)
    expect(await lastSend()).toMatchObject({ to: next })
  })

  it.each(shapes)('leads to one contact if the notice arrives late: %s', async (_name, shape) => {
    const [old, next] = [newNumber(), newNumber()]
    const late = shape(old, next)
    await take(fromNumber(old, 'one'), fromNumber(next, 'two', 11), late, late, fromNumber(next, 'three', 12))
    const all = await texts(next)
    expect(all).toEqual(['one', 'two', expect.stringMatching('moved'), 'three'])
    expect(await texts(old)).toEqual(all)
  })

  it('with new user ids leads to one contact, and its messages go to the new address', async () => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const system = { type: 'user_changed_number', wa_id: next, user_id: after, previous_user_id: before }
    await take(both(old, before, 'one'), notice({ from: old, from_user_id: before }, system))
    await take(both(next, after, 'two', 11), fromUser(after, 'three', 12))
    expect(await texts(userIdChatId(before))).toEqual(['one', 'moved', 'two', 'three'])
    expect(await contactOf(old)).toMatchObject({ chat_id: next, phone_number: `+${next}` })
  })

  it('announced for unknown addresses leads to one contact with both', async () => {
    const [old, next] = [newNumber(), newNumber()]
    await take(notice({ from: old }, { type: 'user_changed_number', wa_id: next }))
    await take(fromNumber(old, 'late', 9), fromNumber(next, 'two', 11))
    expect(await texts(next)).toEqual(['moved', 'late', 'two'])
  })

  it.each([
    ['without a number is of the person who moved', false],
    ['with the new number is of another person', true],
  ])('is announced late, and an earlier notice of a user id %s', async (_name, namesNumber) => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const ids = { type: 'user_changed_user_id', user_id: after, previous_user_id: before, body: 'renamed' }
    const change = { type: 'user_changed_number', wa_id: next, customer: old }
    await take(
      both(next, after, 'two', 14),
      notice(namesNumber ? { from: next } : {}, ids),
      notice({ from: next }, change, 12),
    )
    expect(await texts(userIdChatId(after))).toEqual(['two', 'renamed', ...(namesNumber ? [] : ['moved'])])
  })

  it('is announced late, and the new number has led to two contacts that are one now', async () => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const ids = { type: 'user_changed_user_id', user_id: after, previous_user_id: before, body: 'renamed' }
    await take(both(next, before, 'one', 4), both(next, after, 'two', 10), notice({}, ids, 6))
    await take(notice({ from: old }, { type: 'user_changed_number', wa_id: next }, 2))
    expect(await texts(next)).toEqual(['one', 'two', 'renamed', 'moved'])
    expect(await texts(old)).toEqual(await texts(next))
  })

  it('announced late leads to one contact, if the later owner of the new number is the same person', async () => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const ids = { type: 'user_changed_user_id', user_id: after, previous_user_id: before, body: 'renamed' }
    await take(both(next, before, 'one', 4), both(next, after, 'two', 10))
    await take(notice({ from: old }, { type: 'user_changed_number', wa_id: next }, 2), notice({}, ids, 6))
    expect(await texts(next)).toEqual(['one', 'moved', 'two', 'renamed'])
    expect(await texts(old)).toEqual(await texts(next))
  })

  it('with the old user id leads to one contact, if the old number and the old id led to two', async () => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const system = { type: 'user_changed_number', wa_id: next, user_id: after, previous_user_id: before }
    await take(fromUser(before, 'by id'), fromNumber(old, 'by number', 1), notice({ from: old }, system))
    expect(await texts(next)).toEqual(['by id', 'by number', 'moved'])
    expect(await texts(userIdChatId(after))).toEqual(await texts(next))
  })

  it('with the old user id does not take the old number from a person who wrote later', async () => {
    const [old, next, before, after] = [newNumber(), newNumber(), newUserId(), newUserId()]
    const system = { type: 'user_changed_number', wa_id: next, user_id: after, previous_user_id: before }
    await take(fromUser(before, 'mine'), fromNumber(old, 'theirs', 12), notice({ from: old }, system))
    expect(await texts(old)).toEqual(['theirs'])
    expect(await texts(next)).toEqual(['mine', 'moved'])
  })

  it('in the name of a profile is ignored', async () => {
    const [victim, old, next] = [newNumber(), newNumber(), newNumber()]
    await take(fromNumber(victim, 'victim'), fromNumber(old, 'one'))
    const body = `User changed from ${victim} to ${next} changed from ${old} to ${next}`
    await take(notice({ from: next }, { type: 'user_changed_number', wa_id: next, body }))
    expect(await texts(victim)).toEqual(['victim'])
    expect(await texts(next)).toEqual(['one', body])
  })
})

describe('a changed user id', () => {
  const shapes: [string, (before: string, after: string) => WireMessage][] = [
    [
      'with previous_user_id, without from',
      (before, after) => notice({}, { type: 'user_changed_user_id', user_id: after, previous_user_id: before }),
    ],
    [
      'from the old id',
      (before, after) => notice({ from_user_id: before }, { type: 'user_changed_user_id', user_id: after }),
    ],
    [
      'from the new id, the old one in the text',
      (before, after) =>
        notice(
          { from_user_id: after },
          { type: 'user_changed_user_id', user_id: after, body: `moved: User x changed from ${before} to ${after}` },
        ),
    ],
    [
      'the old id in the field from',
      (before, after) => notice({ from: before }, { type: 'user_changed_user_id', user_id: after }),
    ],
    [
      'previous and current',
      (before, after) => notice({}, { type: 'user_changed_user_id', user_id: { previous: before, current: after } }),
    ],
  ]

  it.each(shapes)('leads to one contact: %s', async (_name, shape) => {
    const [before, after] = [newUserId(), newUserId()]
    const told = shape(before, after)
    await take(fromUser(before, 'one'), told, told, fromUser(after, 'two', 11))
    expect(await texts(userIdChatId(before))).toEqual(['one', expect.stringMatching('moved'), 'two'])
    expect(await texts(userIdChatId(after))).toHaveLength(3)
    await send(userIdChatId(before))
    expect(await lastSend()).toMatchObject({ recipient: after })
  })

  it.each(shapes)('merges both contacts if the notice arrives late: %s', async (_name, shape) => {
    const [before, after] = [newUserId(), newUserId()]
    await take(fromUser(before, 'one'), fromUser(after, 'two', 11), shape(before, after), fromUser(after, 'three', 12))
    expect(await texts(userIdChatId(before))).toEqual(['one', 'two', expect.stringMatching('moved'), 'three'])
    await send(userIdChatId(before))
    expect(await lastSend()).toMatchObject({ recipient: after })
  })

  it('from user_id_update leads to one contact, whenever it arrives', async () => {
    const [number, before, after, last] = [newNumber(), newUserId(), newUserId(), newUserId()]
    await take(fromUser(before, 'one'))
    const update = { detail: 'updated', user_id: { previous: before, current: after }, timestamp: seconds(10) }
    await takeUpdate(update)
    await takeUpdate(update)
    await take(fromUser(after, 'two', 11), both(number, last, 'three', 21))
    await takeUpdate({ wa_id: number, user_id: { previous: after, current: last }, timestamp: seconds(20) })
    expect(await texts(userIdChatId(before))).toEqual(['one', 'two', 'three'])
    expect(await texts(number)).toEqual(['one', 'two', 'three'])
    expect((await contactOf(number)).phone_number).toBe(`+${number}`)
  })
})

describe('a user id', () => {
  it('in place of a number is treated as a user id', async () => {
    const userId = newUserId()
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Uma' }, wa_id: userId }],
      messages: [textMessage(userId, 'hi')],
    })
    expect(await contactOf(userIdChatId(userId))).toMatchObject({ full_name: 'Uma', phone_number: null })
    await send(userIdChatId(userId))
    expect(await lastSend()).toMatchObject({ recipient: userId })
  })

  it('of a status becomes an address of the contact', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await createContact(world, organization, `+${number}`)
    const { body } = await send(number)
    await world.settle()
    const status = { id: body.data.message_id, status: 'read', timestamp: seconds(3), recipient_id: number }
    await receive(world, organization, { statuses: [{ ...status, recipient_user_id: userId }] })
    await take(fromUser(userId, 'without my number', 5))
    expect(await texts(number)).toEqual(['hello', 'without my number'])
  })

  it('of a status merges with the contact of that id', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(fromUser(userId, 'first'))
    await createContact(world, organization, `+${number}`)
    const { body } = await send(number)
    const status = { id: body.data.message_id, status: 'read', timestamp: seconds(3), recipient_id: number }
    const contacts = [{ profile: { name: 'Ugo' }, wa_id: number, user_id: userId }]
    await receive(world, organization, { contacts, statuses: [status] })
    expect(await texts(userIdChatId(userId))).toEqual(['first', 'hello'])
    expect((await contactOf(number)).chat_id).toBe(number)
  })

  it('of a status that contradicts the known one changes nothing', async () => {
    const [number, first, second] = [newNumber(), newUserId(), newUserId()]
    await take(both(number, first, 'mine'))
    const { body } = await send(number)
    const status = { id: body.data.message_id, status: 'read', timestamp: seconds(3), recipient_id: number }
    await receive(world, organization, { statuses: [{ ...status, recipient_user_id: second }] })
    await take(fromUser(second, 'stranger', 5))
    expect(await texts(number)).toEqual(['mine', 'hello'])
  })

  it('of a send becomes an address of the contact', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await createContact(world, organization, `+${number}`)
    const inbound = {
      phone_number_id: organization.phoneNumberId,
      from: number,
      user_id: userId,
      type: 'text',
      text: 'hi',
    }
    await world.sim('POST', '/inbound', inbound)
    await world.database.pool.query('DELETE FROM callbacks WHERE organization_id = $1', [organization.id])
    expect((await send(number)).body.data.meta_response.contacts).toMatchObject([{ user_id: userId }])
    await take(fromUser(userId, 'without my number', 5))
    expect(await texts(number)).toEqual(['hello', 'without my number'])
  })
})

describe('a profile', () => {
  it.each([
    ['alone, with another wa_id', (number: string) => [{ profile: { name: 'Pia' }, wa_id: `${number}9` }], {}],
    [
      'of the same user id',
      (number: string) => [
        { profile: { name: 'Other' }, wa_id: '16505550000', user_id: 'US.1' },
        { profile: { name: 'Pia' }, wa_id: `${number}9`, user_id: `US.${number}` },
      ],
      { user: true },
    ],
    [
      'that comes after one without a name',
      (number: string) => [
        { profile: {}, wa_id: number },
        { profile: { name: 'Pia' }, wa_id: number },
      ],
      {},
    ],
  ])('names the contact: %s', async (_name, contacts, { user }: { user?: boolean }) => {
    const number = newNumber()
    const message = textMessage(number, 'hi', user ? { from_user_id: `US.${number}` } : {})
    await receive(world, organization, { contacts: contacts(number), messages: [message] })
    expect((await contactOf(number)).full_name).toBe('Pia')
  })

  it('with another wa_id is ignored if several people wrote', async () => {
    const [one, two] = [newNumber(), newNumber()]
    const contacts = [{ profile: { name: 'Pia' }, wa_id: `${one}9` }]
    await receive(world, organization, { contacts, messages: [textMessage(one, 'hi'), textMessage(two, 'hi')] })
    expect((await contactOf(one)).full_name).toBeNull()
    expect((await contactOf(two)).full_name).toBeNull()
  })

  it('in another entry of the callback, or a later one, names the contact; a name set by the team stays', async () => {
    const [one, two] = [newNumber(), newNumber()]
    const profile = { profile: { name: 'Pia' }, wa_id: one }
    const changes = [
      { messages: [textMessage(one, 'hi')] },
      { contacts: [profile], messages: [textMessage(one, 'ho')] },
    ]
    const body = envelope(organization.businessAccountId, ...changes.map((value) => changeFor(organization, value)))
    await postBody(world, JSON.stringify(body), organization.appSecret)
    await take(textMessage(two, 'hi'))
    const later = [{ profile: { name: 'Pam' }, wa_id: two }]
    await receive(world, organization, { contacts: later, messages: [textMessage(two, 'ho')] })
    expect((await contactOf(one)).full_name).toBe('Pia')
    expect((await contactOf(two)).full_name).toBe('Pam')
    const named = { key: organization.key, body: { full_name: 'Pamela' } }
    await world.request('PATCH', `/contact?chat_id=${two}`, named)
    await receive(world, organization, { contacts: later, messages: [textMessage(two, 'hey')] })
    expect((await contactOf(two)).full_name).toBe('Pamela')
  })
})
