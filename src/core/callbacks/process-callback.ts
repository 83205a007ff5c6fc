import type { Context } from '../../context.js'
import { isUniqueViolation } from '../../database/errors.js'
import { newId } from '../../lib/bytes/id.js'
import { OPTED_OUT } from '../../model/messages/message.js'
import { type Received, recordIncomingMessages, type Sender } from '../../storage/messages/incoming.js'
import { recordIncomingChange, recordIncomingReaction } from '../../storage/messages/incoming-changes.js'
import { type AppliedStatus, applyStatuses } from '../../storage/messages/statuses.js'
import { applyReply } from '../broadcasts/reply.js'
import { optOutByUpstream } from '../contacts/opt-outs.js'
import type { AddressChange } from '../contacts/resolution/address-change.js'
import { applyAddressChange } from '../contacts/resolution/address-change.js'
import { linkUserId } from '../contacts/resolution/link-user-id.js'
import { resolveContact } from '../contacts/resolution/resolve-contact.js'
import { applyConnectionChanges } from '../instances/manage/connection-changes.js'
import { applyTemplateChanges } from '../templates/changes.js'
import {
  type CallbackSource,
  type MessageItem,
  type ReadCallback,
  replyOf,
  type StatusItem,
  toIncomingMessage,
  toReportedStatus,
  toSender,
} from './items.js'
import type { CallbackItem, IncomingItem } from './read/read-callback.js'

/** The channel that a callback came through. */
interface CallbackChannel {
  organizationId: string
  /** Null: the organization's own number. */
  instanceId: string | null
  of: CallbackSource
}

/** How long callbacks that are processed one by one may take. */
export interface Pace {
  /** Whether there is time for more. */
  mayGoOn: () => boolean
  /** How many items of a callback were recorded when the time was over, by the callback's id. */
  recorded: Map<string, number>
}

/**
 * Records everything that a callback reports, one item after the other. Doing it again changes nothing. Resolves to false
 * if the time is over before all are recorded; it continues there. Throws if the callback could not be read.
 */
export async function processCallback(
  ctx: Context,
  organizationId: string,
  { callback, items, templateChanges, connectionChanges, problem }: ReadCallback,
  { mayGoOn, recorded }: Pace,
): Promise<boolean> {
  if (problem !== undefined) throw problem
  const { id, instanceId, receivedAt } = callback
  const first = recorded.get(id) ?? 0
  recorded.delete(id)
  for (let index = first; index < items.length; index++) {
    // At least one, so that it comes to an end.
    if (index > first && !mayGoOn()) {
      recorded.set(id, index)
      return false
    }
    await processItem(ctx, { organizationId, instanceId, of: callback }, items[index] as CallbackItem)
  }
  await applyTemplateChanges(ctx, organizationId, templateChanges)
  await applyConnectionChanges(ctx, organizationId, instanceId, connectionChanges, receivedAt)
  return true
}

async function processItem(ctx: Context, channel: CallbackChannel, item: CallbackItem): Promise<void> {
  if (item.kind === 'status') await recordStatus(ctx, channel, item)
  else if (item.kind !== 'address_change') await recordIncoming(ctx, channel, item)
  else await changeAddress(ctx, channel, item.addressChange, null, item.createdAt ?? ctx.clock())
}

async function recordStatus(ctx: Context, channel: CallbackChannel, item: StatusItem): Promise<void> {
  const { organizationId, instanceId, of } = channel
  const { userId } = item.recipient
  const [applied] = await applyStatuses(ctx.database, [toReportedStatus(ctx, organizationId, of, item)])
  const { messageId, contactId, isLinked } = applied as AppliedStatus
  if (item.error?.code === OPTED_OUT && messageId !== null) await optOutByUpstream(ctx, organizationId, messageId)
  if (contactId !== null && userId !== null && !isLinked) {
    const observation = { at: item.createdAt ?? ctx.clock(), instanceId }
    await linkUserId(ctx, organizationId, contactId, { ...item.recipient, userId }, observation)
  }
  if (messageId === null && item.typed) await recordIncoming(ctx, channel, item.typed)
}

