import type { TurnContext } from '../../context.js'
import { isUuid, newId } from '../../lib/bytes/id.js'
import { asObjects } from '../../lib/text/json.js'
import { GROUP_SERVER } from '../../model/contacts/contact.js'
import { isNetworkId } from '../../model/contacts/user-id.js'
import type { Message, NetworkDetails } from '../../model/messages/message.js'
import type { CallbackNote } from '../../model/messages/trace.js'
import type { WaitingCallback } from '../../storage/callbacks/callbacks.js'
import type { IncomingMessage, Sender } from '../../storage/messages/incoming.js'
import type { ReportedStatus } from '../../storage/messages/statuses.js'
import { type Reply, readReply } from '../broadcasts/reply.js'
import type { AddressChange } from '../contacts/resolution/address-change.js'
import { personAddresses } from '../contacts/resolution/resolve-contact.js'
import {
  CONNECTION_FIELD,
  type ConnectionChange,
  readConnectionChanges,
} from '../instances/manage/connection-changes.js'
import { isTemplateField, readTemplateChanges, type TemplateChange } from '../templates/changes.js'
import { parseStoredBody } from './read/parse-body.js'
import { type CallbackItem, HISTORY_FIELD, hasItems, type IncomingItem, readCallback } from './read/read-callback.js'
import { readDeviceCallback } from './read/read-device-callback.js'
import { type ReportedNotice, readNotices } from './read/read-notices.js'
import { readNumbers } from './read/read-numbers.js'
import { bringsHistory } from './read/read-phone-history.js'

export type MessageItem = Extract<CallbackItem, { kind: 'message' }>
export type StatusItem = Extract<CallbackItem, { kind: 'status' }>

/** A callback with its items, in order. */
export interface ReadCallback {
  callback: WaitingCallback
  items: CallbackItem[]
  /** The addresses and message ids that the items name. */
  keys: string[]
  templateChanges: TemplateChange[]
  /** The ids of the business numbers that it is about. */
  numbers: string[]
  connectionChanges: ConnectionChange[]
  notices: ReportedNotice[]
  /** Whether it brings a part of a phone's history, which a job takes in. */
  hasHistory: boolean
  /** Why it could not be read; absent if it could. */
  problem?: unknown
}

/** Reads a stored callback. An erased body has no items. */
export function readItems(callback: WaitingCallback): ReadCallback {
  const { body, isDevice, instanceId } = callback
  const nothing = {
    callback,
    items: [],
    keys: [],
    templateChanges: [],
    numbers: [],
    connectionChanges: [],
    notices: [],
    hasHistory: false,
  }
  if (body.length === 0) return nothing
  try {
    const envelope = parseStoredBody(body)
    // core/instances/sessions/running-session stores the events of linked devices.
    const items = isDevice ? readDeviceCallback(asObjects(envelope.events)) : readCallback(envelope)
    const keys = [...new Set(items.flatMap(keysOf))]
    const connectionChanges = instanceId === null ? [] : readConnectionChanges(envelope)
    const templateChanges = readTemplateChanges(envelope)
    const numbers = isDevice ? [] : readNumbers(envelope)
    const notices = isDevice ? [] : readNotices(envelope, isKnownField)
    const hasHistory = !isDevice && bringsHistory(envelope)
    return { callback, items, keys, templateChanges, numbers, connectionChanges, notices, hasHistory }
  } catch (problem) {
    return { ...nothing, problem }
  }
}

/** Whether anything but readNotices reads the changes of a field. */
function isKnownField(field: string): boolean {
  return hasItems(field) || isTemplateField(field) || field === CONNECTION_FIELD || field === HISTORY_FIELD
}

/**
 * What an item names: all addresses of its person, or the ids of its message. Items that share a key are recorded in
 * the order of their arrival.
 */
export function keysOf(item: CallbackItem): readonly string[] {
  if (item.kind === 'status') {
    const { upstreamId, messageId, typed } = item
    return [upstreamId, ...(messageId === null ? [] : [messageId]), ...(typed ? keysOf(typed) : [])]
  }
  if (item.kind === 'address_change') return keysOfChange(item.addressChange)
  if (item.kind === 'preference') return personAddresses(item.preference.person).all
  if (item.kind === 'known_name') return personAddresses(item.knownName.person).all
  const changed = item.kind === 'message' && item.addressChange ? keysOfChange(item.addressChange) : []
  const waId = item.kind === 'message' ? (item.sharedNumber ?? null) : null
  const shared = personAddresses({ waId, userId: null }).all
  // The statuses of a message that Parley did not send itself come after it.
  const sent = isSent(item) ? [item.upstreamId] : []
  return [...personAddresses(item.from).all, ...changed, ...shared, ...sent]
}

