import { businessDevice } from '../../../channels/business-device.js'
import type { Device } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { excerpt } from '../../../lib/text/text.js'
import { type Contact, isGroup } from '../../../model/contacts/contact.js'
import { jidOf } from '../../../model/instances/gateway-message.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { markConversationRead } from '../../../storage/conversations/marks.js'
import { type ChannelMessage, findChannelMessages, findNewestWritten } from '../../../storage/instances/messages.js'
import { contactBlocked } from '../../contacts/find.js'
import { openBusinessNumber, requireUpstream } from '../../organizations/business-number.js'
import { openDevice, toValue } from '../commands/device.js'
import { requireInstance, requireOpen } from '../manage/find.js'
import { keyOf } from './message-key.js'

/** Who is to see that somebody types, and where. */
export interface Typing {
  contact: Contact
  /** The received message that is answered, by one of its two ids; null: the newest one. */
  messageId: string | null
  /** The name of the instance; null: the organization's own number. */
  instance: string | null
}

const TIMEOUT_MS = 10_000

/**
 * Shows typing to a contact. A business number shows it below a received message, which becomes read by it. Throws
 * contact_blocked, message_not_found (nothing was received there), contact_unreachable, instance_not_found,
 * invalid_provider, and like `toValue`.
 */
export async function showTyping(ctx: Context, tenant: Tenant, typing: Typing): Promise<void> {
  const { contact } = typing
  if (contact.blocked) throw contactBlocked(contact.chat_id)
  const channel = await openTypingChannel(ctx, tenant, typing.instance)
  if (channel.isBusiness && isGroup(contact)) {
    throw new Problem(
      'not_supported',
      `${contact.chat_id} is a group, and WhatsApp's business API shows typing to people only`,
    )
  }
  if (channel.isBusiness) {
    await typeBelow(ctx, tenant, channel, await requireReceived(ctx, tenant, channel.channelId, typing))
  } else {
    const jid = jidOnNetwork(contact)
    toValue(await channel.device({ verb: 'show_presence', jid, presence: 'composing' }, TIMEOUT_MS))
  }
}

/**
 * Shows typing to a contact below the newest message that it wrote to a business number. Resolves to false if there is
 * none. Throws contact_blocked, invalid_provider, and like `toValue`.
 */
export async function typeBelowNewest(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  contact: Contact,
): Promise<boolean> {
  if (contact.blocked) throw contactBlocked(contact.chat_id)
  const channelId = channelIdOf(instance)
  const message = await findNewestWritten(ctx.database, contact, channelId)
  if (message === null) return false
  await typeBelow(ctx, tenant, { device: openDevice(ctx, tenant, instance), channelId }, message)
  return true
}

/** A device with the id of its channel. */
interface TypingChannel {
  device: Device
  channelId: string | null
}

/** The JID of a contact that a device can reach. */
function jidOnNetwork(contact: Contact): string {
  if (contact.phone_number !== null || contact.network_id !== null) return jidOf(contact)
  throw new Problem(
    'contact_unreachable',
    `${contact.chat_id} has a WhatsApp user id only, which business numbers reach: show it through one`,
    { chat_id: contact.chat_id },
  )
}

async function typeBelow(
  ctx: Context,
  tenant: Tenant,
  { device, channelId }: TypingChannel,
  message: ChannelMessage,
): Promise<void> {
  toValue(await device({ verb: 'mark_read', keys: [keyOf(message)], isTyping: true }, TIMEOUT_MS))
  const { contact_id: contactId, seq } = message
  if (seq === null) return
  await ctx.database.transaction((transaction) =>
    markConversationRead(transaction, tenant.id, { contactId, channelId, seq }, ctx.clock()),
  )
}

async function openTypingChannel(
  ctx: Context,
  tenant: Tenant,
  name: string | null,
): Promise<TypingChannel & { isBusiness: boolean }> {
  if (name === null) {
    const number = openBusinessNumber(ctx, tenant.id, requireUpstream(tenant))
    return { device: businessDevice(ctx.upstream, number), channelId: null, isBusiness: true }
  }
  const instance = await requireInstance(ctx, tenant.id, name)
  requireOpen(instance)
  const device = openDevice(ctx, tenant, instance)
  return { device, channelId: channelIdOf(instance), isBusiness: instance.kind === 'business_api' }
}

async function requireReceived(
  ctx: Context,
  tenant: Tenant,
  channelId: string | null,
  { contact, messageId }: Typing,
): Promise<ChannelMessage> {
  const [message] =
    messageId === null
      ? [await findNewestWritten(ctx.database, contact, channelId)]
      : await findChannelMessages(ctx.database, tenant.id, channelId, [messageId])
  if (message && message.contact_id === contact.id && message.sender_type === 'user-chat') return message
  const what =
    messageId === null
      ? `${contact.chat_id} has written nothing to this number lately`
      : `message_id "${excerpt(messageId)}" is not a message that ${contact.chat_id} wrote to this number`
  throw new Problem('message_not_found', `${what}: WhatsApp shows typing below a received message only`)
}