/**
 * Maximum attempts to record a message if its contact, or a duplicate of it, is created at the same moment.
 */
const MAX_TRIES = 5

/** Records the message; if the statement does not know the sender, resolves the contact first. */
async function recordIncoming(ctx: Context, channel: CallbackChannel, item: IncomingItem): Promise<void> {
  const known = toSender(item)
  const observation = { at: item.createdAt ?? ctx.clock(), instanceId: channel.instanceId }
  const addressChange = item.kind === 'message' ? item.addressChange : null
  let contactId = addressChange && (await changeAddress(ctx, channel, addressChange, known.profileName, observation.at))
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    // A notice in a group is about one member, but belongs to the group.
    const sender = contactId === null || item.author ? known : { ...known, contactId }
    const received = await tryToRecord(ctx, channel, sender, item)
    if (received === 'recorded' || received === 'duplicate') return
    if (received === 'no_contact') {
      contactId = await resolveContact(ctx, channel.organizationId, item.from, known.profileName, observation)
    }
  }
  throw new Error(`the message ${item.upstreamId} could not be recorded: its contact keeps changing`)
}

/** Resolves to the id of the contact whose address changed. */
async function changeAddress(
  ctx: Context,
  { organizationId, instanceId }: CallbackChannel,
  addressChange: AddressChange,
  profileName: string | null,
  at: Date,
): Promise<string> {
  for (let attempt = 1; attempt <= MAX_TRIES; attempt++) {
    const contactId = await applyAddressChange(ctx, organizationId, addressChange, profileName, { at, instanceId })
    if (contactId !== null) return contactId
  }
  throw new Error('a change of address could not be applied: its contacts keep changing')
}

async function tryToRecord(
  ctx: Context,
  channel: CallbackChannel,
  sender: Sender,
  item: IncomingItem,
): Promise<Received | 'again'> {
  try {
    return await (item.kind === 'message'
      ? recordMessage(ctx, channel, sender, item)
      : recordChange(ctx, channel, sender, item))
  } catch (error) {
    if (isUniqueViolation(error)) return 'again'
    throw error
  }
}

/** The effect of a reply on broadcasts is recorded in the same transaction, so it happens exactly once. */
async function recordMessage(
  ctx: Context,
  { organizationId, of }: CallbackChannel,
  sender: Sender,
  item: MessageItem,
): Promise<Received> {
  const message = toIncomingMessage(ctx, of, item)
  const reply = replyOf(sender, message)
  const received = await ctx.database.transaction(async (transaction) => {
    const sent = { person: 0, sender, message, renamedEventId: newId() }
    const [result] = await recordIncomingMessages(transaction, organizationId, [sent])
    if (result === 'recorded' && reply) await applyReply(transaction, organizationId, message, reply)
    return result as Received
  })
  if (received === 'recorded' && message.awaitsMedia) ctx.wakeWorkers()
  return received
}

/** A reaction, an edit or a revocation. */
async function recordChange(
  ctx: Context,
  { organizationId, instanceId }: CallbackChannel,
  sender: Sender,
  item: Exclude<IncomingItem, MessageItem>,
): Promise<Received> {
  const change = {
    id: newId(),
    upstreamId: item.upstreamId,
    text: item.text,
    replyToUpstreamId: item.replyToUpstreamId,
    instanceId,
    sender_type: item.device?.fromMe ? ('human-chat' as const) : ('user-chat' as const),
    network: item.device?.network ?? item.author ?? null,
    created_at: item.createdAt ?? ctx.clock(),
  }
  const { kind } = item
  if (kind === 'reaction') return recordIncomingReaction(ctx.database, organizationId, sender, change, newId())
  return ctx.database.transaction((transaction) =>
    recordIncomingChange(transaction, organizationId, sender, kind, change, newId()),
  )
}
