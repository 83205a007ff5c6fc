import type { InboxContact, LiveEvent } from '../../../../../src/model/conversations/inbox.js'
import { detailOf } from '../system-line.js'
import { fits, type InboxFilter } from './fits.js'

/** The contact as live events carry it. */
type Fields = Omit<InboxContact, 'last_message'>
type LastMessage = NonNullable<InboxContact['last_message']>

/** The newest known state of a contact, from live events and answers since the page was opened. */
export interface ContactUpdate {
  /** Time in ms of performance.now(). Pages that were requested later include the update already. */
  at: number
  /** Undefined: only messages are known. Null: the contact is erased, or merged into another one. */
  fields: Fields | null | undefined
  /** Undefined: unknown. */
  lastMessage: LastMessage | null | undefined
}

/** Updates by contact id. Changed in place, since there may be thousands. */
export type UpdatesById = Map<string, ContactUpdate>

/** A page of the list. `askedAt`: the time of its request, in ms of performance.now(). */
export interface InboxPage {
  contacts: InboxContact[]
  next_cursor: string | null
  askedAt: number
}

/** Applies an event to the updates. False if it says nothing about a contact. */
export function applyEvent(updates: UpdatesById, event: LiveEvent, at: number): boolean {
  const { contact_id: id, contact, message, erased, merged, unmerged } = event
  if (erased) {
    updates.set(erased.id, { at, fields: null, lastMessage: null })
    return true
  }
  if (merged) updates.set(merged.id, { at, fields: null, lastMessage: null })
  if (id === null || (!contact && !message)) return false
  // The last messages of both have other numbers now: they are as in lists that are requested from here on.
  if (unmerged) {
    updates.delete(id)
    const kept = updates.get(unmerged.id)
    if (kept) updates.set(unmerged.id, { ...kept, at, lastMessage: undefined })
  }
  const before = updates.get(id)
  const known = before?.lastMessage === undefined && event.type === 'contact.created' ? null : before?.lastMessage
  updates.set(id, {
    at,
    fields: contact ?? before?.fields,
    lastMessage: message ? newest(known, toLastMessage(message)) : known,
  })
  return true
}

/** Applies a contact that the service has just returned. Events that arrived after the request are newer and win. */
export function applyContact(updates: UpdatesById, contact: InboxContact, askedAt: number, at: number): void {
  const { last_message, ...fields } = contact
  const known = updates.get(contact.id)
  const lastMessage = newest(known?.lastMessage, last_message) ?? null
  if (known?.fields !== undefined && known.at > askedAt) updates.set(contact.id, { ...known, lastMessage })
  else updates.set(contact.id, { at, fields, lastMessage })
}

/** The contact with the updates since it was requested. Null if it is erased. */
export function withUpdates(contact: InboxContact, updates: UpdatesById, askedAt: number): InboxContact | null {
  const update = updates.get(contact.id)
  if (!update || update.at <= askedAt) return contact
  if (update.fields === null) return null
  return { ...contact, ...update.fields, last_message: newest(contact.last_message, update.lastMessage) ?? null }
}

/** The contacts of the list, and those that belong to it but are not known completely. */
export interface Listed {
  contacts: InboxContact[]
  /** Ids of contacts whose newest message must be requested. */
  missing: string[]
}

/**
 * The contacts of the pages with all updates, latest activity first. Contacts that have come to match the filter are added,
 * those that no longer match are left out. In the view of unread conversations the open one (`openId`) stays after it is read.
 */
export function listContacts(
  pages: readonly InboxPage[],
  updates: UpdatesById,
  filter: InboxFilter,
  { memberId, openId }: { memberId: string; openId: string | null },
): Listed {
  const shown = new Map<string, InboxContact>()
  // The service matches more forms of a name or number than this page, so its search results are kept.
  const found = { ...filter, search: '' }
  const keep = (contact: InboxContact | null) => {
    const stays = contact?.id === openId && filter.view === 'unread'
    if (contact && fits(contact, stays ? { ...found, view: 'all' } : found, memberId)) shown.set(contact.id, contact)
  }
  const listed = new Set<string>()
  for (const { contacts, askedAt } of pages) {
    for (const contact of contacts) {
      listed.add(contact.id)
      keep(withUpdates(contact, updates, askedAt))
    }
  }
  const missing: string[] = []
  for (const update of newcomers(pages, updates, listed)) {
    if (!fits(update.fields, filter, memberId)) continue
    const { fields, lastMessage } = update
    if (isComplete(update)) shown.set(fields.id, { ...fields, last_message: lastMessage ?? null })
    else missing.push(fields.id)
  }
  return { contacts: [...shown.values()].sort(byActivity), missing }
}

type Newcomer = ContactUpdate & { fields: Fields }

/** Updated contacts that are on no page, down to the end of the last page. */
function newcomers(pages: readonly InboxPage[], updates: UpdatesById, listed: ReadonlySet<string>): Newcomer[] {
  const first = pages.at(0)
  const last = pages.at(-1)
  if (!first || !last) return []
  const end = last.next_cursor === null ? '' : (last.contacts.at(-1)?.active_at ?? '')
  const isNew = (update: ContactUpdate): update is Newcomer =>
    !!update.fields && update.at > first.askedAt && !listed.has(update.fields.id) && update.fields.active_at >= end
  return [...updates.values()].filter(isNew)
}

/** Whether the newest message is known; a contact without messages is complete. */
function isComplete({ fields, lastMessage }: Newcomer): boolean {
  return lastMessage === null || (lastMessage !== undefined && lastMessage.seq >= fields.last_seq)
}

function byActivity(a: InboxContact, b: InboxContact): number {
  if (a.active_at !== b.active_at) return a.active_at < b.active_at ? 1 : -1
  return a.id < b.id ? 1 : -1
}

/** The later of two messages. Of the same message, the new version. */
function newest<Known extends LastMessage | null | undefined>(
  known: Known,
  update: LastMessage | null | undefined,
): Known | LastMessage {
  return update && update.seq >= (known?.seq ?? 0) ? update : known
}

/** Null for reactions, edits and the like: they have no number and are not shown in the list. */
function toLastMessage(message: NonNullable<LiveEvent['message']>): LastMessage | null {
  const { id, seq, message_type, media_type, sender_type, created_at, content, error } = message
  if (seq === null) return null
  const text = Array.from(message.message).slice(0, 200).join('')
  const status = message.message_status
  const of = { id, seq, text, message_type, media_type, detail: detailOf(content), sender_type, status, created_at }
  return { ...of, has_error: error !== null }
}
