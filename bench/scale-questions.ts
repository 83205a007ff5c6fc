import type { Context } from '../src/context.js'
import { listContacts } from '../src/core/contacts/list.js'
import { readConversation, searchConversation } from '../src/core/conversations/read.js'
import { readSearchTerms } from '../src/model/conversations/search-terms.js'
import type { Organization } from '../src/model/organizations/organization.js'
import { findContactByAddresses } from '../src/storage/contacts/contacts.js'
import { get, type NextRequest } from './loads.js'
import { numberOf } from './scale-data.js'
import {
  ABSENT_NAME,
  ABSENT_WORD,
  COMMON_NAME,
  COMMON_WORD,
  RARE_NAME,
  RARE_WORD,
  SHORT_WORD,
  THREE_WORDS,
} from './scale-texts.js'
import type { Site } from './scale-world.js'

/** A request to the service. The id starts with the kind, by which its target is found. */
export interface Question {
  id: string
  title: string
  /** True if it is also measured with 8 connections. */
  isCrowded?: boolean
  /** The index of the contact whose conversation is read; none for a list of contacts. */
  contact?: number
  query: string
  page: number
  ascending?: boolean
}

/** The API's defaults. */
const MESSAGES_A_PAGE = 10
const CONTACTS_A_PAGE = 50

/** All requests to the large database. */
export function questionsTo({ shape }: Site): Question[] {
  const lastPage = Math.ceil(shape.longest / MESSAGES_A_PAGE)
  const lastContacts = Math.ceil(shape.contactsOfFirst / CONTACTS_A_PAGE)
  const long = { contact: 0, query: '', page: 1 }
  const middle = { contact: 1, query: '', page: 1 }
  const list = { query: '', page: 1 }
  return [
    { ...long, id: 'page.first', title: 'long conversation, page 1', isCrowded: true },
    { ...long, id: 'page.1000', title: 'long conversation, page 1,000', page: Math.min(1_000, lastPage) },
    { ...long, id: 'page.last', title: 'long conversation, last page', page: lastPage },
    { ...long, id: 'page.first.up', title: 'long conversation, page 1, ascending', ascending: true },
    {
      ...long,
      id: 'page.1000.up',
      title: 'long conversation, page 1,000, ascending',
      page: Math.min(1_000, lastPage),
      ascending: true,
    },
    { ...long, id: 'page.last.up', title: 'long conversation, last page, ascending', page: lastPage, ascending: true },
    { ...long, id: 'search.common', title: 'long conversation, common word', query: COMMON_WORD, isCrowded: true },
    { ...long, id: 'search.rare', title: 'long conversation, rare word', query: RARE_WORD, isCrowded: true },
    { ...long, id: 'search.absent', title: 'long conversation, absent word', query: ABSENT_WORD, isCrowded: true },
    {
      ...long,
      id: 'search-deep',
      title: 'long conversation, common word, page 1,000',
      query: COMMON_WORD,
      page: 1_000,
    },
    { ...long, id: 'search-short', title: 'long conversation, word of two letters', query: SHORT_WORD },
    { ...long, id: 'search-three', title: 'long conversation, three terms', query: THREE_WORDS },
    { ...middle, id: 'middle.common', title: 'conversation of 1,000, common word', query: COMMON_WORD },
    { ...middle, id: 'middle.absent', title: 'conversation of 1,000, absent word', query: ABSENT_WORD },
    { ...list, id: 'page.contacts.first', title: 'contacts, page 1', isCrowded: true },
    { ...list, id: 'page.contacts.middle', title: 'contacts, middle page', page: Math.ceil(lastContacts / 2) },
    { ...list, id: 'page.contacts.last', title: 'contacts, last page', page: lastContacts },
    { ...list, id: 'contacts.common', title: 'contacts, common name', query: COMMON_NAME, isCrowded: true },
    { ...list, id: 'contacts.rare', title: 'contacts, rare name', query: RARE_NAME },
    { ...list, id: 'contacts.absent', title: 'contacts, absent name', query: ABSENT_NAME },
    { ...list, id: 'contacts.number', title: 'contacts, part of a number', query: numberOf(4).slice(6, 11) },
    { ...list, id: 'contacts.letter', title: 'contacts, one letter', query: 'a' },
  ]
}

/** Returns the requests of a question. */
export function requestOf({ contact, query, page, ascending = false }: Question, { organization }: Site): NextRequest {
  const parameters: Record<string, string> =
    contact === undefined
      ? { action: 'contacts', search: query }
      : { chatNumber: `+${numberOf(contact)}`, query, ascending: String(ascending) }
  const request = get(`/conversations?${new URLSearchParams({ ...parameters, page: String(page) })}`, organization.key)
  return () => request
}

/** A request for the first page of a random conversation of the organization. */
export function anyConversation({ shape, organization }: Site): NextRequest {
  return () => {
    const contact = Math.floor(Math.random() * shape.contactsOfFirst)
    return get(`/conversations?chatNumber=%2B${numberOf(contact)}`, organization.key)
  }
}

/** Answers the question in this process, with the code of the service. */
export async function answer(ctx: Context, { organization: { id } }: Site, question: Question): Promise<unknown> {
  const organization = { id, default_country: 'BR' } as Organization // no other field is read
  const { contact: index, query, page, ascending = false } = question
  if (index === undefined) {
    return listContacts(ctx, organization, { search: query || null, page, limit: CONTACTS_A_PAGE })
  }
  const contact = await findContactByAddresses(ctx.database, id, [numberOf(index)])
  if (!contact) throw new Error(`there is no contact ${index}`)
  const wanted = { page, limit: MESSAGES_A_PAGE, ascending }
  return query === ''
    ? readConversation(ctx, contact, wanted)
    : searchConversation(ctx, contact, readSearchTerms(query), wanted)
}
