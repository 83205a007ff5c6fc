import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { beginningOf } from '../../../lib/text/text.js'
import { readTimestamp } from '../../../lib/text/timestamp.js'
import { type Referral, readReferral } from '../../../model/contacts/referral.js'
import { CALL, type Call, describeCall } from '../../../model/messages/call.js'
import { describeInbound, readInboundFile } from '../../../model/messages/describe-inbound.js'
import { describeGroupChange, GROUP, type GroupChange } from '../../../model/messages/group-change.js'
import { describeHandover, HANDOVER, type Handover } from '../../../model/messages/handover.js'
import type { MessageError, MessageStatus, NetworkDetails } from '../../../model/messages/message.js'
import type { Price } from '../../../model/messages/price.js'
import type { MessageExtras } from '../../../model/messages/shown/extras.js'
import type { KnownName } from '../../contacts/known-names.js'
import type { Preference } from '../../contacts/preferences.js'
import type { AddressChange } from '../../contacts/resolution/address-change.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'
import { readAddressBook } from './read-address-book.js'
import { readAddressChange, readUserIdUpdates } from './read-address-change.js'
import { readCalls } from './read-calls.js'
import { asReceived } from './read-echoes.js'
import { readGroups } from './read-groups.js'
import { readHandover } from './read-handover.js'
import { readPreferences } from './read-preferences.js'
import { readPrice } from './read-price.js'
import {
  createSenderFinder,
  groupAddress,
  isOfMember,
  type NamedSender,
  readGroup,
  readId,
  readPerson,
  readRecipientParent,
  UNNAMED_GROUP,
} from './read-sender.js'
import { readSharedNumber } from './read-shared-number.js'
import { readStandby } from './read-standby.js'

/** What only linked devices report about a message. */
export interface DeviceDetails {
  /** A member of the team typed it on the phone. */
  fromMe: boolean
  network: NetworkDetails
  /** The phone leaves chats in its archive when a message comes. */
  keepsArchived: boolean
}

/** Who sent a message of the business number that Parley did not send: a person on the phone, or the upstream's agent. */
type Sender = 'human-chat' | 'bot-chat'

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
      extras: MessageExtras | null
      /** Whether a file has to be fetched. */
      awaitsMedia: boolean
      contextUpstreamId: string | null
      isSystem: boolean
      /** Set if a linked device reported it. */
      device?: DeviceDetails
      sentBy?: Sender
      /** Set if the upstream's agent holds the conversation. */
      isStandby?: boolean
      /** The author of a group message; absent in private chats. */
      author?: NetworkDetails
      /** The upstream's id of the group, if it names it; absent in private chats, and for linked devices. */
      groupId?: string
      /** Set if it only says that a message has come; see storage/messages/incoming. */
      placeholder?: 'held' | 'told'
      /** The call or hand-over that it stands for. */
      call?: Call
      handover?: Handover
      /** What happened to a group of the business API. */
      groupChange?: GroupChange
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
      sentBy?: Sender
      isStandby?: boolean
      author?: NetworkDetails
    }
  | { kind: 'address_change'; addressChange: AddressChange; createdAt: Date | null }
  | { kind: 'preference'; preference: Preference; createdAt: Date | null }
  | { kind: 'known_name'; knownName: KnownName; createdAt: Date | null }
  | {
      kind: 'status'
      upstreamId: string
      /** Our own id, if the upstream returned it. */
      messageId: string | null
      status: MessageStatus
      createdAt: Date | null
      error: MessageError | null
      recipient: Recipient
      /** Absent if it says nothing about the price. */
      price?: Price
      /**
       * The message itself, recorded if no message has this id: it was typed on the phone, which creates ids of the
       * same form.
       */
      typed?: IncomingItem
    }

/** Who got a message. */
interface Recipient extends UpstreamPerson {
  /** Absent for linked devices. */
  parentUserId?: string | null
}

/** The kinds of items that are not about one message. */
type NotOfMessages = 'address_change' | 'preference' | 'known_name'

/** What a person did besides writing, or who it is. */
export type PersonItem = Extract<CallbackItem, { kind: NotOfMessages }>

/** A message, or a change of one. */
export type IncomingItem = Exclude<CallbackItem, { kind: 'status' | NotOfMessages }>

const MAX_CODE_LENGTH = 100
const MAX_TYPE_LENGTH = 64

/**
 * Reads a stored callback, in order. The content is untrusted: parts that are not understood are skipped and stay in
 * the raw callback.
 */
export function readCallback(envelope: JsonObject): CallbackItem[] {
  const changes = asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .map(({ field, value }) => ({ read: readerOf(asText(field) ?? ''), value: asObject(value) }))
  const people = changes.flatMap(({ read, value }) => (read ? asObjects(value.contacts) : []))
  return changes.flatMap(({ read, value }) => read?.(value, people) ?? [])
}

function readerOf(field: string) {
  return FIELDS.get(field) ?? (field === HISTORY_FIELD ? undefined : readUnknown)
}

