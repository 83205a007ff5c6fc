import type { DeviceCommand, MessageKey, Sent } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { isFromMe } from '../../../model/instances/gateway-message.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { type ChannelMessage, findChannelMessage } from '../../../storage/instances/messages.js'
import { changeOwnMessage } from '../../../storage/messages/own-changes.js'
import { heldBy } from '../../organizations/legal-hold.js'
import { command } from '../commands/device.js'
import { requireCapability } from '../manage/capabilities.js'
import { findChatContact } from './chat-contact.js'
import { keyOf } from './message-key.js'

/** Identifies the message to change, by its id and by the chats (JIDs or numbers) that the request says it is in. */
export interface MessageReference {
  keyId: string
  chats: readonly string[]
}

/**
 * Changes the text of a message that an instance sent, on the network and in the database. Returns the change as sent
 * to the network. Throws legal_hold, message_not_found, invalid_field, not_supported, instance_not_open,
 * upstream_rejected, outcome_unknown.
 */
export function editMessage(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  message: MessageReference,
  text: string,
): Promise<Sent> {
  return change(ctx, tenant, instance, message, text, (key) => ({ verb: 'edit_message', key, text }))
}

/**
 * Deletes a message that an instance sent for everyone, on the network and in the database. Throws like `editMessage`.
 */
export function revokeMessage(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  message: MessageReference,
): Promise<Sent> {
  return change(ctx, tenant, instance, message, '', (key) => ({ verb: 'delete_message', key }))
}

async function change(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { keyId, chats }: MessageReference,
  text: string,
  toCommand: (key: MessageKey) => Extract<DeviceCommand, { verb: 'edit_message' | 'delete_message' }>,
): Promise<Sent> {
  if (tenant.legal_hold !== null) throw heldBy(tenant.legal_hold)
  requireCapability(instance, text === '' ? 'delete_message' : 'edit_message')
  const message = await findChannelMessage(ctx.database, tenant.id, channelIdOf(instance), keyId)
  if (message === null) throw messageNotFound(keyId)
  for (const chat of chats) if (!(await isOfChat(ctx, tenant, message, chat))) throw messageNotFound(keyId)
  requireOwn(message, keyId)
  const sent = (await command(ctx, tenant, instance, toCommand(keyOf(message)))) as Sent
  await ctx.database.transaction((transaction) => changeOwnMessage(transaction, tenant.id, message, text))
  return sent
}

/** True if a JID or number names the chat of a message. */
export async function isOfChat(ctx: Context, tenant: Tenant, message: ChannelMessage, chat: string): Promise<boolean> {
  if (chat === keyOf(message).remoteJid) return true
  return (await findChatContact(ctx, tenant, chat))?.id === message.contact_id
}

function requireOwn(message: ChannelMessage, keyId: string): void {
  if (isFromMe(message)) return
  throw new Problem('invalid_field', `The message ${keyId} was received: only messages that were sent can be changed`)
}

export function messageNotFound(keyId: string): Problem {
  return new Problem('message_not_found', `There is no message ${keyId.slice(0, 128)} on this instance`)
}
