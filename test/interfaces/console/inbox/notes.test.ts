import { beforeAll, expect, it } from 'vitest'
import { receive, receiveMessages, textMessage } from '../../../support/callbacks.js'
import { type SignedInMember, signIn } from '../../../support/console.js'
import { createContact } from '../../../support/contacts.js'
import { hold, untilWaiting } from '../../../support/locks.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

const world = useWorld()
const organization = useOrganization(world)
let owner: SignedInMember
let agent: SignedInMember
let analyst: SignedInMember
let stranger: SignedInMember

beforeAll(async () => {
  owner = await signIn(world, organization)
  agent = await signIn(world, organization, { role: 'agent' })
  analyst = await signIn(world, organization, { role: 'analyst' })
  stranger = await signIn(world, await world.createOrganization())
})

const write = (contactId: string, text: string, by = agent) =>
  by.call('POST', `/contacts/${contactId}/notes`, { body: { text } })
const remove = (noteId: string, by: SignedInMember) => by.call('DELETE', `/notes/${noteId}`)
const notesOf = async (contactId: string, query = '') =>
  (await agent.call('GET', `/contacts/${contactId}/messages?${query}`)).body.notes

it('a note appears below the newest message, for the whole team', async () => {
  const contactId = await createContact(world, organization, '+16505550001')
  const above = await write(contactId, 'before all')
  expect([above.status, above.body.note]).toEqual([
    201,
    {
      id: expect.any(String),
      contact_id: contactId,
      after_seq: 0,
      text: 'before all',
      member_id: agent.member.id,
      created_at: expect.stringMatching(/Z$/),
    },
  ])
  expect(await notesOf(contactId)).toEqual([above.body.note])
  await receiveMessages(world, organization, textMessage('16505550001', 'one'), textMessage('16505550001', 'two'))
  const below = await write(contactId, 'y'.repeat(4_000), owner)
  expect(below.body.note.after_seq).toBe(2)
  expect(await notesOf(contactId)).toEqual([above.body.note, below.body.note])
  expect(await notesOf(contactId, 'before=2')).toEqual([above.body.note])
  expect(await notesOf(contactId, 'after=1')).toEqual([below.body.note])
})

it('only its author and owners can delete a note', async () => {
  const contactId = await createContact(world, organization, '+16505550002')
  const own = (await write(contactId, 'mine')).body.note
  const owners = (await write(contactId, 'of the owner', owner)).body.note
  expect((await remove(owners.id, agent)).body).toMatchObject({ success: false, error: 'Forbidden' })
  expect((await remove(own.id, stranger)).status).toBe(404)
  expect((await remove(own.id, agent)).status).toBe(200)
  expect((await remove(own.id, agent)).status).toBe(404)
  const second = (await write(contactId, 'mine again')).body.note
  expect((await remove(second.id, owner)).status).toBe(200)
  expect(await notesOf(contactId)).toEqual([owners])
})

it('a note has no author if the author is removed at the same moment', async () => {
  const leaving = await signIn(world, organization, { role: 'agent' })
  const contactId = await createContact(world, organization, '+16505550004')
  const held = await hold(world.database, 'DELETE FROM members WHERE id = $1', [leaving.member.id])
  const written = write(contactId, 'a last word', leaving)
  await untilWaiting(world.database, 1, 'notes')
  await held.commit()
  const { status, body } = await written
  expect([status, body.note]).toMatchObject([201, { text: 'a last word', member_id: null }])
})

it('a note by an analyst, by another organization, for an unknown contact, or without text is refused', async () => {
  const contactId = await createContact(world, organization, '+16505550003')
  const note = (await write(contactId, 'x')).body.note
  expect((await write(contactId, 'x', analyst)).status).toBe(403)
  expect((await remove(note.id, analyst)).status).toBe(403)
  expect((await write(contactId, 'x', stranger)).status).toBe(404)
  expect((await write('00000000-0000-7000-8000-000000000000', 'x')).status).toBe(404)
  for (const text of ['', 'y'.repeat(4_001), 3]) {
    const answer = await agent.call('POST', `/contacts/${contactId}/notes`, { body: { text } })
    expect(answer.status).toBe(400)
  }
})

it('notes are events of the team only, and appear neither in the feed nor in webhooks', async () => {
  const own = await world.createOrganization()
  const member = await signIn(world, own)
  const webhook = { url: 'http://127.0.0.1:9/hook', events: ['*'] }
  const made = await world.request('POST', '/set-webhooks', { key: own.key, body: webhook })
  expect(made.status).toBe(201)
  const contactId = await createContact(world, own, '+16505550001')
  const { note } = (await write(contactId, 'secret', member)).body
  await remove(note.id, member)
  const types = (await eventsOf(world, own)).map(({ type }) => type)
  expect(types).toEqual(['contact.created', 'note.created', 'note.deleted'])
  const feed = await world.request('GET', '/events', { key: own.key })
  expect(feed.body.events.map(({ type }: { type: string }) => type)).toEqual(['contact.created'])
  await world.drain()
  const log = await world.request('GET', '/webhook-deliveries', { key: own.key })
  expect(log.body.deliveries.map(({ event_type }: { event_type: string }) => event_type)).toEqual(['contact.created'])
  for (const type of ['note.created', 'note.deleted']) {
    const [event] = await eventsOf(world, own, type)
    expect(event?.data.note, type).toMatchObject({ id: note.id, text: '' })
  }
  await world.request('DELETE', '/contact?chat_id=16505550001', { key: own.key })
  await world.drain()
  expect((await eventsOf(world, own)).map(({ data }) => data)).toEqual([{}, {}, {}, { erased: { id: contactId } }])
  expect((await remove(note.id, member)).status).toBe(404)
})

it('notes move with the messages in a merge, and the assignee stays', async () => {
  const own = await world.createOrganization()
  const member = await signIn(world, own)
  const text = (from: string, body: string, fields = {}) => ({
    messages: [{ ...textMessage(from, body), ...fields }],
    contacts: [],
  })
  await receive(world, own, text('16505550001', 'of the number'))
  const older = (await member.call('GET', '/inbox')).body.contacts[0]
  const { messages } = text('', 'of the user', { from_user_id: 'US.123' })
  const [{ from: _none, ...byUserId }] = messages as [Record<string, unknown>]
  await receive(world, own, { messages: [byUserId], contacts: [{ user_id: 'US.123', profile: { name: 'U' } }] })
  const younger = (await member.call('GET', '/inbox')).body.contacts[0]
  expect(younger.id).not.toBe(older.id)
  await write(older.id, 'first', member)
  await write(younger.id, 'second', member)
  await member.call('PUT', `/contacts/${younger.id}/assignee`, { body: { member_id: member.member.id } })
  await receive(world, own, {
    messages: [{ ...textMessage('16505550001', 'of both'), from_user_id: 'US.123' }],
    contacts: [{ wa_id: '16505550001', user_id: 'US.123', profile: { name: 'U' } }],
  })
  const { contacts } = (await member.call('GET', '/inbox')).body
  expect(contacts).toMatchObject([{ id: older.id, assignee_id: member.member.id, last_seq: 3 }])
  const thread = (await member.call('GET', `/contacts/${older.id}/messages`)).body
  expect(thread.messages.map(({ message }: { message: string }) => message)).toEqual([
    'of the number',
    'of the user',
    'of both',
  ])
  expect(thread.notes).toMatchObject([
    { text: 'first', after_seq: 1 },
    { text: 'second', after_seq: 2 },
  ])
  expect((await member.call('GET', `/inbox/${younger.id}`)).status).toBe(404)
})
