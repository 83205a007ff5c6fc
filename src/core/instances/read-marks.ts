import type { MessageKey } from '../../channels/device.js'
import type { Context } from '../../context.js'
import { newId } from '../../lib/id.js'
import { isFromMe } from '../../model/gateway-message.js'
import { type Instance, lineIdOf } from '../../model/instance.js'
import type { Tenant } from '../../model/organization.js'
import { Problem } from '../../model/problem.js'
import { markConversationRead, markConversationUnread } from '../../storage/conversation-marks.js'
import { findLineMessage, type LineMessage } from '../../storage/instance-messages.js'
import { findChatContact } from './chat-contact.js'
import { command } from './device.js'
import { requireOpen } from './find.js'
import { keyOf } from './message-key.js'

/**
 * Marks messages that an instance received as read, at the network and here, with what came before them in their conversations. Our
 * own and those that are not known here need no mark. Throws instance_not_open, upstream_rejected, outcome_unknown.
 */
export async function markMessagesRead(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  ids: readonly string[],
): Promise<void> {
  requireOpen(instance)
  const lineId = lineIdOf(instance)
  const found = await Promise.all([...new Set(ids)].map((id) => findLineMessage(ctx.database, tenant.id, lineId, id)))
  const received = found.filter((message): message is LineMessage => message !== null && !isFromMe(message))
  if (received.length === 0) return
  const keys: MessageKey[] = received.map(keyOf)
  await command(ctx, tenant, instance, { verb: 'mark_read', keys })
  const at = ctx.clock()
  for (const [contactId, seq] of newestOf(received)) {
    await ctx.database.transaction((transaction) =>
      markConversationRead(transaction, tenant.id, contactId, seq, at, newId()),
    )
  }
}

/** The number of the newest message of each contact. */
function newestOf(messages: readonly LineMessage[]): Map<string, number> {
  const newest = new Map<string, number>()
  for (const { contact_id: contactId, seq } of messages) {
    if (seq !== null) newest.set(contactId, Math.max(seq, newest.get(contactId) ?? 0))
  }
  return newest
}

/** Marks a chat as having something unread, here alone. Throws instance_not_open, contact_not_found. */
export async function markChatUnread(ctx: Context, tenant: Tenant, instance: Instance, jid: string): Promise<void> {
  requireOpen(instance)
  const contact = await findChatContact(ctx, tenant, jid)
  if (contact === null) throw new Problem('contact_not_found', `There is no chat with ${jid.slice(0, 64)}`)
  await markConversationUnread(ctx.database, tenant.id, contact.id, newId())
}
