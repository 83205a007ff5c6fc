import type { Context } from '../context.js'
import type { ShownMessage } from '../model/message.js'
import type { Organization } from '../model/organization.js'
import { findMessagesBySeq } from '../storage/messages.js'
import { type ContactReference, findContact } from './contacts.js'

/** Which page of a conversation; `limit` messages a page, the first page is 1. */
export interface PageRequest {
  page: number
  limit: number
  ascending: boolean
}

/** One page, and how many messages the conversation has in all. */
export interface ConversationPage {
  messages: ShownMessage[]
  total: number
}

/**
 * Reads one page of a contact's conversation (spec 4.2). The messages are numbered without gaps, so a page is a range of
 * numbers: the last page costs what the first costs, and ascending pages stand still while messages arrive.
 */
export async function readConversation(
  ctx: Context,
  organization: Organization,
  reference: ContactReference,
  { page, limit, ascending }: PageRequest,
): Promise<ConversationPage> {
  const contact = await findContact(ctx, organization, reference, 'query')
  const total = contact.last_seq
  const skipped = (page - 1) * limit
  if (skipped >= total) return { messages: [], total }
  const from = ascending ? skipped + 1 : Math.max(1, total - skipped - limit + 1)
  const to = ascending ? Math.min(total, skipped + limit) : total - skipped
  const messages = await findMessagesBySeq(ctx.database, organization.id, contact.id, from, to)
  return { messages: ascending ? messages : messages.reverse(), total }
}
