import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { innerMessage } from '../../../model/messages/network-message.js'
import type { MessageKey } from '../../device.js'
import type { DeviceEvent, NetworkChat, NetworkParty } from './event.js'
import { isChat, isGroup, isLid, normalizeJid, phoneOf } from './jid.js'
import { readNumber, toNetworkJson } from './network-message.js'

/** Looks up names that an event lacks. */
export interface Directory {
  /** The address of the number behind a hidden id; null if unknown. Throws KeysNotRead. */
  findPhone(lid: string): Promise<string | null>
  /** Never throws. */
  findSubject(group: string): Promise<string | null>
}

/**
 * Converts an event of the library to ours, in order; other kinds of events give an empty list. Live messages and those
 * that waited for the device (`append`) are treated alike; history is ignored. `own` has the addresses of this account.
 */
export function readNetworkEvent(name: string, data: unknown, own: readonly string[]): DeviceEvent[] {
  switch (name) {
    case 'messages.upsert':
      return asObjects(asObject(data).messages).flatMap((message) => readMessage(message, own) ?? [])
    case 'messages.update':
      return asObjects(data).flatMap((update) => readStatus(update) ?? readEdit(update) ?? [])
    case 'message-receipt.update':
      return asObjects(data).flatMap((update) => readReceipt(update, own) ?? [])
    default:
      return []
  }
}

/** Completes an event with names from the directory. Throws if the directory cannot be asked. */
export async function identify(event: DeviceEvent, directory: Directory): Promise<DeviceEvent> {
  const chat = await identifyChat(event.chat, directory)
  if (event.type !== 'message' || event.sender === null) return { ...event, chat }
  return { ...event, chat, sender: await identifyParty(event.sender, directory) }
}

/** Fields of messages that are not content, or that the library decrypts and raises as events of their own. */
const NO_CONTENT = new Set([
  ...['messageContextInfo', 'senderKeyDistributionMessage'],
  ...['pollUpdateMessage', 'encEventResponseMessage', 'secretEncryptedMessage'],
])
/** Protocol messages that change other messages: revocation and edit. */
const SHOWN_PROTOCOL_TYPES = [0, 14]

function readMessage(info: JsonObject, own: readonly string[]): DeviceEvent | null {
  const rawKey = asObject(info.key)
  const key = readKey(rawKey)
  if (key === null || info.category === 'peer') return null
  const message = asObject(toNetworkJson(info.message))
  if (!hasContent(message)) return null
  const timestamp = readNumber(info.messageTimestamp)
  const chat = readChat(key.fromMe ? withoutOwnName(rawKey, own) : rawKey)
  return { type: 'message', key, chat, sender: readSender(rawKey), pushName: asText(info.pushName), timestamp, message }
}

/** In a message typed on the phone, the alternative name may be the author's instead of the chat's. */
function withoutOwnName(key: JsonObject, own: readonly string[]): JsonObject {
  const alternative = asText(key.remoteJidAlt)
  return alternative !== null && own.includes(normalizeJid(alternative)) ? { ...key, remoteJidAlt: null } : key
}

function hasContent(message: JsonObject): boolean {
  const inner = innerMessage(message)
  if (inner.protocolMessage !== undefined) {
    return SHOWN_PROTOCOL_TYPES.includes(readNumber(asObject(inner.protocolMessage).type) ?? 0)
  }
  return Object.keys(inner).some((name) => !NO_CONTENT.has(name))
}

const STATUSES = new Map<number, 'failed' | 'sent' | 'delivered' | 'read'>([
  [0, 'failed'],
  [2, 'sent'],
  [3, 'delivered'],
  [4, 'read'],
  // A voice note was played.
  [5, 'read'],
])

function readStatus({ key: rawKey, update }: JsonObject): DeviceEvent | null {
  const key = readKey(rawKey)
  const fields = asObject(update)
  const status = STATUSES.get(readNumber(fields.status) ?? -1)
  if (key === null || !key.fromMe || status === undefined) return null
  const parameters = fields.messageStubParameters
  const code = status === 'failed' && Array.isArray(parameters) ? asText(parameters[0]) : null
  return {
    type: 'status',
    key,
    chat: readChat(asObject(rawKey)),
    status,
    timestamp: readTime(fields.messageTimestamp),
    code,
  }
}