/** Whether changes of this field have items. */
export function hasItems(field: string): boolean {
  return FIELDS.has(field)
}

/** What was written on a phone before its number was connected; read-phone-history reads it. */
export const HISTORY_FIELD = 'history'

/** The fields whose changes have items; other modules read the fields about templates, numbers and accounts. */
const FIELDS = new Map<string, (value: JsonObject, people: JsonObject[]) => CallbackItem[]>([
  ['messages', readValue],
  ['user_id_update', readValue],
  ['user_preferences', readWishes],
  ['calls', readCallValue],
  ['smb_message_echoes', readTyped],
  ['standby', readStandbyValue],
  ['messaging_handovers', readHandoverValue],
  ['smb_app_state_sync', readNames],
  ['group_lifecycle_update', readGroupValue],
  ['group_participants_update', readGroupValue],
  // As one page names it.
  ['group_participant_update', readGroupValue],
  ['group_settings_update', readGroupValue],
  ['group_status_update', readGroupValue],
])

/** The fields whose changes have items. */
export const ITEM_FIELDS: readonly string[] = [...FIELDS.keys()]

/** What a member of the team wrote on the phone of the business number; `from` is who got it. */
function readTyped(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  return readValue(asReceived(value), people).map((item) => ('from' in item ? { ...item, sentBy: 'human-chat' } : item))
}

/** A field that is not known: no message of a number is lost. */
function readUnknown(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  return isJsonObject(value.metadata) ? readValue(value, people) : []
}

/** Conversations that the upstream's agent holds: nobody else is to answer. */
function readStandbyValue(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  const { received, echoes } = readStandby(value)
  const findPerson = createSenderFinder({ messages: echoes.map(({ message }) => message) }, people)
  const answers = echoes.flatMap(({ message, sent }) => {
    const item = readMessage(message, findPerson(message))
    if (item === null || !('from' in item)) return []
    const common = { ...item, sentBy: 'bot-chat' as const }
    return [common.kind === 'message' ? { ...common, ...sent } : common]
  })
  return [...readValue(received, people), ...answers].map((item) =>
    'from' in item ? { ...item, isStandby: true } : item,
  )
}

/** A hand-over is a message of the conversation, which nobody wrote. */
function readHandoverValue(value: JsonObject): CallbackItem[] {
  const reported = readHandover(value)
  if (reported === null) return []
  const { id, person, handover, timestamp } = reported
  const notice = { message_type: HANDOVER, text: describeHandover(handover), content: handover, handover }
  return [{ ...unwrittenMessage(id, person, timestamp), ...notice }]
}

/** Changes of a group are messages of its conversation, which nobody wrote. */
function readGroupValue(value: JsonObject): CallbackItem[] {
  return readGroups(value).map(({ id, groupId, change, timestamp }) => {
    const from = { waId: null, userId: groupAddress(groupId) }
    const notice = { message_type: GROUP, text: describeGroupChange(change), content: change, groupChange: change }
    return { ...unwrittenMessage(id, from, timestamp), groupId, ...notice }
  })
}

/** Calls are messages of the conversation, which nobody wrote. */
function readCallValue(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  return readCalls(value, people).map(({ id, person, call, timestamp }) => {
    const { waId, userId, name: profileName, parentUserId, username } = person
    const notice = { message_type: CALL, text: describeCall(call), content: call, call }
    return { ...unwrittenMessage(id, { waId, userId }, timestamp), profileName, parentUserId, username, ...notice }
  })
}

/** The parts that all messages have in common that nobody wrote. */
function unwrittenMessage(upstreamId: string, from: UpstreamPerson, timestamp: unknown) {
  return {
    kind: 'message' as const,
    from,
    profileName: null,
    upstreamId,
    createdAt: readTimestamp(timestamp),
    media_type: null,
    extras: null,
    awaitsMedia: false,
    contextUpstreamId: null,
    isSystem: true,
    addressChange: null,
  }
}

/** Who is in the address book of the phone of the business number. */
function readNames(value: JsonObject): CallbackItem[] {
  return readAddressBook(value).map(({ timestamp, ...knownName }) => ({
    kind: 'known_name',
    knownName,
    createdAt: readTimestamp(timestamp),
  }))
}

