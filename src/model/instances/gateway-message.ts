import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import type { Contact } from '../contacts/contact.js'
import { toVcard } from '../contacts/vcard.js'
import type { ContactCard } from '../messages/content.js'
import type { MediaAddress, Message, ShownMessage } from '../messages/message.js'
import { plainMessage } from '../messages/network-message.js'
import { isDeleted, withoutDeleted } from '../messages/shown/deleted.js'
import { presentContent } from '../messages/shown/present-content.js'
import type { CommonContent, ShownContent } from '../messages/shown/schemas.js'

/** The chat of a message. */
export interface Chat {
  jid: string
  pushName: string | null
}

/** A message as clients of the gateway read it, in answers to sends and in messages.upsert. */
export interface GatewayMessage {
  key: { remoteJid: string; fromMe: boolean; id: string; participant?: string; participantAlt?: string }
  pushName: string
  status: GatewayStatus
  message: JsonObject
  contextInfo: JsonObject | null
  messageType: string
  /** The content as Interface A shows it. */
  content: ShownContent | null
  /** Unix seconds. */
  messageTimestamp: number
  instanceId: string
  source: 'web' | 'unknown'
}

export const GATEWAY_STATUSES = ['ERROR', 'PENDING', 'SERVER_ACK', 'DELIVERY_ACK', 'READ'] as const

export type GatewayStatus = (typeof GATEWAY_STATUSES)[number]

const PERSON_SERVER = 's.whatsapp.net'

/** The fields that identify a contact's chat. */
export type ChatAddress = Pick<Contact, 'chat_id' | 'phone_number' | 'network_id'>

/**
 * The JID of a contact's chat. If only the upstream's user id is known, the contact has no JID, and its chat id is
 * used.
 */
export function jidOf({ chat_id, phone_number, network_id }: ChatAddress): string {
  if (phone_number !== null) return `${chat_id}@${PERSON_SERVER}`
  return network_id ?? `${chat_id}@lid`
}

/** The chat of a contact. */
export function chatOf(contact: ChatAddress & Pick<Contact, 'full_name'>): Chat {
  return { jid: jidOf(contact), pushName: contact.full_name }
}

/** The status of a message; a sent message is PENDING until it is accepted. */
export function gatewayStatus({ sender_type, status, outcome }: ShownMessage): GatewayStatus {
  if (outcome !== null) return 'PENDING'
  if (status === 'read') return 'READ'
  if (sender_type === 'user-chat' || status === 'delivered') return 'DELIVERY_ACK'
  return status === 'failed' ? 'ERROR' : 'SERVER_ACK'
}

/** The message as the gateway shows it. For messages of linked devices, `message` is the network's own. */
export function presentGatewayMessage(
  message: ShownMessage,
  chat: Chat,
  instanceId: string,
  mediaAddress: MediaAddress,
): GatewayMessage {
  const { network } = message
  const fromMe = isFromMe(message)
  const content = presentContent(message)
  const remoteJid = network?.remoteJid ?? chat.jid
  const body = isDeleted(message) ? composeDeleted(message) : composeWhole(message, remoteJid, mediaAddress)
  return {
    key: {
      remoteJid,
      fromMe,
      id: message.upstream_id ?? message.id,
      ...(network?.participant && { participant: network.participant }),
      // Clients take it for a JID, which the upstream's user ids are not.
      ...(network?.participantAlt?.includes('@') && { participantAlt: network.participantAlt }),
    },
    pushName: fromMe ? '' : (network?.pushName ?? chat.pushName ?? ''),
    status: gatewayStatus(message),
    message: body,
    contextInfo: toContextInfo(withoutDeleted(message), content),
    messageType: gatewayType(message),
    content,
    messageTimestamp: Math.floor(new Date(message.created_at).getTime() / 1_000),
    instanceId,
    source: fromMe ? 'web' : 'unknown',
  }
}

/** From this score on, clients say that a message was forwarded many times. */
const OFTEN_SCORE = 5

/** The quoted message, the mentions, the forwarded mark and the ad. */
function toContextInfo(message: ShownMessage, content: ShownContent | null): JsonObject | null {
  const { message_type, context_upstream_id: replyToId } = message
  const mentioned = asList(asObject(message.content).mentions)
  const forwarded = content?.forwarded
  const referral = content?.referral
  const info = {
    ...(replyToId !== null && message_type !== 'reaction' && { stanzaId: replyToId }),
    ...(mentioned.length > 0 && { mentionedJid: mentioned }),
    ...(forwarded && { isForwarded: true, forwardingScore: forwarded === 'often' ? OFTEN_SCORE : 1 }),
    ...(referral && { externalAdReply: toAdReply(referral) }),
  }
  return Object.keys(info).length === 0 ? null : info
}

