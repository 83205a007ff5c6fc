import type { ChatPresence } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { sleep } from '../../../lib/async/backoff.js'
import type { Contact } from '../../../model/contacts/contact.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { updateContact } from '../../../storage/contacts/contacts.js'
import { hasMessageOnChannel } from '../../../storage/instances/contacts.js'
import { type ChannelMessage, findChannelMessage } from '../../../storage/instances/messages.js'
import { command } from '../commands/device.js'
import { requireCapability } from '../manage/capabilities.js'
import { checkNumbers } from '../manage/check-numbers.js'
import { readRecipient } from '../send/recipient.js'
import { isOfChat, messageNotFound } from './change-message.js'
import { findChatContact } from './chat-contact.js'
import { keyOf } from './message-key.js'
import { requireNewestMessage } from './newest-message.js'
import { typeBelowNewest } from './show-typing.js'

/**
 * Shows a contact that the number is typing or recording for `delayMs`, then that it paused. A business number shows
 * typing only, below the newest message of the contact, and until an answer comes. Ends early if the signal aborts.
 * Throws invalid_field, contact_blocked, invalid_provider, and like `toValue`.
 */
export async function showPresence(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  {
    number,
    presence,
    delayMs,
    signal,
  }: { number: string; presence: ChatPresence; delayMs: number; signal: AbortSignal },
): Promise<void> {
  if (instance.kind === 'business_api' && presence === 'composing') {
    await showTypingByBusiness(ctx, tenant, instance, number)
    await sleep(delayMs, signal).catch(() => undefined)
    return
  }
  requireCapability(instance, 'show_presence')
  const { jid } = await readRecipient(ctx, tenant, 'number', number)
  await command(ctx, tenant, instance, { verb: 'show_presence', jid, presence })
  if (delayMs === 0) return
  await sleep(delayMs, signal).catch(() => undefined)
  await command(ctx, tenant, instance, { verb: 'show_presence', jid, presence: 'paused' })
}

async function showTypingByBusiness(ctx: Context, tenant: Tenant, instance: Instance, number: string): Promise<void> {
  const contact = await findChatContact(ctx, tenant, number)
  if (contact !== null && (await typeBelowNewest(ctx, tenant, instance, contact))) return
  throw new Problem(
    'not_supported',
    'The business API shows typing only below a message that the person wrote to this number, and there is none of late',
  )
}

/** Identifies a chat by its id or by one of its messages; the id takes precedence. */
export interface ChatReference {
  jid: string | null
  messageId: string | null
}

/**
 * Archives or unarchives a chat, on the network and in the database. A message on this instance then leaves it archived
 * if its phone does (see `recordIncomingMessages`). Returns the chat's id. Throws missing_field,
 * contact_not_found, message_not_found, not_supported, instance_not_open, upstream_rejected, outcome_unknown.
 */
export async function archiveChat(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { archive, ...reference }: ChatReference & { archive: boolean },
): Promise<string> {
  requireCapability(instance, 'archive')
  const message = await findLast(ctx, tenant, instance, reference)
  const key = keyOf(message)
  const last = { key, messageTimestamp: Math.floor(new Date(message.created_at).getTime() / 1_000) }
  await command(ctx, tenant, instance, { verb: 'archive', jid: key.remoteJid, archive, last })
  const change = { archived: archive, archivedThrough: channelIdOf(instance) }
  await updateContact(ctx.database, tenant.id, message.contact_id, change)
  return key.remoteJid
}

/** The network needs the last message of an archived chat: the given one if it is in the chat, otherwise the newest. */
async function findLast(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { jid, messageId }: ChatReference,
): Promise<ChannelMessage> {
  const named =
    messageId === null
      ? null
      : await findChannelMessage(ctx.database, tenant.id, channelIdOf(instance), { keyId: messageId })
  if (jid !== null) {
    if (named !== null && (await isOfChat(ctx, tenant, named, jid))) return named
    return requireNewestMessage(ctx, tenant, instance, jid)
  }
  if (named !== null) return named
  if (messageId !== null) throw messageNotFound(messageId)
  throw new Problem('missing_field', 'chat (or lastMessage.key) is required and must not be empty')
}

/**
 * The address of a contact's profile picture; without a number, the instance's own. Null if none is shown. Throws
 * missing_field, and like `showPresence`.
 */
export async function findProfilePicture(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  number: string | null,
): Promise<{ jid: string; url: string | null }> {
  requireCapability(instance, 'profile_picture')
  const { jid } = await readRecipient(ctx, tenant, 'number', numberOrOwn(instance, number))
  const { url } = (await command(ctx, tenant, instance, { verb: 'profile_picture', jid })) as { url: string | null }
  return { jid, url }
}

/**
 * A person's profile on the network, with the stored name. With `isOfInstanceAlone` the name is given only if the
 * contact has a message on the instance's channel. Throws like `findProfilePicture`.
 */
export async function findProfile(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { number: given, isOfInstanceAlone }: { number: string | null; isOfInstanceAlone: boolean },
) {
  requireCapability(instance, 'profile_picture')
  const number = numberOrOwn(instance, given)
  const [check] = await checkNumbers(ctx, tenant, instance, [number])
  const [{ jid, url }, contact] = await Promise.all([
    findProfilePicture(ctx, tenant, instance, number),
    findKnown(ctx, tenant, number, isOfInstanceAlone ? instance : null),
  ])
  return {
    jid: check?.jid ?? jid,
    exists: check?.exists ?? false,
    name: contact?.full_name ?? check?.name ?? null,
    url,
  }
}

/** The contact of a number; with `instance`, only if it has a message on the instance's channel. */
async function findKnown(
  ctx: Context,
  tenant: Tenant,
  number: string,
  instance: Instance | null,
): Promise<Contact | null> {
  const contact = await findChatContact(ctx, tenant, number)
  if (contact === null || instance === null) return contact
  return (await hasMessageOnChannel(ctx.database, tenant.id, channelIdOf(instance), contact.id)) ? contact : null
}

function numberOrOwn({ owner }: Instance, number: string | null): string {
  const asked = number ?? owner
  if (asked === null) throw new Problem('missing_field', 'number is required and must not be empty')
  return asked
}
