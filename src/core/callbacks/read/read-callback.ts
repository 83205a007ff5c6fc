import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { type Referral, readReferral } from '../../../model/contacts/referral.js'
import { describeInbound, readInboundFile } from '../../../model/messages/describe-inbound.js'
import type { MessageError, MessageStatus, NetworkDetails } from '../../../model/messages/message.js'
import type { AddressChange } from '../../contacts/resolution/address-change.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'
import { readAddressChange, readUserIdUpdates } from './read-address-change.js'
import { createSenderFinder, groupAddress, type NamedSender, readGroup, readId, readPerson } from './read-sender.js'
import { readSharedNumber } from './read-shared-number.js'

/** What only linked devices report about a message. */
export interface DeviceDetails {
  /** A member of the team typed it on the phone. */
  fromMe: boolean
  network: NetworkDetails
  /** The phone leaves chats in its archive when a message comes. */
  keepsArchived: boolean
}

/** One item of a callback, in the same form for all sources. */
export type CallbackItem =
  | {
      kind: 'message'
      from: UpstreamPerson
      profileName: string | null
      /** Both are absent in groups, and for linked devices. */
      parentUserId?: string | null
      username?: string | null
      upstreamId: string
      createdAt: Date | null
      message_type: string
      text: string
      media_type: string | null
      content: unknown
      /** Whether a file has to be fetched. */
      awaitsMedia: boolean
      contextUpstreamId: string | null
      isSystem: boolean
      /** Set if a linked device reported it. */
      device?: DeviceDetails
      /** The author of a group message; absent in private chats. */
      author?: NetworkDetails
      /** The change of address, if the message reports one. */
      addressChange: AddressChange | null
      /** The number that a sender without one shared when asked for it; absent for linked devices. */
      sharedNumber?: string | null
      /** The ad or post that the sender came from; absent for linked devices. */
      referral?: Referral | null
    }
  | {
      kind: 'reaction' | 'edit' | 'revoke'
      from: UpstreamPerson
      profileName: string | null
      parentUserId?: string | null
      username?: string | null
      upstreamId: string
      createdAt: Date | null
      /** The emoji or the new text; empty removes the reaction or revokes the message. */
      text: string
      replyToUpstreamId: string
      device?: DeviceDetails
      author?: NetworkDetails
    }
  | { kind: 'address_change'; addressChange: AddressChange; createdAt: Date | null }
  | {
      kind: 'status'
      upstreamId: string
      /** Our own id, if the upstream returned it. */
      messageId: string | null
      status: MessageStatus
      createdAt: Date | null
      error: MessageError | null
      recipient: UpstreamPerson
      /**
       * The message itself, recorded if no message has this id: it was typed on the phone, which creates ids of the
       * same form.
       */
      typed?: IncomingItem
    }

/** A message, or a change of one. */
export type IncomingItem = Exclude<CallbackItem, { kind: 'status' | 'address_change' }>

const MAX_CODE_LENGTH = 100

/**
 * Reads a stored callback, in order. The content is untrusted: parts that are not understood are skipped and stay in
 * the raw callback.
 */
export function readCallback(envelope: JsonObject): CallbackItem[] {
  const values = asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .filter((change) => change.field === 'messages' || change.field === 'user_id_update')
    .map((change) => asObject(change.value))
  const people = values.flatMap((value) => asObjects(value.contacts))
  return values.flatMap((value) => readValue(value, people))
}

function readValue(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  const findPerson = createSenderFinder(value, people)
  return [
    ...readUserIdUpdates(value).map(readUpdate),
    ...asObjects(value.messages).flatMap((message) => readMessage(message, findPerson(message)) ?? []),
    ...asObjects(value.statuses).flatMap((status) => readStatus(status, asObjects(value.contacts)) ?? []),
  ]
}

function readUpdate({ timestamp, ...addressChange }: AddressChange & { timestamp: unknown }): CallbackItem {
  return { kind: 'address_change', addressChange, createdAt: readTimestamp(timestamp) }
}

