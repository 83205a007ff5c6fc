import type { Device } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { isFromMe } from '../../../model/instances/gateway-message.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { markConversationRead, markConversationUnread } from '../../../storage/conversations/marks.js'
import { type ChannelMessage, findChannelMessages } from '../../../storage/instances/messages.js'
import { openDevice, toValue } from '../commands/device.js'
import { requireOpen } from '../manage/find.js'
import { keyOf } from './message-key.js'
import { requireNewestMessage } from './newest-message.js'

/** Maximum time for all calls to the network. */
const TIMEOUT_MS = 20_000

/**
 * Marks received messages and all earlier ones of their conversations as read, on the network and in the database. Own
 * and unknown messages are ignored. A refusal by the network does not stop the rest. Throws instance_not_open,
 * upstream_rejected, outcome_unknown.
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
  const leftMs = startCountdown(TIMEOUT_MS)
  let refusal: Problem | null = null
  for (const messages of toCommands(instance, received)) {
    const refused = await markOnNetwork(openDevice(ctx, tenant, instance), messages, leftMs())
    refusal ??= refused
    if (refused === null) await markStored(ctx, tenant, channelId, messages)
  }
  if (refusal !== null) throw refusal
}

/**
 * A device takes all messages at once. The business API takes one at a time and also marks the earlier ones of its
 * conversation.
 */
function toCommands({ kind }: Instance, messages: readonly ChannelMessage[]): (readonly ChannelMessage[])[] {
  if (kind !== 'business_api') return messages.length === 0 ? [] : [messages]
  const unnumbered = messages.filter(({ seq }) => seq === null)
  return [...newestOf(messages), ...unnumbered].map((message) => [message])
}

/** Returns the network's refusal, or null. */
async function markOnNetwork(
  device: Device,
  messages: readonly ChannelMessage[],
  timeoutMs: number,
): Promise<Problem | null> {
  try {
    toValue(await device({ verb: 'mark_read', keys: messages.map(keyOf) }, timeoutMs))
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
      markConversationRead(transaction, tenant.id, { contactId, channelId, seq }, at),
    )
  }
}

type NumberedMessage = ChannelMessage & { seq: number }

/** The newest message of each contact. */
function newestOf(messages: readonly ChannelMessage[]): NumberedMessage[] {
  const newest = new Map<string, NumberedMessage>()
  for (const message of messages.filter((one): one is NumberedMessage => one.seq !== null)) {
    const known = newest.get(message.contact_id)
    if (known === undefined || known.seq < message.seq) newest.set(message.contact_id, message)
  }
  return [...newest.values()]
}

/** Marks a chat of an instance as unread, in the database only. Throws instance_not_open, contact_not_found. */
export async function markChatUnread(ctx: Context, tenant: Tenant, instance: Instance, jid: string): Promise<void> {
  requireOpen(instance)
  const { contact_id } = await requireNewestMessage(ctx, tenant, instance, jid)
  await markConversationUnread(ctx.database, tenant.id, contact_id)
}
