import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import type { Contact } from '../../../model/contacts/contact.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { findSeqInConversation } from '../../../storage/conversations/marks.js'
import { markThreadRead, reportReadAgain, type ThreadRead } from './mark-thread-read.js'

/**
 * Marks a contact's messages as read: up to the one with this id (one of its two), or all. If they are read here, the
 * networks are told again, because they may have missed it. Throws contact_not_found and message_not_found.
 */
export async function readConversationUpTo(
  ctx: Context,
  tenant: Tenant,
  contact: Contact,
  messageId: string | null,
): Promise<ThreadRead> {
  const seq =
    messageId === null ? contact.last_seq : await findSeqInConversation(ctx.database, tenant.id, contact.id, messageId)
  if (seq === null) {
    throw new Problem(
      'message_not_found',
      `message_id "${excerpt(messageId ?? '')}" is not a message of the conversation with ${contact.chat_id}`,
    )
  }
  const read = await markThreadRead(ctx, tenant, contact.id, seq)
  if (read.marked > 0) return read
  return { marked: 0, isReported: await reportReadAgain(ctx, tenant, contact.id, seq) }
}
