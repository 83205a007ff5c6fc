import { beforeAll, describe, expect, it } from 'vitest'
import { receive, seconds, textMessage, type WireMessage, wamid } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { peopleOf } from '../../../support/people.js'
import { eventsOf } from '../../../support/rows/events.js'
import { inTime, passTime } from '../../../support/scheduled.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const DAY_MS = 86_400_000

const world = useWorld()
const organization = useOrganization(world)
const { newNumber, newUserId, take, lastSend } = peopleOf(() => ({ world, organization }))
let agent: SignedInMember
let analyst: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  agent = await signIn(world, organization, { role: 'agent' })
  analyst = await signIn(world, organization, { role: 'analyst' })
  stranger = await signIn(world, await world.createOrganization())
})

const hidden = (from_user_id: string, text: string, fields: WireMessage = {}): WireMessage => {
  const { from: _, ...message } = textMessage('', text, { from_user_id, ...fields })
  return message
}
const find = async (query: string) =>
  (await world.request('GET', `/contact?${query}`, { key: organization.key })).body.contact
const mergesOf = async (contactId: string, by = agent) =>
  (await by.call('GET', `/contacts/${contactId}/merges`)).body.merges
const undo = (mergeId: string, by = agent) => by.call('POST', `/merges/${mergeId}/undo`, { body: {} })
/** The texts of a conversation, oldest first, and whether the numbers of its messages have no gap. */
async function thread(contactId: string) {
  const { rows } = await world.database.pool.query<{ text: string; seq: number; last: number; pruned: number }>(
    `SELECT m.text, m.seq::int, c.last_seq::int AS last, c.pruned_seq::int AS pruned
     FROM contacts c LEFT JOIN messages m ON m.organization_id = c.organization_id AND m.contact_id = c.id AND m.seq IS NOT NULL
     WHERE c.organization_id = $1 AND c.id = $2 ORDER BY m.seq`,
    [organization.id, contactId],
  )
  const [first] = rows
  const found = rows.filter(({ seq }) => seq !== null)
  expect(found.map(({ seq }) => seq)).toEqual(found.map((_, index) => (first?.pruned ?? 0) + index + 1))
  expect(first?.last).toBe((first?.pruned ?? 0) + found.length)
  return found.map(({ text }) => text)
}

/** A contact with a number, and one with a user id. */
async function pair() {
  const [number, userId] = [newNumber(), newUserId()]
  await take(textMessage(number, 'number 1'), hidden(userId, 'id 1'))
  return { number, userId, kept: await find(`phone_number=${number}`) }
}

/** Two contacts that became one: who wrote with a number, and who wrote with a user id. */
async function merged(before: WireMessage[] = []) {
  const [number, userId] = [newNumber(), newUserId()]
  await take(
    textMessage(number, 'number 1'),
    hidden(userId, 'id 1'),
    textMessage(number, 'number 2'),
    hidden(userId, 'id 2'),
  )
  await take(...before)
  const [kept, gone] = [await find(`phone_number=${number}`), await find(`user_id=${userId}`)]
  await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
  const [merge] = await mergesOf(kept.id)
  return { number, userId, kept, gone, merge }
}

