import type { Context } from '../../../context.js'
import { isForeignKeyViolation, isUniqueViolation } from '../../../database/errors.js'
import { sleep } from '../../../lib/async/backoff.js'
import { startCountdown } from '../../../lib/async/timeout.js'
import { newId } from '../../../lib/bytes/id.js'
import { excerpt } from '../../../lib/text/text.js'
import { type Chat, chatOf } from '../../../model/instances/gateway-message.js'
import { channelIdOf, type Instance } from '../../../model/instances/instance.js'
import type { Cause } from '../../../model/messages/cause.js'
import type { MessageContent } from '../../../model/messages/content.js'
import type { ShownMessage } from '../../../model/messages/message.js'
import type { Tenant } from '../../../model/organizations/organization.js'
import { Problem } from '../../../model/problem.js'
import { insertContact } from '../../../storage/contacts/contacts.js'
import type { FileConversion } from '../../media/convert.js'
import type { Channel } from '../../messages/send/channel.js'
import type { SendResult } from '../../messages/send/outcome.js'
import { checkMessage, type SendCommand, sendMessage } from '../../messages/send/send.js'
import { withConverted } from '../../messages/send/send-converted.js'
import { findTemplateCategory } from '../../templates/templates.js'
import { openDevice } from '../commands/device.js'
import { checkSupport } from '../manage/capabilities.js'
import { requireOpen } from '../manage/find.js'
import { instanceChannel } from './instance-channel.js'
import type { GatewayRecipient } from './recipient.js'

/** A message to send for a client of the gateway. */
export interface InstanceSend {
  id: string
  recipient: GatewayRecipient
  content: MessageContent
  /** The format that its file is converted to; null: none. */
  conversion: FileConversion | null
  /** The file's field name in errors. */
  fileField: string
  replyTo: SendCommand['replyTo']
  /** Time for which typing or recording is shown before the message is sent. */
  delayMs: number
  /** Aborted when the client disconnects; the message is not sent then. */
  signal: AbortSignal
  cause: Cause
}

/** A message with its chat. */
export interface MessageInChat {
  message: ShownMessage
  chat: Chat
}

/** The command of a send by an instance. */
type InstanceCommand = SendCommand & { to: GatewayRecipient }

/** Phones forget the presence after a while. */
const SHOW_AGAIN_MS = 10_000
const SHOW_TIMEOUT_MS = 5_000

/**
 * Sends a message through an instance; an unknown recipient becomes a contact. Throws like sendMessage, and
 * instance_not_open, not_supported, invalid_field, invalid_media, invalid_provider; then nothing is sent.
 */
export async function sendByInstance(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  send: InstanceSend,
): Promise<SendResult> {
  const { recipient } = send
  checkSupport(instance.kind, send.content)
  requireOpen(instance)
  const channel = instanceChannel(ctx, tenant, instance)
  if (recipient.kind === 'lid' && !channel.usesJids) await checkKnownNumber(ctx, tenant, recipient)
  if (recipient.kind === 'group' && !channel.usesJids) await checkKnownGroup(ctx, tenant, recipient)
  const command = { ...commandOf(send), isPromotional: await isPromotional(ctx, tenant, instance, send.content) }
  // Before the delay and before the file is fetched.
  if (send.conversion !== null || send.delayMs > 0) {
    await checkMessage(ctx, tenant, channel, { command, inMs: send.delayMs }).catch((error: unknown) =>
      ignoreUnknownContact(error, command),
    )
  }
  await showPresence(ctx, tenant, instance, send)
  return withConverted(ctx, tenant, send, async (content) => {
    if (send.signal.aborted) throw hungUp()
    return sendToContact(ctx, tenant, channel, { ...command, content })
  })
}

/** A sent message in its current state; null if none was recorded under the id. */
export async function findSent(ctx: Context, organizationId: string, id: string): Promise<MessageInChat | null> {
  const found = await ctx.lookUp.message({ organizationId, id })
  return found && { message: found.message, chat: chatOf(found.contact) }
}

function commandOf({
  id,
  recipient,
  replyTo,
  content,
  fileField,
  cause,
}: InstanceSend): Omit<InstanceCommand, 'isPromotional'> {
  return { id, to: recipient, replyTo, content, fileField, memberId: null, recipient: null, cause }
}

/**
 * The business API cannot resolve ids of people who hide their number; the number must be known. Throws not_supported.
 */