/** The ad that a contact came from, in the network's format. */
function toAdReply(referral: NonNullable<CommonContent['referral']>): JsonObject {
  const { headline, body, source_url, source_id, source_type, image_url, thumbnail_url, ctwa_clid, ref } = referral
  const fields = {
    title: headline,
    body,
    sourceUrl: source_url,
    sourceId: source_id,
    sourceType: source_type,
    originalImageUrl: image_url,
    thumbnailUrl: thumbnail_url,
    ctwaClid: ctwa_clid,
    ref,
  }
  return Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== null))
}

/** Whether the organization wrote it. */
export function isFromMe({ sender_type }: Pick<ShownMessage, 'sender_type'>): boolean {
  return sender_type === 'bot-chat' || sender_type === 'human-chat'
}

function addressOf(message: ShownMessage, mediaAddress: MediaAddress): string | null {
  const { organization_id, media_id, media_expires_at } = message
  if (media_id === null || media_expires_at === null) return null
  return mediaAddress(organization_id, media_id, new Date(media_expires_at))
}

/** The gateway's name for the type of a message, such as imageMessage; the column gateway_type. */
export function gatewayType({
  message_type: type,
  content: stored,
  network,
}: Pick<Message, 'message_type' | 'content' | 'network'>): string {
  if (network?.message) return networkType(network.message)
  const content = asObject(stored)
  switch (type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
    case 'location':
    case 'reaction':
      return `${type}Message`
    case 'contacts':
      return asObjects(stored).length === 1 ? 'contactMessage' : 'contactsArrayMessage'
    case 'poll':
      // The network has a separate message type for a single choice.
      return content.selectable_count === 1 ? 'pollCreationMessageV3' : 'pollCreationMessage'
    case 'button':
      return 'templateButtonReplyMessage'
    case 'interactive':
      if (asText(asObject(content.button_reply).id)) return 'buttonsResponseMessage'
      if (asText(asObject(content.list_reply).id)) return 'listResponseMessage'
      if (content.type === 'list') return 'listMessage'
      return content.type === 'button' ? 'buttonsMessage' : 'conversation'
    default:
      return 'conversation'
  }
}

/** The same for a message in the network's format. */
export function networkType(message: JsonObject): string {
  return nameOf(plainMessage(message))
}

/** The first name in the order of jsonb, so that a message has the same name before and after it is stored. */
function nameOf(message: JsonObject): string {
  const names = Object.keys(message).filter((name) => name !== 'messageContextInfo')
  return names.sort((one, other) => one.length - other.length || (one < other ? -1 : 1))[0] ?? 'conversation'
}

/** What is left of a deleted message: its type, by which clients filter. */
function composeDeleted(message: ShownMessage): JsonObject {
  const type = gatewayType(message)
  return { [type]: type === 'conversation' ? '' : {} }
}

/** The network's own message, or what is built from what is stored, with the file's URL. */
function composeWhole(message: ShownMessage, remoteJid: string, mediaAddress: MediaAddress): JsonObject {
  const own = message.network?.message
  const body = own ? plainMessage(own) : compose(message, remoteJid, mediaAddress)
  return withAddress(body, message, mediaAddress)
}

/** Adds the URL of the stored file, in the field that clients know. */
function withAddress(body: JsonObject, message: ShownMessage, mediaAddress: MediaAddress): JsonObject {
  const url = addressOf(message, mediaAddress)
  return url === null ? body : { ...body, mediaUrl: url }
}

/** Builds the message in the network's format from what is stored. */
function compose(message: ShownMessage, remoteJid: string, mediaAddress: MediaAddress): JsonObject {
  const type = gatewayType(message)
  return { [type]: composeContent(type, message, remoteJid, mediaAddress) }
}