describe('a merge', () => {
  it('is listed at the contact that was kept', async () => {
    const { kept, gone, merge, userId } = await merged()
    expect(merge).toEqual({
      id: expect.any(String),
      merged_contact_id: gone.id,
      cause: 'seen_together',
      merged_at: expect.stringMatching(/Z$/),
      undo_until: expect.stringMatching(/Z$/),
      full_name: null,
      phone_number: null,
      chat_id: gone.chat_id,
      user_id: userId,
      username: null,
      messages: 2,
    })
    expect(Date.parse(merge.undo_until) - Date.parse(merge.merged_at)).toBe(30 * DAY_MS)
    expect(await mergesOf(kept.id, stranger)).toEqual([])
  })

  it('is undone: both contacts are as they were, and what came later stays with the one that was kept', async () => {
    const { kept, gone, merge, number, userId } = await merged()
    const answer = await undo(merge.id)
    expect([answer.status, answer.body.contact]).toEqual([
      200,
      expect.objectContaining({ id: gone.id, chat_id: gone.chat_id, phone_number: null, user_id: userId }),
    ])
    expect(await find(`phone_number=${number}`)).toMatchObject({
      id: kept.id,
      user_id: null,
      phone_number: `+${number}`,
    })
    expect(await find(`user_id=${userId}`)).toMatchObject({ id: gone.id })
    expect(await thread(kept.id)).toEqual(['number 1', 'number 2', 'both'])
    expect(await thread(gone.id)).toEqual(['id 1', 'id 2'])
    expect(await mergesOf(kept.id)).toEqual([])
    const shown = (await conversation(world, organization, gone.chat_id)).body
    expect(shown.messages.map(({ message }: { message: string }) => message)).toEqual(['id 1', 'id 2'])
    const [told] = (await eventsOf(world, organization, 'contact.unmerged')).slice(-1)
    expect(told?.data).toMatchObject({ contact: { id: gone.id }, unmerged: { id: kept.id } })
  })

  it('that is undone lets both write and be written to', async () => {
    const { gone, kept, merge, number, userId } = await merged()
    await undo(merge.id)
    await take(
      hidden(userId, 'id 3', { timestamp: seconds(20) }),
      textMessage(number, 'number 3', { timestamp: seconds(20) }),
    )
    expect(await thread(gone.id)).toEqual(['id 1', 'id 2', 'id 3'])
    expect(await thread(kept.id)).toEqual(['number 1', 'number 2', 'both', 'number 3'])
    const send = (chatId: string) => {
      const body = { phone_number: chatId, message_type: 'text', text: 'hello' }
      return world.request('POST', '/send-chat', { key: organization.key, body })
    }
    expect((await send(gone.chat_id)).status).toBe(200)
    expect(await lastSend()).toMatchObject({ recipient: userId })
    expect((await send(number)).status).toBe(200)
    expect(await lastSend()).toMatchObject({ to: number })
  })

  it('that is undone gives back what is to be sent later', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    await take(textMessage(number, 'number 1'), hidden(userId, 'id 1'))
    const [kept, gone] = [await find(`phone_number=${number}`), await find(`user_id=${userId}`)]
    const scheduled_at = new Date(world.now().getTime() + DAY_MS).toISOString()
    const schedule = async (recipient: object) => {
      const body = { ...recipient, message_type: 'text', text: 'hello', scheduled_at }
      return (await world.request('POST', '/send-chat', { key: organization.key, body })).body.scheduled.id
    }
    const scheduledOf = async (contactId: string) => {
      const { body } = await world.request('GET', `/scheduled?contact_id=${contactId}`, { key: organization.key })
      return body.scheduled.map(({ id }: { id: string }) => id)
    }
    const [own, theirs] = [await schedule({ phone_number: number }), await schedule({ to_user_id: userId })]
    await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
    expect(await scheduledOf(kept.id)).toEqual([own, theirs])
    const [merge] = await mergesOf(kept.id)
    await undo(merge.id)
    expect([await scheduledOf(kept.id), await scheduledOf(gone.id)]).toEqual([[own], [theirs]])
  })

  it('that is undone leaves what was sent meanwhile with the kept contact', async () => {
    const { kept, number, userId, scheduled_at } = { ...(await pair()), scheduled_at: inTime(world) }
    const body = { to_user_id: userId, message_type: 'text', text: 'meanwhile', scheduled_at }
    const { id } = (await world.request('POST', '/send-chat', { key: organization.key, body })).body.scheduled
    await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
    await passTime(world)
    const [merge] = await mergesOf(kept.id)
    await undo(merge.id)
    const { rows } = await world.database.pool.query(
      'SELECT contact_id, status FROM scheduled_messages WHERE id = $1',
      [id],
    )
    expect(rows).toEqual([{ contact_id: kept.id, status: 'sent' }])
  })

  it('that is undone does not happen again: the user id decides, and the number passes to its contact', async () => {
    const { gone, kept, merge, number, userId } = await merged()
    await undo(merge.id)
    await take(textMessage(number, 'both again', { from_user_id: userId, timestamp: seconds(20) }))
    expect(await find(`user_id=${userId}`)).toMatchObject({ id: gone.id, phone_number: `+${number}` })
    expect(await thread(gone.id)).toEqual(['id 1', 'id 2', 'both again'])
    expect(await thread(kept.id)).toEqual(['number 1', 'number 2', 'both'])
  })

  it('gives a number back that the kept contact took over', async () => {
    const [userId, number] = [newUserId(), newNumber()]
    await take(hidden(userId, 'id 1'), textMessage(number, 'number 1'))
    const [kept, gone] = [await find(`user_id=${userId}`), await find(`phone_number=${number}`)]
    await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
    expect(await find(`user_id=${userId}`)).toMatchObject({ id: kept.id, phone_number: `+${number}` })
    const [merge] = await mergesOf(kept.id)
    expect((await undo(merge.id)).body.contact).toMatchObject({ id: gone.id, phone_number: `+${number}` })
    expect(await find(`user_id=${userId}`)).toMatchObject({ id: kept.id, phone_number: null, chat_id: kept.chat_id })
    expect(await thread(kept.id)).toEqual(['id 1', 'both'])
    expect(await thread(gone.id)).toEqual(['number 1'])
  })

  it('returns names, tags, notes and reactions', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const kept = await createContact(world, organization, `+${number}`, { tags: ['a'] })
    const first = hidden(userId, 'id 1')
    await receive(world, organization, {
      contacts: [{ profile: { name: 'Una', username: 'una.k' }, user_id: userId }],
      messages: [first],
    })
    const gone = await find(`user_id=${userId}`)
    await world.request('PATCH', `/contact?user_id=${userId}`, { key: organization.key, body: { tags: ['b'] } })
    const reaction = { message_id: first.id, emoji: '👍' }
    await take({ from_user_id: userId, id: wamid(), timestamp: seconds(), type: 'reaction', reaction })
    await agent.call('POST', `/contacts/${gone.id}/notes`, { body: { text: 'of Una' } })
    await agent.call('POST', `/contacts/${kept}/notes`, { body: { text: 'of the number' } })
    await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
    expect(await find(`phone_number=${number}`)).toMatchObject({
      full_name: 'Una',
      username: 'una.k',
      tags: ['a', 'b'],
    })
    const [merge] = await mergesOf(kept)
    await undo(merge.id)
    expect(await find(`phone_number=${number}`)).toMatchObject({ full_name: null, username: null, tags: ['a'] })
    expect(await find(`user_id=${userId}`)).toMatchObject({ full_name: 'Una', username: 'una.k', tags: ['b'] })
    const notes = async (id: string) =>
      (await agent.call('GET', `/contacts/${id}/messages`)).body.notes.map(({ text }: { text: string }) => text)
    expect([await notes(gone.id), await notes(kept)]).toEqual([['of Una'], ['of the number']])
    const { messages } = (await conversation(world, organization, gone.chat_id)).body
    expect(messages[0].reactions).toMatchObject([{ emoji: '👍' }])
  })

  it('returns the username that a newer one took the place of, also for searches', async () => {
    const [number, userId] = [newNumber(), newUserId()]
    const profile = (username: string, person: object) => ({ profile: { name: 'Una', username }, ...person })
    await receive(world, organization, {
      contacts: [profile('una.first', { wa_id: number })],
      messages: [textMessage(number, 'number 1')],
    })
    await receive(world, organization, {
      contacts: [profile('una.second', { user_id: userId })],
      messages: [hidden(userId, 'id 1', { timestamp: seconds(5) })],
    })
    await take(textMessage(number, 'both', { from_user_id: userId, timestamp: seconds(10) }))
    const kept = await find(`phone_number=${number}`)
    expect(kept.username).toBe('una.second')
    const [merge] = await mergesOf(kept.id)
    const { contact: gone } = (await undo(merge.id)).body
    expect([(await find(`phone_number=${number}`)).username, gone.username]).toEqual(['una.first', 'una.second'])
    for (const { id, username } of [gone, { id: kept.id, username: 'una.first' }]) {
      const path = `/conversations?action=contacts&search=${username}`
      const { contacts } = (await world.request('GET', path, { key: organization.key })).body
      expect(contacts.map((contact: { id: string }) => contact.id)).toEqual([id])
    }
  })

  it('leaves an opt-out of the time between with both', async () => {
    const { kept, gone, merge, number } = await merged()
    await take(textMessage(number, 'stop', { timestamp: seconds(15) }))
    expect((await undo(merge.id)).body.contact).toMatchObject({ id: gone.id, allow_broadcast: false })
    const { body } = await world.request('GET', '/opt-outs', { key: organization.key })
    const words = Object.fromEntries(
      body.optOuts.map((one: { contactId: string; words: string }) => [one.contactId, one.words]),
    )
    expect(words).toMatchObject({ [kept.id]: 'stop', [gone.id]: 'stop' })
  })

  it('of several is undone from the last one on, and one within another comes back with it', async () => {
    const [number, first, second] = [newNumber(), newUserId(), newUserId()]
    await take(textMessage(number, 'number'), hidden(first, 'first'), hidden(second, 'second'))
    const kept = await find(`phone_number=${number}`)
    const middle = await find(`user_id=${first}`)
    // The second becomes part of the first by an announcement, and then the first part of the number.
    const change = (previous: string, current: string) => ({
      user_id: { previous, current },
      timestamp: Number(seconds(5)),
    })
    await receive(world, organization, { user_id_update: [change(second, first)] })
    await take(textMessage(number, 'both', { from_user_id: first, timestamp: seconds(10) }))
    const [last, earlier] = await mergesOf(kept.id)
    const refused = await undo(earlier.id)
    expect([refused.status, refused.body.error]).toEqual([409, 'Later merge'])
    expect((await undo(last.id)).body.contact.id).toBe(middle.id)
    expect(await thread(middle.id)).toEqual(['first', 'second'])
    expect(await thread(kept.id)).toEqual(['number', 'both'])
    const [inner] = await mergesOf(middle.id)
    expect(inner.id).toBe(earlier.id)
    await undo(inner.id)
    expect(await thread(middle.id)).toEqual(['first'])
    expect(await thread((await find(`user_id=${second}`)).id)).toEqual(['second'])
  })

  it('is undone once, by agents of the organization only', async () => {
    const { merge } = await merged()
    expect((await undo(merge.id, analyst)).status).toBe(403)
    expect((await undo(merge.id, stranger)).status).toBe(404)
    expect((await undo(merge.id)).status).toBe(200)
    expect((await undo(merge.id)).status).toBe(404)
  })

  it('is erased with the contact', async () => {
    const { kept, merge, number } = await merged()
    await world.request('DELETE', `/contact?phone_number=${number}`, { key: organization.key })
    await world.drain()
    expect((await undo(merge.id)).status).toBe(404)
    const { rows } = await world.database.pool.query('SELECT FROM contact_merges WHERE kept_id = $1', [kept.id])
    expect(rows).toEqual([])
  })

  it('cannot be undone after 30 days', async () => {
    const { kept, merge } = await merged()
    await world.advance(30 * DAY_MS + 1_000)
    const later = await signIn(world, organization, { role: 'agent' })
    expect(await mergesOf(kept.id, later)).toEqual([])
    expect((await undo(merge.id, later)).status).toBe(404)
  })
})
