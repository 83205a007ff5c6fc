import type { DeviceEvent, NetworkChat } from '../../../channels/linked-device/wire/event.js'
import { isGroup, isLid } from '../../../channels/linked-device/wire/jid.js'
import { fileOfMessage, POLLS, readNumber } from '../../../channels/linked-device/wire/network-message.js'
import { toMessageId } from '../../../channels/linked-device/wire/own-id.js'
import { describeRefusal, readRefusalCode } from '../../../channels/linked-device/wire/refusal.js'
import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { networkType } from '../../../model/instances/gateway-message.js'
import { describeInbound, type InboundDescription, readInboundFile } from '../../../model/messages/describe-inbound.js'
import type { NetworkDetails } from '../../../model/messages/message.js'
import { innerMessage } from '../../../model/messages/network-message.js'
import { orNull } from '../../../model/messages/shown/extras.js'
import type { UpstreamPerson } from '../../contacts/resolution/resolve-contact.js'
import type { CallbackItem, DeviceDetails, IncomingItem } from './read-callback.js'
import { contextsOf, readNetworkExtras } from './read-network-extras.js'
import { readOffer } from './read-network-offers.js'

type MessageEvent = Extract<DeviceEvent, { type: 'message' }>
type StatusEvent = Extract<DeviceEvent, { type: 'status' }>

/**
 * Reads the stored events of a linked device, in order. Their messages come from outside: unknown content becomes
 * `[unsupported]`, and values that are not events are skipped.
 */
export function readDeviceCallback(events: JsonObject[]): CallbackItem[] {
  return events
    .filter(isEvent)
    .map((event) => (event.type === 'status' ? readStatus(event) : readEcho(event, readMessage(event))))
}

function isEvent(value: JsonObject): value is JsonObject & DeviceEvent {
  const { type, key, chat } = value
  const { jid, phone, lid } = asObject(chat)
  const names = [asObject(key).id, asObject(key).remoteJid, jid]
  if (!names.every((name) => asText(name) !== null)) return false
  const isKnown = isGroup(String(jid)) || asText(phone) !== null || asText(lid) !== null
  return isKnown && (type === 'status' || (type === 'message' && isJsonObject(value.message)))
}

/** Longer ids would not fit into an index; no phone creates them. */
const MAX_ID_LENGTH = 512

/** A message sent by Parley that comes back proves that the network has it. */
function readEcho({ key, chat, timestamp }: MessageEvent, typed: IncomingItem): CallbackItem {
  if (!key.fromMe || toMessageId(key.id) === null) return typed
  return { ...readStatus({ type: 'status', key, chat, status: 'sent', timestamp, code: null }), typed }
}

function readMessage(event: MessageEvent): IncomingItem {
  const { key, chat, message, timestamp } = event
  const common = {
    from: toPerson(chat),
    profileName: isGroup(chat.jid) ? chat.name : key.fromMe ? null : event.pushName,
    upstreamId: key.id.slice(0, MAX_ID_LENGTH),
    createdAt: toDate(timestamp),
    device: toDetails(event),
  }
  const inner = innerMessage(message)
  const change = readChange(inner)
  if (change) return { ...common, ...change }

  const read = readPayload(inner, key.id)
  const { type, payload } = read
  return {
    kind: 'message',
    ...common,
    message_type: type,
    ...describe(read),
    extras: orNull({ ...readNetworkExtras(inner), ...(type === 'unsupported' && { raw_type: networkType(message) }) }),
    awaitsMedia: readInboundFile(type, payload) !== null,
    contextUpstreamId: readQuotedId(inner),
    isSystem: false,
    addressChange: null,
  }
}

function toPerson({ jid, phone, lid }: NetworkChat): UpstreamPerson {
  return isGroup(jid) ? { waId: null, userId: jid } : { waId: phone, userId: lid }
}

