import { describe, expect, it } from 'vitest'
import { fits, type InboxFilter } from '../../../../../console/src/pages/inbox/list/fits.js'
import {
  applyContact,
  applyEvent,
  type InboxPage,
  listContacts,
  type UpdatesById,
  withUpdates,
} from '../../../../../console/src/pages/inbox/list/live-updates.js'
import type { InboxContact, LiveEvent } from '../../../../../src/model/conversations/inbox.js'

const ME = 'me'
const ALL: InboxFilter = { view: 'all', tag: '', search: '' }

function contactOf(id: string, minute: number, fields: Partial<InboxContact> = {}): InboxContact {
  return {
    id,
    full_name: `Contact ${id}`,
    chat_id: '5511900001234',
    phone_number: '+5511900001234',
    tags: [],
    archived: false,
    has_unread_messages: false,
    assignee_id: null,
    last_seq: 0,
    active_at: `2026-01-01T10:${String(minute).padStart(2, '0')}:00.000Z`,
    last_message: null,
    ...fields,
  } as InboxContact
}

/** A message of the contact, with the contact as it is then. */
function received(contact: InboxContact, seq: number, fields: object = {}): LiveEvent {
  const { last_message: _, ...shown } = contact
  const message = { id: `m${seq}`, seq, message: `text ${seq}`, message_status: 'delivered', error: null, ...fields }
  return {
    id: `e${seq}`,
    type: 'message.received',
    contact_id: contact.id,
    contact: { ...shown, last_seq: seq },
    message,
  } as LiveEvent
}

function updated(contact: InboxContact): LiveEvent {
  const { last_message: _, ...shown } = contact
  return { id: 'u', type: 'contact.updated', contact_id: contact.id, contact: shown } as LiveEvent
}

const pageOf = (contacts: InboxContact[], next_cursor: string | null = null): InboxPage => ({
  contacts,
  next_cursor,
  askedAt: 0,
})

function shown(pages: InboxPage[], updates: UpdatesById, filter = ALL, openId: string | null = null) {
  return listContacts(pages, updates, filter, { memberId: ME, openId }).contacts.map(({ id }) => id)
}

