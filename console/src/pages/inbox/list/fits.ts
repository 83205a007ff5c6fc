import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** The views of the inbox. Archived conversations appear in their own view only. */
export const VIEWS = ['all', 'unread', 'mine', 'archived'] as const
export type View = (typeof VIEWS)[number]

/** Which contacts the list shows. Empty: any. */
export interface InboxFilter {
  view: View
  tag: string
  search: string
}

/** Whether the contact matches the filter, as the service decides it. `memberId`: the signed-in member. */
export function fits(contact: Fitting, { view, tag, search }: InboxFilter, memberId: string): boolean {
  if (contact.archived !== (view === 'archived')) return false
  if (view === 'unread' && !contact.has_unread_messages) return false
  if (view === 'mine' && contact.assignee_id !== memberId) return false
  if (tag !== '' && !contact.tags.includes(tag)) return false
  return search === '' || isFound(contact, search)
}

type Fitting = Pick<
  InboxContact,
  | 'archived'
  | 'has_unread_messages'
  | 'assignee_id'
  | 'tags'
  | 'full_name'
  | 'phone_number'
  | 'chat_id'
  | 'user_id'
  | 'parent_user_id'
  | 'username'
>

function isFound(contact: Fitting, search: string): boolean {
  const { full_name, phone_number, chat_id, user_id, parent_user_id, username } = contact
  if (full_name !== null && fold(full_name).includes(fold(search))) return true
  if (username && `@${username.toLowerCase()}`.includes(fold(search))) return true
  if ([user_id, parent_user_id].includes(search.trim())) return true
  const digits = search.replace(/\D/g, '')
  return digits !== '' && [phone_number, chat_id].some((number) => number?.replace(/\D/g, '').includes(digits))
}

function fold(text: string): string {
  return text.normalize('NFD').replace(/\p{M}/gu, '').toLowerCase().trim()
}
