import type { InboxContact, LiveEvent } from '../../../../../src/model/conversations/inbox.js'
import { fits, type InboxFilter } from './filter.js'

/** The contact as live events carry it. */
type Fields = Omit<InboxContact, 'last_message'>
type LastMessage = NonNullable<InboxContact['last_message']>

/** What was heard of a contact since the page was opened. */
export interface News {
  /** When, in ms of performance.now(): what was asked for later knows it already. */
  at: number
  /** Undefined: nothing but its messages. Null: it is erased. */
  fields: Fields | null | undefined
  /** Undefined: not heard of. */
  lastMessage: LastMessage | null | undefined
}

/** What was heard, by contact. Changed in place: there may be thousands. */
export type NewsById = Map<string, News>

/** A page of the list, with the moment (of performance.now()) at which it was asked for. */
export interface InboxPage {
  contacts: InboxContact[]
  next_cursor: string | null
  askedAt: number
}

/** Keeps what an event tells of its contact; false: it tells nothing of any. */
export function hear(news: NewsById, event: LiveEvent, at: number): boolean {
  const { contact_id: id, contact, message, erased } = event
  if (erased) {
    news.set(erased.id, { at, fields: null, lastMessage: null })
    return true
  }
  if (id === null || (!contact && !message)) return false
  const before = news.get(id)
  const known = before?.lastMessage === undefined && event.type === 'contact.created' ? null : before?.lastMessage
  news.set(id, {
    at,
    fields: contact ?? before?.fields,
    lastMessage: message ? newest(known, toLastMessage(message)) : known,
  })
  return true
}

/** Keeps a contact as the service has just answered it; what was heard of it since it was asked for is newer. */
export function put(news: NewsById, contact: InboxContact, askedAt: number, at: number): void {
  const { last_message, ...fields } = contact
  const heard = news.get(contact.id)
  const lastMessage = newest(heard?.lastMessage, last_message) ?? null
  if (heard?.fields !== undefined && heard.at > askedAt) news.set(contact.id, { ...heard, lastMessage })
  else news.set(contact.id, { at, fields, lastMessage })
}

/** The contact with what was heard of it since it was asked for; null: it is erased. */
export function update(contact: InboxContact, news: NewsById, askedAt: number): InboxContact | null {
  const heard = news.get(contact.id)
  if (!heard || heard.at <= askedAt) return contact
  if (heard.fields === null) return null
  return { ...contact, ...heard.fields, last_message: newest(contact.last_message, heard.lastMessage) ?? null }
}

/** What the list shows, and what else belongs into it but is not known well enough. */
export interface Listed {
  contacts: InboxContact[]
  /** Ids of contacts whose newest message has to be asked for. */
  missing: string[]
}

/**
 * The pages with the news: who wrote last on top, with those who came to fit, without those who do not any more. `openId`: the
 * conversation that is open stays when it has just been read.
 */
export function list(
  pages: readonly InboxPage[],
  news: NewsById,
  filter: InboxFilter,
  { memberId, openId }: { memberId: string; openId: string | null },
): Listed {
  const shown = new Map<string, InboxContact>()
  // What the service has found by its name or number it still finds, by more forms of it than are known here.
  const found = { ...filter, search: '' }
  const keep = (contact: InboxContact | null) => {
    const stays = contact?.id === openId && filter.view === 'unread'
    if (contact && fits(contact, stays ? { ...found, view: 'all' } : found, memberId)) shown.set(contact.id, contact)
  }
  const listed = new Set<string>()
  for (const { contacts, askedAt } of pages) {
    for (const contact of contacts) {
      listed.add(contact.id)
      keep(update(contact, news, askedAt))
    }
  }
  const missing: string[] = []
  for (const heard of newcomers(pages, news, listed)) {
    if (!fits(heard.fields, filter, memberId)) continue
    const { fields, lastMessage } = heard
    if (isComplete(heard)) shown.set(fields.id, { ...fields, last_message: lastMessage ?? null })
    else missing.push(fields.id)
  }
  return { contacts: [...shown.values()].sort(byActivity), missing }
}

type Newcomer = News & { fields: Fields }

/** Those heard of that no page has, as far down as the pages go. */
function newcomers(pages: readonly InboxPage[], news: NewsById, listed: ReadonlySet<string>): Newcomer[] {
  const first = pages.at(0)
  const last = pages.at(-1)
  if (!first || !last) return []
  const end = last.next_cursor === null ? '' : (last.contacts.at(-1)?.active_at ?? '')
  const isNew = (heard: News): heard is Newcomer =>
    !!heard.fields && heard.at > first.askedAt && !listed.has(heard.fields.id) && heard.fields.active_at >= end
  return [...news.values()].filter(isNew)
}

/** Where there is no message at all, there is nothing to be asked for. */
function isComplete({ fields, lastMessage }: Newcomer): boolean {
  return lastMessage === null || (lastMessage !== undefined && lastMessage.seq >= fields.last_seq)
}

function byActivity(a: InboxContact, b: InboxContact): number {
  if (a.active_at !== b.active_at) return a.active_at < b.active_at ? 1 : -1
  return a.id < b.id ? 1 : -1
}

/** The later of the two; of the same message what is heard of it now. */
function newest<Known extends LastMessage | null | undefined>(
  known: Known,
  heard: LastMessage | null | undefined,
): Known | LastMessage {
  return heard && heard.seq >= (known?.seq ?? 0) ? heard : known
}

/** Reactions, edits and the like have no number: they are no message of the list. */
function toLastMessage(message: NonNullable<LiveEvent['message']>): LastMessage | null {
  const { id, seq, message_type, media_type, sender_type, created_at, error } = message
  if (seq === null) return null
  const text = Array.from(message.message).slice(0, 200).join('')
  const status = message.message_status
  return { id, seq, text, message_type, media_type, sender_type, status, created_at, has_error: error !== null }
}