describe('the list with live updates', () => {
  const pages = [pageOf([contactOf('b', 2), contactOf('a', 1)])]

  it('moves a contact that writes to the top, with the message', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contactOf('a', 3, { has_unread_messages: true }), 1), 10)
    const [first, second] = listContacts(pages, updates, ALL, { memberId: ME, openId: null }).contacts
    expect(first).toMatchObject({ id: 'a', has_unread_messages: true, last_message: { seq: 1, text: 'text 1' } })
    expect(second?.id).toBe('b')
  })

  it('adds a contact that was not listed, and asks for its newest message if that is unknown', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contactOf('c', 4), 1), 10)
    applyEvent(updates, updated(contactOf('d', 3, { last_seq: 5 })), 11)
    const { contacts, missing } = listContacts(pages, updates, ALL, { memberId: ME, openId: null })
    expect(contacts.map(({ id }) => id)).toEqual(['c', 'b', 'a'])
    expect(missing).toEqual(['d'])
  })

  it('asks for no message of a contact without messages', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, updated(contactOf('d', 3)), 10)
    applyContact(updates, contactOf('d', 3), 11, 12)
    const { contacts, missing } = listContacts(pages, updates, ALL, { memberId: ME, openId: null })
    expect(contacts.map(({ id }) => id)).toEqual(['d', 'b', 'a'])
    expect(missing).toEqual([])
  })

  it('does not let an answer undo events that arrived during the request', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, updated(contactOf('a', 1, { archived: true })), 10)
    applyContact(updates, contactOf('a', 1, { full_name: 'Before' }), 9, 11)
    expect(updates.get('a')).toMatchObject({ at: 10, fields: { archived: true, full_name: 'Contact a' } })
    applyContact(updates, contactOf('a', 1, { full_name: 'After' }), 10, 12)
    expect(updates.get('a')).toMatchObject({ at: 12, fields: { archived: false, full_name: 'After' } })
  })

  it('leaves out contacts below the loaded pages', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contactOf('z', 0), 1), 10)
    expect(shown([pageOf([contactOf('b', 2), contactOf('a', 1)], 'more')], updates)).toEqual(['b', 'a'])
    expect(shown(pages, updates)).toEqual(['b', 'a', 'z'])
  })

  it('removes a contact that no longer matches; the open one stays among the unread', () => {
    const updates: UpdatesById = new Map()
    const unread = [
      pageOf([contactOf('b', 2, { has_unread_messages: true }), contactOf('a', 1, { has_unread_messages: true })]),
    ]
    applyEvent(updates, updated(contactOf('a', 1)), 10)
    const filter: InboxFilter = { ...ALL, view: 'unread' }
    expect(shown(unread, updates, filter)).toEqual(['b'])
    expect(shown(unread, updates, filter, 'a')).toEqual(['b', 'a'])
    applyEvent(updates, updated(contactOf('a', 1, { archived: true })), 11)
    expect(shown(unread, updates, filter, 'a')).toEqual(['b'])
  })

  it('removes an erased contact, even if a page still has it', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, { id: 'e', type: 'contact.erased', contact_id: null, erased: { id: 'a' } } as LiveEvent, 10)
    expect(shown(pages, updates)).toEqual(['b'])
    expect(withUpdates(contactOf('a', 1), updates, 0)).toBeNull()
  })

  it('removes a contact that was merged into another one', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, { ...updated(contactOf('b', 3)), type: 'contact.merged', merged: { id: 'a' } }, 10)
    expect(shown(pages, updates)).toEqual(['b'])
  })

  it('shows a contact that was separated again, and asks for its last message', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contactOf('b', 3), 7), 9)
    applyEvent(updates, { ...updated(contactOf('b', 3)), type: 'contact.merged', merged: { id: 'c' } }, 10)
    const restored = updated(contactOf('c', 4, { last_seq: 2 }))
    applyEvent(updates, { ...restored, type: 'contact.unmerged', unmerged: { id: 'b' } }, 11)
    const { contacts, missing } = listContacts(pages, updates, ALL, { memberId: ME, openId: null })
    expect([contacts.map(({ id }) => id), missing]).toEqual([['b', 'a'], ['c']])
    applyEvent(updates, received(contactOf('b', 5), 5), 12)
    expect(withUpdates(contactOf('b', 2), updates, 0)?.last_message).toMatchObject({ seq: 5 })
  })

  it('ignores events older than the request of the page', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, updated(contactOf('a', 1, { archived: true })), 10)
    expect(shown([{ ...pageOf([contactOf('a', 5)]), askedAt: 20 }], updates)).toEqual(['a'])
  })

  it('keeps contacts that the service found by another form of the number', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contactOf('a', 3), 1), 10)
    expect(shown(pages, updates, { ...ALL, search: '551190000999' })).toEqual(['a', 'b'])
  })
})

describe('the newest message', () => {
  const contact = contactOf('a', 1)

  it('takes on a later status, and is replaced only by a later message', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contact, 2), 1)
    applyEvent(updates, received(contact, 1, { message_status: 'read' }), 2)
    expect(updates.get('a')?.lastMessage).toMatchObject({ seq: 2, status: 'delivered' })
    applyEvent(updates, received(contact, 2, { message_status: 'failed', error: { code: 1, text: 'x' } }), 3)
    expect(withUpdates(contact, updates, 0)?.last_message).toMatchObject({ seq: 2, status: 'failed', has_error: true })
  })

  it('is not a reaction', () => {
    const updates: UpdatesById = new Map()
    applyEvent(updates, received(contact, 2), 1)
    applyEvent(updates, received(contact, 3, { seq: null }), 2)
    expect(updates.get('a')?.lastMessage).toMatchObject({ seq: 2 })
  })
})

it.each([
  ['joao', true],
  ['JOÃO', true],
  ['1190000', true],
  ['+55 11 90000', true],
  ['maria', false],
  ['777', false],
])('looks for %s as the service does', (search, isFound) => {
  expect(fits(contactOf('a', 1, { full_name: 'João' }), { ...ALL, search }, ME)).toBe(isFound)
})