function keysOfChange({ from, to }: AddressChange): readonly string[] {
  return [...personAddresses(from).all, ...personAddresses(to).all]
}

/** The sender of an item, whose contact the statements find by the addresses. */
export function toSender(item: IncomingItem): Sender {
  const { number, all: addresses } = personAddresses(item.from)
  const required = [
    ...(number ? [number.digits] : []),
    ...(item.from.userId === null ? [] : [`user:${item.from.userId}`]),
  ]
  // A message typed on the phone carries the name of the phone's owner.
  const profileName = item.device?.fromMe ? null : item.profileName
  const { userId: id } = item.from
  const userId = id === null || isNetworkId(id) ? null : id
  const { parentUserId = null, username = null } = item
  const known = { profileName, userId, parentUserId, username }
  return { addresses, required, hasNumber: number !== null, contactId: null, ...known }
}

/** Who wrote the message, or the change of one. */
export function senderTypeOf({ device, sentBy }: IncomingItem): 'user-chat' | 'human-chat' | 'bot-chat' {
  return sentBy ?? (device?.fromMe ? 'human-chat' : 'user-chat')
}

/** Whether the organization wrote it, but not with Parley. */
export function isSent(item: IncomingItem): boolean {
  return senderTypeOf(item) !== 'user-chat'
}

/** How the network has the item; what was written on the phone of a business number is marked, as for linked devices. */
export function networkOf({ device, author, sentBy }: IncomingItem): NetworkDetails | null {
  return device?.network ?? author ?? (sentBy === 'human-chat' ? { fromPhone: true } : null)
}

export function handledBy({ isStandby = false }: IncomingItem): Message['handled_by'] {
  return isStandby ? 'upstream_agent' : null
}

export function toIncomingMessage(
  ctx: Pick<TurnContext, 'clock'>,
  of: WaitingCallback,
  item: MessageItem,
): IncomingMessage {
  const { instanceId, traceparent } = of
  const { device, call, handover, isSystem, isStandby = false, referral = null, groupId } = item
  const isWritten = !isSystem && !isSent(item)
  const id = newId()
  const createdAt = item.createdAt ?? ctx.clock()
  return {
    id,
    eventId: newId(),
    upstreamId: item.upstreamId,
    instanceId,
    sender_type: isSystem ? 'system' : senderTypeOf(item),
    message_type: item.message_type,
    text: item.text,
    media_type: item.media_type,
    content: item.content,
    extras: item.extras,
    awaitsMedia: item.awaitsMedia,
    contextUpstreamId: item.contextUpstreamId,
    network: networkOf(item),
    keepsArchived: device?.keepsArchived ?? false,
    opensWindow: isWritten || call?.direction === 'inbound',
    isToNumber: device === undefined,
    isNews: (isWritten && !isStandby) || call?.outcome === 'missed' || handover?.holder === 'us',
    handled_by: handledBy(item),
    placeholder: item.placeholder ?? null,
    referral: referral && { at: createdAt.toISOString(), message_id: id, ...referral },
    businessGroup: groupId === undefined ? null : { id: groupId, instance_id: instanceId },
    created_at: createdAt,
    note: callbackNote(ctx, of),
    traceparent,
  }
}

function callbackNote(ctx: Pick<TurnContext, 'clock'>, { id, receivedAt }: WaitingCallback): CallbackNote {
  return { k: 'callback', id, at: receivedAt.getTime(), done: ctx.clock().getTime() }
}

/**
 * What the message means for broadcasts, if anything. A group is not a recipient of broadcasts, and the wish of one
 * member is not the wish of all.
 */
export function replyOf(sender: Sender, message: IncomingMessage): Reply | null {
  return sender.addresses.some((address) => address.endsWith(GROUP_SERVER)) ? null : readReply(message)
}

export function toReportedStatus(
  ctx: TurnContext,
  organizationId: string,
  of: WaitingCallback,
  item: StatusItem,
): ReportedStatus {
  const { status, createdAt } = item
  const { waId, userId } = item.recipient
  return {
    organizationId,
    instanceId: of.instanceId,
    upstreamId: item.upstreamId,
    messageId: item.messageId !== null && isUuid(item.messageId) ? item.messageId : null,
    status,
    at: createdAt ?? ctx.clock(),
    error: item.error,
    price: item.price ?? null,
    alias: waId,
    userAddress: userId === null ? null : `user:${userId}`,
    eventIds: [newId(), newId()],
    note: { ...callbackNote(ctx, of), status, ...(createdAt !== null && { said: createdAt.getTime() }) },
  }
}
