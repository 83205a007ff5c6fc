import { isJsonObject, type JsonObject } from '../../src/lib/text/json.js'
import type { CallbackContact, Change, InboundMessage, MessagesValue } from '../../src/upstream/wire.js'
import { invalidField, isProblem, missingField, type Problem } from '../control/problems.js'
import { newMessageId } from '../ids.js'
import { isMediaKind } from '../media/types.js'
import { type BusinessNumber, metadataOf } from '../numbers/business-numbers.js'
import { isUserId, phoneDigits } from '../numbers/phone-numbers.js'

/** An inbound message, with the sender's contact in the callback. */
export interface Inbound {
  message: InboundMessage
  /** Null for message types without a contact. */
  contact: CallbackContact | null
}

type NumberIdentity = Pick<BusinessNumber, 'phone_number_id' | 'display_phone_number' | 'business_account_id'>

/** Fields of the control body that are not part of the message. */
const controlKeys = new Set([
  ...['phone_number_id', 'organization_id', 'instance'],
  ...['name', 'username', 'user_id', 'from_user_id', 'parent_user_id', 'from_parent_user_id', 'repeat'],
])

/** Message types whose payload is required under their own name; other types are passed on unchanged. */
const kindsWithPayload = new Set([
  ...['text', 'image', 'video', 'audio', 'document', 'sticker', 'location', 'contacts', 'interactive', 'button'],
  ...['reaction', 'order', 'system', 'edit', 'revoke'],
])

const unsupportedErrors = [
  {
    code: 131051,
    title: 'Message type unknown',
    message: 'Message type unknown',
    error_data: { details: 'Message type is currently not supported.' },
  },
]

/**
 * Reads a control body as an inbound message. `type` and `from` (or `user_id`) are required, except for system notices;
 * `from` may be a user id. `id` and `timestamp` are generated if absent, `text` may be a plain string, and media fields
 * are optional.
 */
export function readInbound(body: JsonObject): Inbound | Problem {
  const sender = readSender(body)
  if (isProblem(sender)) return sender
  const { type } = body
  if (type === undefined || type === '') return missingField('type')
  if (typeof type !== 'string') return invalidField('type must be a string')
  const stamp = readStamp(body)
  if (isProblem(stamp)) return stamp
  const payload = readPayload(type, body)
  if (isProblem(payload)) return payload
  const rest = Object.fromEntries(Object.entries(body).filter(([key]) => !controlKeys.has(key)))
  const message: InboundMessage = { ...rest, ...sender.address, ...stamp, type, ...payload }
  return { message, contact: type === 'system' ? null : sender.contact }
}

/** Builds the change that reports an inbound message to a business number. */
export function inboundChange(number: NumberIdentity, { message, contact }: Inbound): Change {
  const value: MessagesValue = {
    messaging_product: 'whatsapp',
    metadata: metadataOf(number),
    ...(contact ? { contacts: [contact] } : {}),
    messages: [message],
  }
  return { value, field: 'messages' }
}

/** A person as the sender of something, with the contact of the callback. */
export interface Sender {
  address: { from?: string; from_user_id?: string; from_parent_user_id?: string }
  contact: CallbackContact
}

/** Reads who does something: `from` or `user_id`, with `name` and `username`. */
export function readSender(body: JsonObject): Sender | Problem {
  const { from, user_id: userId = body.from_user_id, name, username } = body
  const { parent_user_id: parent = body.from_parent_user_id } = body
  for (const [field, value] of Object.entries({ from, user_id: userId, parent_user_id: parent, name, username })) {
    if (value !== undefined && typeof value !== 'string') return invalidField(`${field} must be a string`)
  }
  const sender: Sender = { address: {}, contact: {} }
  if (typeof name === 'string' || typeof username === 'string') {
    sender.contact.profile = { ...(name === undefined ? {} : { name: String(name) }), ...usernameOf(username) }
  }
  if (typeof from === 'string' && from !== '') {
    const digits = isUserId(from) ? from : phoneDigits(from)
    if (!digits) return invalidField(`from must be a phone number with country code, or a user id, but is ${from}`)
    sender.address.from = digits
    sender.contact.wa_id = digits
  }
  if (typeof userId === 'string' && userId !== '') {
    sender.address.from_user_id = userId
    sender.contact.user_id = userId
  }
  if (typeof parent === 'string' && parent !== '') {
    sender.address.from_parent_user_id = parent
    sender.contact.parent_user_id = parent
  }
  const isNamed = sender.address.from || sender.address.from_user_id || body.type === 'system'
  return isNamed ? sender : missingField('from')
}

function usernameOf(username: unknown): { username?: string } {
  return typeof username === 'string' ? { username } : {}
}

function readStamp(body: JsonObject): { id: string; timestamp: string } | Problem {
  const { id = newMessageId(), timestamp = Math.floor(Date.now() / 1_000) } = body
  if (typeof id !== 'string' || id === '') return invalidField('id must be a string that is not empty')
  if (!/^\d{1,12}$/.test(String(timestamp))) return invalidField('timestamp must be Unix seconds')
  return { id, timestamp: String(timestamp) }
}

function readPayload(type: string, body: JsonObject): JsonObject | Problem {
  const payload = body[type]
  if (type === 'text' && typeof payload === 'string') return { text: { body: payload } }
  if (type === 'unsupported') return { errors: body.errors ?? unsupportedErrors }
  if (!kindsWithPayload.has(type)) return {}
  if (payload === undefined) return isMediaKind(type) ? { [type]: {} } : missingField(type)
  if (type === 'contacts') return Array.isArray(payload) ? {} : invalidField('contacts must be an array')
  if (!isJsonObject(payload)) return invalidField(`${type} must be an object`)
  if (type === 'text' && typeof payload.body !== 'string') return missingField('text.body')
  return {}
}