/** Hidden numbers are replaced by the number if it is known, because clients answer to the address that they see. */
function toDetails({ key, chat, sender, pushName, message, keepsArchived = false }: MessageEvent): DeviceDetails {
  const number = asText(sender?.phone)
  const network: NetworkDetails = {
    remoteJid: chat.phone === null ? chat.jid : `${chat.phone}@s.whatsapp.net`,
    ...(key.participant === undefined ? {} : { participant: key.participant }),
    ...(number !== null && isHidden(key.participant) && { participantAlt: `${number}@s.whatsapp.net` }),
    ...(pushName === null ? {} : { pushName }),
    ...(key.fromMe ? { fromPhone: true } : {}),
    message,
  }
  return { fromMe: key.fromMe, network, keepsArchived }
}

function isHidden(participant: string | undefined): boolean {
  return participant !== undefined && isLid(participant)
}

/** A reaction, an edit or a revocation, which shows only on its target. */
function readChange(
  message: JsonObject,
): { kind: 'reaction' | 'edit' | 'revoke'; text: string; replyToUpstreamId: string } | null {
  if (isJsonObject(message.reactionMessage)) {
    const { key, text } = message.reactionMessage
    const replyToUpstreamId = readId(asObject(key).id)
    return replyToUpstreamId === null ? null : { kind: 'reaction', text: asText(text) ?? '', replyToUpstreamId }
  }
  if (!isJsonObject(message.protocolMessage)) return null
  const { key, editedMessage } = message.protocolMessage
  const replyToUpstreamId = readId(asObject(key).id)
  if (replyToUpstreamId === null) return null
  if (!isJsonObject(editedMessage)) return { kind: 'revoke', text: '', replyToUpstreamId }
  const { text } = describe(readPayload(innerMessage(editedMessage), replyToUpstreamId))
  return { kind: 'edit', text, replyToUpstreamId }
}

interface Payload {
  type: string
  /** Its text, of kinds that the upstream does not have. */
  text?: string
  /** In the form of the upstream's callbacks. */
  payload: unknown
}

/** Converts the message to the form of the upstream's messages, so that both are shown alike. */
function readPayload(message: JsonObject, id: string): Payload {
  const text = asText(message.conversation) ?? asText(asObject(message.extendedTextMessage).text)
  if (text !== null) return { type: 'text', payload: { body: text } }
  const file = fileOfMessage(message)
  if (file) return { type: file.kind, payload: readFile(file.kind, file.fields, id) }
  const poll = POLLS.find((name) => isJsonObject(message[name]))
  if (poll) {
    const payload = readPoll(asObject(message[poll]))
    return { type: 'poll', payload, text: payload.name }
  }
  return (
    readLocation(message) ??
    readCards(message) ??
    readReply(message) ??
    readOffer(message) ?? { type: 'unsupported', payload: null }
  )
}

function readFile(kind: string, fields: JsonObject, id: string): JsonObject {
  return {
    id,
    ...optional('mime_type', asText(fields.mimetype)),
    ...optional('caption', asText(fields.caption)),
    ...(kind === 'document' ? optional('filename', asText(fields.fileName) ?? asText(fields.title)) : {}),
    ...(kind === 'audio' && fields.ptt === true ? { voice: true } : {}),
    ...(fields.isAnimated === true || fields.gifPlayback === true ? { animated: true } : {}),
  }
}

function readPoll({ name, options, selectableOptionsCount }: JsonObject) {
  return {
    name: asText(name) ?? '',
    options: asObjects(options).map(({ optionName }) => asText(optionName) ?? ''),
    selectable_count: readNumber(selectableOptionsCount) ?? 0,
  }
}

function readLocation(message: JsonObject): Payload | null {
  const place = message.locationMessage ?? message.liveLocationMessage
  if (!isJsonObject(place)) return null
  const latitude = readNumber(place.degreesLatitude)
  const longitude = readNumber(place.degreesLongitude)
  const payload = {
    ...(latitude === null || longitude === null ? {} : { latitude, longitude }),
    ...optional('name', asText(place.name)),
    ...optional('address', asText(place.address)),
  }
  return { type: 'location', payload }
}

function readCards({ contactMessage, contactsArrayMessage }: JsonObject): Payload | null {
  const cards = isJsonObject(contactMessage) ? [contactMessage] : asObjects(asObject(contactsArrayMessage).contacts)
  return cards.length === 0 ? null : { type: 'contacts', payload: cards.map(readCard) }
}

