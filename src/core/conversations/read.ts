import type { Context } from '../../context.js'
import type { Contact } from '../../model/contacts/contact.js'
import type { SearchTerm } from '../../model/conversations/search-terms.js'
import type { ShownMessage } from '../../model/messages/message.js'
import { type PageRequest as NumberedPage, readBoundedPage } from '../../model/page.js'
import { findMessagesBySeq, findMessagesBySeqs } from '../../storage/messages/messages.js'
import { findMatches } from './search.js'

/** Which page of a conversation. */
export interface PageRequest extends NumberedPage {
  ascending: boolean
}

/** One page, and the number of messages on all pages. */
export interface ConversationPage {
  messages: ShownMessage[]
  total: number
}

/**
 * Reads one page of a contact's conversation. Messages are numbered without gaps, so a page is a range of numbers: the
 * last page costs as much as the first, and ascending pages stay stable while messages arrive.
 */
export async function readConversation(
  ctx: Context,
  contact: Contact,
  { page, limit, ascending }: PageRequest,
): Promise<ConversationPage> {
  const { last_seq: last, pruned_seq: pruned } = contact
  const total = last - pruned
  const skipped = (page - 1) * limit
  if (skipped >= total) return { messages: [], total }
  const from = ascending ? pruned + skipped + 1 : Math.max(pruned + 1, last - skipped - limit + 1)
  const to = ascending ? Math.min(last, pruned + skipped + limit) : last - skipped
  const messages = await findMessagesBySeq(ctx.database, contact.organization_id, contact.id, { from, to })
  return { messages: ascending ? messages : messages.reverse(), total }
}

/**
 * Reads one page of the messages that contain one of the terms, counted up to `COUNT_LIMIT`. Throws invalid_parameter
 * (page too deep, term too short).
 */
export async function searchConversation(
  ctx: Context,
  contact: Contact,
  terms: readonly SearchTerm[],
  { page, limit, ascending }: PageRequest,
): Promise<ConversationPage> {
  const { seqs, total } = await readBoundedPage({ page, limit }, 'Search for more of the text', (skip, limit) =>
    findMatches(ctx, contact, terms, { skip, limit, ascending }),
  )
  const messages = await findMessagesBySeqs(ctx.database, contact.organization_id, contact.id, seqs)
  return { messages: ascending ? messages : messages.reverse(), total }
}