function composeContent(type: string, message: ShownMessage, remoteJid: string, mediaAddress: MediaAddress): unknown {
  const { text, context_upstream_id: replyToId } = message
  const content = asObject(message.content)
  const answered = replyToId === null ? {} : { contextInfo: { stanzaId: replyToId } }
  switch (type) {
    case 'imageMessage':
    case 'videoMessage':
    case 'audioMessage':
    case 'documentMessage':
    case 'stickerMessage':
      return composeFile(message, content, mediaAddress)
    case 'locationMessage':
      return composeLocation(content)
    case 'contactMessage':
      return composeCards(message)[0]
    case 'contactsArrayMessage': {
      const contacts = composeCards(message)
      return { displayName: `${contacts.length} contacts`, contacts }
    }
    case 'reactionMessage':
      return {
        key: {
          id: replyToId ?? '',
          remoteJid,
          fromMe: content.to_own === undefined ? !isFromMe(message) : content.to_own,
        },
        text,
        senderTimestampMs: new Date(message.created_at).getTime(),
      }
    case 'pollCreationMessage':
    case 'pollCreationMessageV3':
      return {
        name: text,
        options: asList(content.options).map((optionName) => ({ optionName })),
        selectableOptionsCount: content.selectable_count ?? 0,
      }
    case 'templateButtonReplyMessage':
      return { selectedId: content.payload ?? text, selectedDisplayText: text }
    case 'buttonsResponseMessage':
      return { selectedButtonId: asObject(content.button_reply).id, selectedDisplayText: text, ...answered }
    case 'listResponseMessage': {
      const { id, description } = asObject(content.list_reply)
      return { title: text, description: description ?? '', singleSelectReply: { selectedRowId: id }, ...answered }
    }
    case 'listMessage':
      return composeList(content, text)
    case 'buttonsMessage':
      return composeButtons(content, text)
    default:
      return text
  }
}

function composeFile(message: ShownMessage, content: JsonObject, mediaAddress: MediaAddress): JsonObject {
  const { message_type: type, text } = message
  const caption = type === 'audio' || type === 'sticker' || text === '' ? {} : { caption: text }
  return {
    ...(addressOf(message, mediaAddress) && { url: addressOf(message, mediaAddress) }),
    ...(asText(content.mime_type) && { mimetype: content.mime_type }),
    ...(asText(content.sha256) && { fileSha256: content.sha256 }),
    ...(typeof content.file_size === 'number' && { fileLength: String(content.file_size) }),
    ...caption,
    ...(type === 'document' && {
      fileName: asText(content.filename) ?? 'document',
      title: asText(content.filename) ?? '',
    }),
    ...(type === 'audio' && { ptt: content.voice === true }),
  }
}

function composeLocation({ latitude, longitude, name, address }: JsonObject): JsonObject {
  return {
    degreesLatitude: Number(latitude ?? 0),
    degreesLongitude: Number(longitude ?? 0),
    ...(asText(name) && { name }),
    ...(asText(address) && { address }),
  }
}

function composeCards({ content }: ShownMessage): JsonObject[] {
  return asObjects(content).map((card) => {
    const displayName = asText(asObject(card.name).formatted_name) ?? ''
    return { displayName, vcard: toVcard(readCard(card, displayName)) }
  })
}

/** A stored card, in our format or the upstream's. */
function readCard(card: JsonObject, displayName: string): ContactCard {
  const { first_name: first, last_name: last } = asObject(card.name)
  return {
    name: { formatted_name: displayName, first_name: asText(first) ?? displayName, last_name: asText(last) },
    phones: asObjects(card.phones).map(({ phone, type, wa_id }) => {
      const known = asText(wa_id)
      return { phone: asText(phone) ?? '', type: asText(type), ...(known !== null && { wa_id: known }) }
    }),
    organization: asText(card.organization) ?? asText(asObject(card.org).company),
    email: asText(card.email) ?? asText(asObjects(card.emails)[0]?.email),
    url: asText(card.url) ?? asText(asObjects(card.urls)[0]?.url),
  }
}

function composeList({ header, footer, button, sections }: JsonObject, text: string): JsonObject {
  return {
    title: asText(header) ?? '',
    description: text,
    buttonText: asText(button) ?? '',
    footerText: asText(footer) ?? '',
    listType: 1,
    sections: asObjects(sections).map((section) => ({
      title: asText(section.title) ?? '',
      rows: asObjects(section.rows).map(({ id, title, description }) => ({
        rowId: id,
        title,
        description: asText(description) ?? '',
      })),
    })),
  }
}

function composeButtons({ header, footer, buttons }: JsonObject, text: string): JsonObject {
  return {
    contentText: text,
    footerText: asText(footer) ?? '',
    ...(asText(header) && { text: header }),
    buttons: asObjects(buttons).map(({ id, title }) => ({ buttonId: id, buttonText: { displayText: title }, type: 1 })),
  }
}

function asList(value: unknown): unknown[] {
  return Array.isArray(value) ? value : []
}