/** Only the name and the numbers of a vCard are read. */
function readCard({ displayName, vcard }: JsonObject): JsonObject {
  const lines = (asText(vcard) ?? '').replace(/\r?\n[ \t]/g, '').split(/\r?\n/)
  const phones = lines.flatMap((line) => {
    const [, parameters = '', phone = ''] = /^(?:[\w-]+\.)?TEL([^:]*):(.*)$/i.exec(line) ?? []
    if (phone === '') return []
    const waId = /waid=(\d+)/i.exec(parameters)?.[1] ?? null
    const type = /type=([A-Za-z-]+)/i.exec(parameters)?.[1] ?? null
    return [{ phone: phone.trim(), ...optional('wa_id', waId), ...optional('type', type) }]
  })
  const name = asText(displayName) ?? lines.find((line) => /^FN[:;]/i.test(line))?.replace(/^FN[^:]*:/i, '')
  return { name: { formatted_name: name ?? phones[0]?.phone ?? '' }, phones }
}

/** The choice from buttons or a list that a business sent. */
function readReply(message: JsonObject): Payload | null {
  const { buttonsResponseMessage, templateButtonReplyMessage, listResponseMessage, interactiveResponseMessage } =
    message
  if (isJsonObject(buttonsResponseMessage)) {
    const { selectedButtonId, selectedDisplayText } = buttonsResponseMessage
    return toReply('button_reply', selectedButtonId, selectedDisplayText)
  }
  if (isJsonObject(templateButtonReplyMessage)) {
    const { selectedId, selectedDisplayText } = templateButtonReplyMessage
    return toReply('button_reply', selectedId, selectedDisplayText)
  }
  if (isJsonObject(listResponseMessage)) {
    const { title, singleSelectReply } = listResponseMessage
    return toReply('list_reply', asObject(singleSelectReply).selectedRowId, title)
  }
  if (!isJsonObject(interactiveResponseMessage)) return null
  const { body, nativeFlowResponseMessage } = interactiveResponseMessage
  const { name, paramsJson } = asObject(nativeFlowResponseMessage)
  const reply = {
    ...optional('name', asText(name)),
    ...optional('body', asText(asObject(body).text)),
    ...optional('response_json', asText(paramsJson)),
  }
  return { type: 'interactive', payload: { type: 'nfm_reply', nfm_reply: reply } }
}

function toReply(type: 'button_reply' | 'list_reply', id: unknown, title: unknown): Payload {
  return { type: 'interactive', payload: { type, [type]: { id: asText(id) ?? '', title: asText(title) ?? '' } } }
}

/** Kinds that the upstream does not have bring their text. */
function describe({ type, payload, text }: Payload): InboundDescription {
  if (text === undefined) return describeInbound(type, { [type]: payload })
  return { text, media_type: null, content: payload, extras: null }
}

/** The id of the quoted message. */
function readQuotedId(message: JsonObject): string | null {
  for (const { stanzaId } of contextsOf(message)) {
    const id = readId(stanzaId)
    if (id !== null) return id
  }
  return null
}

type StatusItem = Extract<CallbackItem, { kind: 'status' }>

function readStatus({ key, chat, status, timestamp, code }: StatusEvent): StatusItem {
  return {
    kind: 'status',
    upstreamId: key.id.slice(0, MAX_ID_LENGTH),
    messageId: toMessageId(key.id),
    status,
    createdAt: toDate(timestamp),
    error:
      status === 'failed' ? { code: readRefusalCode(code) ?? code ?? 'unknown', text: describeRefusal(code) } : null,
    recipient: toPerson(chat),
  }
}

function readId(value: unknown): string | null {
  const text = asText(value)
  return text !== null && text.length <= MAX_ID_LENGTH ? text : null
}

const LAST_SECOND = Date.parse('9999-12-31T23:59:59Z') / 1000

function toDate(seconds: number | null): Date | null {
  return seconds !== null && seconds > 0 && seconds <= LAST_SECOND ? new Date(seconds * 1_000) : null
}

function optional(name: string, value: string | null): JsonObject {
  return value === null ? {} : { [name]: value }
}