function readMessage(message: JsonObject, person: NamedSender): CallbackItem | null {
  const upstreamId = readId(message.id)
  const type = asText(message.type)?.slice(0, 64) ?? 'unknown'
  const addressChange = type === 'system' ? readAddressChange(message) : null
  const sender = addressChange?.from ?? { waId: person.waId, userId: person.userId }
  const groupId = readGroup(message)
  const isUnknown = isEmpty(sender) && (addressChange === null || isEmpty(addressChange.to))
  if (upstreamId === null || (isUnknown && groupId === null)) return null

  const createdAt = readTimestamp(message.timestamp)
  const common = { ...readChat(message, person, sender, groupId), upstreamId, createdAt }
  const change = readChange(type, asObject(message[type]))
  if (change) return { ...common, ...change }

  return {
    kind: 'message',
    ...common,
    message_type: type,
    ...describeInbound(type, message),
    awaitsMedia: readInboundFile(type, message[type]) !== null,
    contextUpstreamId: readId(asObject(message.context).id),
    isSystem: type === 'system',
    addressChange,
    sharedNumber: groupId === null && sender.waId === null ? readSharedNumber(message) : null,
    // That of a member says nothing about the group.
    referral: groupId === null ? readReferral(message) : null,
  }
}

/** The conversation that a message belongs to: that of its group, else that of its sender. */
function readChat(
  message: JsonObject,
  person: NamedSender,
  sender: UpstreamPerson,
  groupId: string | null,
): Pick<IncomingItem, 'from' | 'profileName' | 'parentUserId' | 'username' | 'author'> {
  if (groupId === null) {
    const { name: profileName, parentUserId, username } = person
    return { from: sender, profileName, parentUserId, username }
  }
  const { waId, userId, name } = person
  const participant = waId === null ? userId : `${waId}@s.whatsapp.net`
  return {
    from: { waId: null, userId: groupAddress(groupId) },
    profileName: asText(asObject(message.group).subject) ?? asText(message.group_subject),
    author: { ...(participant !== null && { participant }), ...(name !== null && { pushName: name }) },
  }
}

function isEmpty({ waId, userId }: UpstreamPerson): boolean {
  return waId === null && userId === null
}

/** A reaction, an edit or a revocation, which shows only on its target. */
function readChange(
  type: string,
  payload: JsonObject,
): { kind: 'reaction' | 'edit' | 'revoke'; text: string; replyToUpstreamId: string } | null {
  if (type !== 'reaction' && type !== 'edit' && type !== 'revoke') return null
  const replyToUpstreamId = readId(type === 'reaction' ? payload.message_id : payload.original_message_id)
  if (replyToUpstreamId === null) return null
  if (type === 'reaction') return { kind: type, text: asText(payload.emoji) ?? '', replyToUpstreamId }
  if (type === 'revoke') return { kind: type, text: '', replyToUpstreamId }
  if (!isJsonObject(payload.message)) return null
  const edited = payload.message
  const editedType = asText(edited.type) ?? 'text'
  return { kind: type, text: describeInbound(editedType, edited).text, replyToUpstreamId }
}

const STATUSES: Record<string, MessageStatus> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  // A voice note was played.
  played: 'read',
  failed: 'failed',
}

/**
 * The recipient of a status. In a group it is empty: the member who received the message is not the conversation's
 * contact.
 */
function readRecipient(status: JsonObject, people: JsonObject[]): UpstreamPerson {
  if (readGroup(status) !== null) return { waId: null, userId: null }
  const { waId, userId } = readPerson(status.recipient_id, status.recipient_user_id)
  const profile = people.find((one) => waId !== null && readPerson(one.wa_id, null).waId === waId)
  return { waId, userId: userId ?? readId(profile?.user_id) }
}

function readStatus(status: JsonObject, people: JsonObject[]): CallbackItem | null {
  const upstreamId = readId(status.id)
  const name = asText(status.status)
  const known = name !== null && Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined
  if (upstreamId === null || known === undefined) return null
  return {
    kind: 'status',
    upstreamId,
    messageId: asText(status.biz_opaque_callback_data),
    status: known,
    createdAt: readTimestamp(status.timestamp),
    error: known === 'failed' ? readError(status) : null,
    recipient: readRecipient(status, people),
  }
}

function readError(status: JsonObject): MessageError {
  const [error = {}] = asObjects(status.errors)
  const { code } = error
  const text = asText(asObject(error.error_data).details) ?? asText(error.message) ?? asText(error.title)
  return {
    code: typeof code === 'number' || typeof code === 'string' ? shorten(code) : 'unknown',
    text: text ?? 'WhatsApp gave no reason',
  }
}

/** Failures are counted by code, so codes are kept short. */
function shorten(code: number | string): number | string {
  return typeof code === 'number' ? code : code.slice(0, MAX_CODE_LENGTH)
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

/** Reads Unix seconds, as text or number; null for other values. */
function readTimestamp(value: unknown): Date | null {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LAST_SECOND)) return null
  return new Date(seconds * 1000)
}
