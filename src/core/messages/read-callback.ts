import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../lib/json.js'
import { toStorableDeep } from '../../lib/text.js'
import type { MessageError, MessageStatus, NetworkDetails } from '../../model/message.js'
import { describeInbound, readInboundFile } from './describe-inbound.js'

/** Who sent a message, or to whom a status belongs: a phone number's digits, the upstream's user id, or both. */
export interface UpstreamPerson {
  waId: string | null
  userId: string | null
}

/** What only a linked device knows of a message. */
export interface DeviceDetails {
  /** A member of the team typed it on the phone. */
  fromMe: boolean
  network: NetworkDetails
}

/** One thing that a callback tells, read out of whatever shape it came in. */
export type CallbackItem =
  | {
      kind: 'message'
      from: UpstreamPerson
      profileName: string | null
      upstreamId: string
      createdAt: Date | null
      message_type: string
      text: string
      media_type: string | null
      content: unknown
      /** Whether it comes with a file that is to be fetched. */
      awaitsMedia: boolean
      contextUpstreamId: string | null
      isSystem: boolean
      /** What a linked device tells of it. */
      device?: DeviceDetails
      /** The person's new address, when the message says that it changed. */
      movedTo: UpstreamPerson | null
    }
  | {
      kind: 'reaction' | 'edit' | 'revoke'
      from: UpstreamPerson
      profileName: string | null
      upstreamId: string
      createdAt: Date | null
      /** The emoji, or the new text; empty takes back. */
      text: string
      aboutUpstreamId: string
      device?: DeviceDetails
    }
  | {
      kind: 'status'
      upstreamId: string
      /** Our own id, where it came back. */
      messageId: string | null
      status: MessageStatus
      createdAt: Date | null
      error: MessageError | null
      recipient: UpstreamPerson
      /** What it is where no message has this id: a member of the team typed it on a phone, which makes such ids too. */
      typed?: IncomingItem
    }

/** A message, or what changes one. */
export type IncomingItem = Exclude<CallbackItem, { kind: 'status' }>

/** An id longer than this would not fit into an index, and no upstream makes one. */
const MAX_ID_LENGTH = 512
const MAX_CODE_LENGTH = 100

/**
 * Reads a stored callback (facts: envelope of the upstream). Nothing in it is trusted: what is not understood is left out,
 * it stays in the raw callback. Order is kept.
 */
export function readCallback(body: Buffer): CallbackItem[] {
  const envelope = asObject(toStorableDeep(JSON.parse(body.toString('utf8'))))
  return asObjects(envelope.entry)
    .flatMap((entry) => asObjects(entry.changes))
    .filter((change) => change.field === 'messages')
    .flatMap((change) => readValue(asObject(change.value)))
}

function readValue(value: JsonObject): CallbackItem[] {
  const people = asObjects(value.contacts)
  return [
    ...asObjects(value.messages).flatMap((message) => readMessage(message, people) ?? []),
    ...asObjects(value.statuses).flatMap((status) => readStatus(status) ?? []),
  ]
}

function readMessage(message: JsonObject, people: JsonObject[]): CallbackItem | null {
  const upstreamId = readId(message.id)
  const person = findPerson(message, people)
  const from: UpstreamPerson = {
    waId: readDigits(message.from) ?? readDigits(person.wa_id),
    userId: readId(message.from_user_id) ?? readId(person.user_id),
  }
  if (upstreamId === null || (from.waId === null && from.userId === null)) return null

  const profileName = asText(asObject(person.profile).name)
  const createdAt = readTimestamp(message.timestamp)
  const common = { from, profileName, upstreamId, createdAt }
  const type = asText(message.type)?.slice(0, 64) ?? 'unknown'
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
    movedTo: type === 'system' ? readNewAddress(asObject(message.system)) : null,
  }
}

/** The profile that belongs to the message: by one of its ids, else the only one if nothing speaks against it. */
function findPerson(message: JsonObject, people: JsonObject[]): JsonObject {
  const pairs = (person: JsonObject) =>
    [
      [readDigits(message.from), readDigits(person.wa_id)],
      [readId(message.from_user_id), readId(person.user_id)],
    ].filter(([ofMessage, ofPerson]) => ofMessage !== null && ofPerson !== null)
  const fits = (person: JsonObject) => pairs(person).some(([ofMessage, ofPerson]) => ofMessage === ofPerson)
  const [only] = people
  return people.find(fits) ?? (people.length === 1 && only && pairs(only).length === 0 ? only : {})
}

/** user_changed_number and user_changed_user_id, and older names of the same; other notices tell of no new address. */
function readNewAddress({ type, wa_id, user_id }: JsonObject): UpstreamPerson | null {
  if (!/_changed_(number|user_id)$/.test(asText(type) ?? '')) return null
  return { waId: readDigits(wa_id), userId: readId(user_id) }
}

/** A message that is about another one, and shows only there. */
function readChange(
  type: string,
  payload: JsonObject,
): { kind: 'reaction' | 'edit' | 'revoke'; text: string; aboutUpstreamId: string } | null {
  if (type !== 'reaction' && type !== 'edit' && type !== 'revoke') return null
  const aboutUpstreamId = readId(type === 'reaction' ? payload.message_id : payload.original_message_id)
  if (aboutUpstreamId === null) return null
  if (type === 'reaction') return { kind: type, text: asText(payload.emoji) ?? '', aboutUpstreamId }
  if (type === 'revoke') return { kind: type, text: '', aboutUpstreamId }
  if (!isJsonObject(payload.message)) return null
  const edited = payload.message
  const editedType = asText(edited.type) ?? 'text'
  return { kind: type, text: describeInbound(editedType, edited).text, aboutUpstreamId }
}

const STATUSES: Record<string, MessageStatus> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  // A voice note was heard.
  played: 'read',
  failed: 'failed',
}

function readStatus(status: JsonObject): CallbackItem | null {
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
    recipient: { waId: readDigits(status.recipient_id), userId: readId(status.recipient_user_id) },
  }
}

function readError(status: JsonObject): MessageError {
  const [error = {}] = asObjects(status.errors)
  const { code } = error
  const text = asText(asObject(error.error_data).details) ?? asText(error.message) ?? asText(error.title)
  return {
    code: typeof code === 'number' || typeof code === 'string' ? shorten(code) : 'unknown',
    text: text ?? 'The upstream gave no reason',
  }
}

/** A code is counted by; no upstream has long ones. */
function shorten(code: number | string): number | string {
  return typeof code === 'number' ? code : code.slice(0, MAX_CODE_LENGTH)
}

function readId(value: unknown): string | null {
  const text = asText(value)
  return text !== null && text.length <= MAX_ID_LENGTH ? text : null
}

/** No number begins with 0; the chat ids of people without one do. */
function readDigits(value: unknown): string | null {
  const digits = asText(value)?.replace(/^\+/, '')
  return digits !== undefined && /^[1-9]\d{0,19}$/.test(digits) ? digits : null
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

/** Unix seconds, as text or number; null for what is no time. */
function readTimestamp(value: unknown): Date | null {
  const seconds = typeof value === 'string' && value !== '' ? Number(value) : value
  if (typeof seconds !== 'number' || !(seconds > 0 && seconds <= LAST_SECOND)) return null
  return new Date(seconds * 1000)
}