/** What people chose in WhatsApp about the marketing messages of the organization. */
function readWishes(value: JsonObject, people: JsonObject[]): CallbackItem[] {
  return readPreferences(value, people).map(({ timestamp, ...preference }) => ({
    kind: 'preference',
    preference,
    createdAt: readTimestamp(timestamp),
  }))
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

/** Reads a message that `person` wrote, or a change of one; null if it has no id, or nobody is named. */
export function readMessage(received: JsonObject, person: NamedSender): CallbackItem | null {
  const { type, message } = readKind(received)
  const upstreamId = readId(message.id)
  const addressChange = type === 'system' ? readAddressChange(message) : null
  const sender = addressChange?.from ?? { waId: person.waId, userId: person.userId }
  const groupId = readGroup(message)
  const isUnknown = isEmpty(sender) && (addressChange === null || isEmpty(addressChange.to))
  if (upstreamId === null || (isUnknown && groupId === null)) return null

  const createdAt = readTimestamp(message.timestamp)
  const common = { ...readChat(message, person, sender, groupId), upstreamId, createdAt }
  const change = readChange(type, asObject(message[type]))
  if (change) return { ...common, ...change }

  const { extras, ...description } = describeInbound(type, message)
  return {
    kind: 'message',
    ...common,
    message_type: type,
    ...description,
    extras: addressChange ? { ...extras, address_change: { from: addressChange.from, to: addressChange.to } } : extras,
    awaitsMedia: readInboundFile(type, message[type]) !== null,
    contextUpstreamId: readId(asObject(message.context).id),
    isSystem: type === 'system',
    ...readPlaceholder(type, message),
    addressChange,
    sharedNumber: groupId === null && sender.waId === null ? readSharedNumber(message) : null,
    // That of a member says nothing about the group.
    referral: groupId === null ? readReferral(message) : null,
  }
}

/**
 * The type of a message. Some replies come without their type, and voice notes once had a type of their own, which is
 * read as the one of today.
 */
function readKind(message: JsonObject): { type: string; message: JsonObject } {
  const given = asText(message.type) ?? (isJsonObject(message.interactive) ? 'interactive' : 'unknown')
  const type = beginningOf(given, MAX_TYPE_LENGTH)
  if (type !== 'voice') return { type, message }
  return { type: 'audio', message: { ...message, audio: { ...asObject(message.voice), voice: true } } }
}

/** Types of messages that the upstream could not read, or of which it has not given the file yet. */
const UNREADABLE = new Set(['unsupported', 'unknown', 'media_placeholder', 'errors'])
/** The upstream's code for a message that the phone has not delivered yet. */
const UNAVAILABLE: readonly unknown[] = [131_060, '131060']

function readPlaceholder(type: string, { errors }: JsonObject): { placeholder?: 'held' | 'told' } {
  if (!UNREADABLE.has(type)) return {}
  return { placeholder: asObjects(errors).some(({ code }) => UNAVAILABLE.includes(code)) ? 'held' : 'told' }
}

/** The conversation that a message belongs to: that of its group, else that of its sender. */
function readChat(
  message: JsonObject,
  person: NamedSender,
  sender: UpstreamPerson,
  groupId: string | null,
): Pick<
  Extract<IncomingItem, { kind: 'message' }>,
  'from' | 'profileName' | 'parentUserId' | 'username' | 'author' | 'groupId'
> {
  if (groupId === null) {
    const { name: profileName, parentUserId, username } = person
    return { from: sender, profileName, parentUserId, username }
  }
  const { waId, userId, name } = person
  const participant = waId === null ? userId : `${waId}@s.whatsapp.net`
  return {
    from: { waId: null, userId: groupAddress(groupId) },
    profileName: asText(asObject(message.group).subject) ?? asText(message.group_subject),
    author: {
      ...(participant !== null && { participant }),
      ...(waId !== null && userId !== null && { participantAlt: userId }),
      ...(name !== null && { pushName: name }),
    },
    ...(groupId !== UNNAMED_GROUP && { groupId }),
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
function readRecipient(status: JsonObject, people: JsonObject[]): Recipient {
  if (readGroup(status) !== null) return { waId: null, userId: null, parentUserId: null }
  const { waId, userId } = readPerson(status.recipient_id, status.recipient_user_id)
  const profile = people.find((one) => waId !== null && readPerson(one.wa_id, null).waId === waId)
  const parentUserId = readRecipientParent(status) ?? readId(profile?.parent_user_id)
  return { waId, userId: userId ?? readId(profile?.user_id), parentUserId }
}

function readStatus(status: JsonObject, people: JsonObject[]): CallbackItem | null {
  const upstreamId = readId(status.id)
  const name = asText(status.status)
  const known = name !== null && Object.hasOwn(STATUSES, name) ? STATUSES[name] : undefined
  // The payment of an order and a call have words of their own, some of which are equal.
  const isOfMessage = status.type !== 'payment' && status.type !== 'call'
  if (upstreamId === null || known === undefined || !isOfMessage) return null
  // That one member of a group could not get it says nothing about the others.
  if (known === 'failed' && isOfMember(status)) return null
  const recipient = readRecipient(status, people)
  const price = readPrice(status, recipient)
  return {
    kind: 'status',
    upstreamId,
    messageId: asText(status.biz_opaque_callback_data),
    status: known,
    createdAt: readTimestamp(status.timestamp),
    error: known === 'failed' ? readError(status) : null,
    recipient,
    ...(price && { price }),
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
  return typeof code === 'number' ? code : beginningOf(code, MAX_CODE_LENGTH)
}