async function checkKnownNumber(ctx: Context, tenant: Tenant, { forms, given }: GatewayRecipient): Promise<void> {
  const contact = await ctx.lookUp.contact({ organizationId: tenant.id, addresses: forms })
  if (contact !== null && contact.phone_number !== null) return
  throw new Problem(
    'not_supported',
    `The business API does not know the id ${excerpt(given)}, which hides a number: give the number, or use a linked device`,
  )
}

/** The business API only sends to groups that its number is in, which are known from their callbacks. Throws not_supported. */
async function checkKnownGroup(ctx: Context, tenant: Tenant, { forms, given }: GatewayRecipient): Promise<void> {
  const contact = await ctx.lookUp.contact({ organizationId: tenant.id, addresses: forms })
  // Groups that only devices have sent to are contacts, too.
  if (contact?.business_group) return
  throw new Problem(
    'not_supported',
    `No group ${excerpt(given)} has written to this number, or was reported by WhatsApp: the business API sends only to groups that its number is in. For other groups, use a linked device`,
  )
}

/**
 * True if contacts who opted out of broadcasts must not get it. Templates of unknown category, such as those of other
 * accounts, count as promotional.
 */
async function isPromotional(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  content: MessageContent,
): Promise<boolean> {
  if (content.type !== 'raw_template') return false
  const isOfOtherAccount = instance.business_account_id !== tenant.upstream?.business_account_id
  if (channelIdOf(instance) !== null && isOfOtherAccount) return true
  const category = await findTemplateCategory(ctx, tenant, content.name, content.language)
  return category === null || category === 'MARKETING'
}

/** Shows typing or recording in the chat for the requested time, if the channel can. */
async function showPresence(
  ctx: Context,
  tenant: Tenant,
  instance: Instance,
  { recipient, content, delayMs, signal }: InstanceSend,
): Promise<void> {
  const presence = content.type === 'audio' ? 'recording' : 'composing'
  const leftMs = startCountdown(delayMs)
  while (leftMs() > 0) {
    // The message is sent even if the channel cannot show it.
    await openDevice(ctx, tenant, instance)({ verb: 'show_presence', jid: recipient.jid, presence }, SHOW_TIMEOUT_MS)
    await sleep(Math.min(SHOW_AGAIN_MS, leftMs()), signal).catch(() => {
      throw hungUp()
    })
  }
}

/** The client is gone and does not see it; it only ends the request. */
function hungUp(): Problem {
  return new Problem('service_unavailable', 'The client hung up before the message was sent: it is not sent')
}

async function sendToContact(
  ctx: Context,
  tenant: Tenant,
  channel: Channel,
  command: InstanceCommand,
): Promise<SendResult> {
  try {
    return await sendMessage(ctx, tenant, channel, command)
  } catch (error) {
    ignoreUnknownContact(error, command)
  }
  await createContact(ctx, tenant, command.to)
  return sendMessage(ctx, tenant, channel, command)
}

/** Ignores contact_not_found if a contact can be created; throws all other errors. */
function ignoreUnknownContact(error: unknown, { to: recipient, replyTo }: InstanceCommand): void {
  if (!(error instanceof Problem) || error.code !== 'contact_not_found') throw error
  if (replyTo !== null) throw unknownMessage(replyTo)
  if (recipient.kind === 'chat_id' || recipient.kind === 'user') throw unknownPerson(recipient)
}

/** A chat id without a contact leads nowhere on the network, and a user id belongs to one business. */
function unknownPerson({ digits, userId }: GatewayRecipient): Problem {
  const message =
    userId === undefined ? `No contact has the chat id ${digits} any more` : `No contact has the user id ${userId}`
  return new Problem('contact_not_found', message, { chat_id: digits })
}

/** An unknown contact has no messages to reply to. */
function unknownMessage({ id, field }: NonNullable<SendCommand['replyTo']>): Problem {
  return new Problem('message_not_found', `${field} "${id}" is not a message of the conversation`)
}

async function createContact(ctx: Context, tenant: Tenant, { kind, digits, forms }: GatewayRecipient): Promise<void> {
  try {
    await insertContact(ctx.database, tenant.id, {
      id: newId(),
      eventId: newId(),
      chat_id: digits,
      phone_number: kind === 'phone' ? `+${digits}` : null,
      user_id: null,
      addresses: forms,
      full_name: null,
      email: null,
      tags: [],
      allow_broadcast: true,
      source: { type: 'gateway_send', created_at: ctx.clock().toISOString() },
    })
  } catch (error) {
    if (isForeignKeyViolation(error)) {
      throw new Problem('organization_not_found', 'The organization of this API key has just been deleted')
    }
    // Another request has created the contact meanwhile.
    if (!isUniqueViolation(error)) throw error
  }
}
