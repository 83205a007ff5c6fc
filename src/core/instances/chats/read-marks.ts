import type { Context } from '../../../context.js'
import { newId } from '../../../lib/bytes/id.js'
import { isFromMe } from '../../../model/instances/gateway-message.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { markConversationRead, markConversationUnread } from '../../../storage/conversations/marks.js'
import { type ChannelMessage, findChannelMessages } from '../../../storage/instances/messages.js'
import { requireOpen } from '../manage/find.js'
import { command } from '../sessions/device.js'
import { keyOf } from './message-key.js'
import { requireNewestMessage } from './newest-message.js'

/** How long all that is told to the network may take. */
const TIMEOUT_MS = 20_000

/**
 * Marks messages that an instance received as read, at the network and here, with what came before them in their conversations. Our
 * own and those that are not known here need no mark. What the network refuses keeps nothing else from being marked. Throws
 * instance_not_open, upstream_rejected, outcome_unknown.
 */
export async function markMessagesRead(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  ids: readonly string[],
): Promise<void> {
  requireOpen(instance)
  const channelId = channelIdOf(instance)
  const found = await findChannelMessages(ctx.database, tenant.id, channelId, ids)
  const received = found.filter((message) => !isFromMe(message))
  const deadline = Date.now() + TIMEOUT_MS
  let refusal: Problem | null = null
  for (const messages of toCommands(instance, received)) {
    const refused = await markOnNetwork(ctx, tenant, instance, messages, deadline - Date.now())
    refusal ??= refused
    if (refused === null) await markStored(ctx, tenant, channelId, messages)
  }
  if (refusal !== null) throw refusal
}

/** A device is told of all at once. The business API takes one at a time, and those before it in its conversation with it. */
function toCommands({ kind }: Instance, messages: readonly ChannelMessage[]): (readonly ChannelMessage[])[] {
  if (kind !== 'business_api') return messages.length === 0 ? [] : [messages]
  const unnumbered = messages.filter(({ seq }) => seq === null)
  return [...newestOf(messages), ...unnumbered].map((message) => [message])
}

/** Resolves to why the network refused it; null where it did not. */
async function markOnNetwork(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  messages: readonly ChannelMessage[],
  timeoutMs: number,
): Promise<Problem | null> {
  try {
    await command(ctx, tenant, instance, { verb: 'mark_read', keys: messages.map(keyOf) }, timeoutMs)
    return null
  } catch (error) {
    if (error instanceof Problem && error.code === 'upstream_rejected') return error
    throw error
  }
}

async function markStored(
  ctx: Context,
  tenant: Tenant,
  channelId: string | null,
  messages: readonly ChannelMessage[],
): Promise<void> {
  const at = ctx.clock()
  for (const { contact_id: contactId, seq } of newestOf(messages)) {
    await ctx.database.transaction((transaction) =>
      markConversationRead(transaction, tenant.id, { contactId, channelId, seq }, at, newId()),
    )
  }
}

type NumberedMessage = ChannelMessage & { seq: number }

/** The newest of the messages of each contact. */
function newestOf(messages: readonly ChannelMessage[]): NumberedMessage[] {
  const newest = new Map<string, NumberedMessage>()
  for (const message of messages.filter((one): one is NumberedMessage => one.seq !== null)) {
    const known = newest.get(message.contact_id)
    if (known === undefined || known.seq < message.seq) newest.set(message.contact_id, message)
  }
  return [...newest.values()]
}

/** Marks a chat of an instance as having something unread, here alone. Throws instance_not_open, contact_not_found. */
export async function markChatUnread(ctx: Context, tenant: Tenant, instance: Instance, jid: string): Promise<void> {
  requireOpen(instance)
  const { contact_id } = await requireNewestMessage(ctx, tenant, instance, jid)
  await markConversationUnread(ctx.database, tenant.id, contact_id, newId())
}