/** The message whose text an event changes; null if it is no edit. */
export function editedBy(event: DeviceEvent): string | null {
  if (event.type !== 'message') return null
  const { key, editedMessage } = asObject(innerMessage(event.message).protocolMessage)
  return isJsonObject(editedMessage) ? asText(asObject(key).id) : null
}

/** An edit that was encrypted with the message's own secret: the library decrypts it, and tells no id of it. */
function readEdit({ key: rawKey, update }: JsonObject): DeviceEvent | null {
  const key = readKey(rawKey)
  const fields = asObject(update)
  const { message: edited } = asObject(asObject(toNetworkJson(fields.message)).editedMessage)
  if (key === null || !isJsonObject(edited)) return null
  const timestamp = readTime(fields.messageTimestamp)
  const message = { protocolMessage: { key: { id: key.id }, type: 14, editedMessage: edited } }
  const chat = readChat(asObject(rawKey))
  const id = `edit:${timestamp ?? ''}:${key.id}`
  return {
    type: 'message',
    key: { ...key, id },
    chat,
    sender: readSender(asObject(rawKey)),
    pushName: null,
    timestamp,
    message,
  }
}

/** In a group each member sends a receipt, and the first counts; the owner's own phone does not. */
function readReceipt({ key: rawKey, receipt }: JsonObject, own: readonly string[]): DeviceEvent | null {
  const key = readKey(rawKey)
  if (key === null || !key.fromMe) return null
  const { userJid, readTimestamp, receiptTimestamp } = asObject(receipt)
  const reader = asText(userJid)
  if (reader !== null && own.includes(normalizeJid(reader))) return null
  const read = readTime(readTimestamp)
  const delivered = readTime(receiptTimestamp)
  if (read === null && delivered === null) return null
  const status = read === null ? 'delivered' : 'read'
  return { type: 'status', key, chat: readChat(asObject(rawKey)), status, timestamp: read ?? delivered, code: null }
}

/** Null for anything that is not a conversation. */
function readKey(value: unknown): MessageKey | null {
  const { remoteJid, fromMe, id, participant } = asObject(value)
  const jid = asText(remoteJid)
  const name = asText(id)
  if (jid === null || name === null || !isChat(jid)) return null
  const writer = asText(participant)
  const common = { remoteJid: normalizeJid(jid), fromMe: fromMe === true, id: name }
  return writer === null ? common : { ...common, participant: normalizeJid(writer) }
}

function readChat({ remoteJid, remoteJidAlt }: JsonObject): NetworkChat {
  const jid = normalizeJid(asText(remoteJid) ?? '')
  return isGroup(jid)
    ? { jid, phone: null, lid: null, name: null }
    : { jid, ...readParty(jid, remoteJidAlt), name: null }
}

function readSender({ remoteJid, participant, participantAlt }: JsonObject): NetworkParty | null {
  const writer = asText(participant)
  return writer !== null && isGroup(asText(remoteJid) ?? '') ? readParty(writer, participantAlt) : null
}

/** A person has one name or both. */
function readParty(jid: string, alternative: unknown): NetworkParty {
  const names = [jid, asText(alternative)].filter((name) => name !== null).map(normalizeJid)
  return {
    phone: names.map(phoneOf).find((phone) => phone !== null) ?? null,
    lid: names.find(isLid) ?? null,
  }
}

async function identifyChat(chat: NetworkChat, directory: Directory): Promise<NetworkChat> {
  if (isGroup(chat.jid)) return { ...chat, name: await directory.findSubject(chat.jid) }
  return { ...chat, ...(await identifyParty(chat, directory)) }
}

async function identifyParty({ phone, lid }: NetworkParty, directory: Directory): Promise<NetworkParty> {
  if (phone !== null || lid === null) return { phone, lid }
  const jid = await directory.findPhone(lid)
  return { phone: jid === null ? null : phoneOf(jid), lid }
}

function readTime(value: unknown): number | null {
  const seconds = readNumber(value)
  return seconds !== null && seconds > 0 ? seconds : null
}
