import { asObject, asObjects, asText, type JsonObject } from '../../lib/text/json.js'
import type { Contact } from '../contacts/contact.js'
import { toVcard } from '../contacts/vcard.js'
import type { ContactCard } from '../messages/content.js'
import type { MediaAddress, ShownMessage } from '../messages/message.js'
import { plainMessage } from '../messages/network-message.js'

/** The chat of a message. */
export interface Chat {
  jid: string
  pushName: string | null
}

/** A message as clients of the gateway read it, in answers to sends and in messages.upsert. */
export interface GatewayMessage {
  key: { remoteJid: string; fromMe: boolean; id: string; participant?: string }
  pushName: string
  status: GatewayStatus
  message: JsonObject
  contextInfo: JsonObject | null
  messageType: string
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
  const remoteJid = network?.remoteJid ?? chat.jid
  const body = network?.message ? plainMessage(network.message) : compose(message, remoteJid, mediaAddress)
  return {
    key: {
      remoteJid,
      fromMe,
      id: message.upstream_id ?? message.id,
      ...(network?.participant && { participant: network.participant }),
    },
    pushName: fromMe ? '' : (network?.pushName ?? chat.pushName ?? ''),
    status: gatewayStatus(message),
    message: withAddress(body, message, mediaAddress),
    contextInfo: toContextInfo(message),
    messageType: Object.keys(body).find((name) => name !== 'messageContextInfo') ?? 'conversation',
    messageTimestamp: Math.floor(new Date(message.created_at).getTime() / 1_000),
    instanceId,
    source: fromMe ? 'web' : 'unknown',
  }
}

/** The quoted message and the mentions. */
function toContextInfo({ message_type, context_upstream_id: replyToId, content }: ShownMessage): JsonObject | null {
  const mentioned = asList(asObject(content).mentions)
  const info = {
    ...(replyToId !== null && message_type !== 'reaction' && { stanzaId: replyToId }),
    ...(mentioned.length > 0 && { mentionedJid: mentioned }),
  }
  return Object.keys(info).length === 0 ? null : info
}

/** Whether the organization wrote it. */
export function isFromMe({ sender_type }: Pick<ShownMessage, 'sender_type'>): boolean {
  return sender_type === 'bot-chat' || sender_type === 'human-chat'
}

/** Adds the URL of the stored file, in the field that clients know. */
function withAddress(body: JsonObject, message: ShownMessage, mediaAddress: MediaAddress): JsonObject {
  const url = addressOf(message, mediaAddress)
  return url === null ? body : { ...body, mediaUrl: url }
}

function addressOf(message: ShownMessage, mediaAddress: MediaAddress): string | null {
  const { organization_id, media_id, media_expires_at } = message
  if (media_id === null || media_expires_at === null) return null
  return mediaAddress(organization_id, media_id, new Date(media_expires_at))
}

/** Builds the message in the network's format from what is stored. */
function compose(message: ShownMessage, remoteJid: string, mediaAddress: MediaAddress): JsonObject {
  const { message_type: type, text, context_upstream_id: replyToId } = message
  const content = asObject(message.content)
  switch (type) {
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
      return { [`${type}Message`]: composeFile(message, content, mediaAddress) }
    case 'location':
      return { locationMessage: composeLocation(content) }
    case 'contacts':
      return composeCards(asObjects(message.content))
    case 'reaction':
      return {
        reactionMessage: {
          key: {
            id: replyToId ?? '',
            remoteJid,
            fromMe: content.to_own === undefined ? !isFromMe(message) : content.to_own,
          },
          text,
          senderTimestampMs: new Date(message.created_at).getTime(),
        },
      }
    case 'poll':
      return {
        // The network has a separate message type for a single choice.
        [content.selectable_count === 1 ? 'pollCreationMessageV3' : 'pollCreationMessage']: {
          name: text,
          options: asList(content.options).map((optionName) => ({ optionName })),
          selectableOptionsCount: content.selectable_count ?? 0,
        },
      }
    case 'interactive':
      return composeInteractive(content, text, replyToId)
    case 'button':
      return { templateButtonReplyMessage: { selectedId: content.payload ?? text, selectedDisplayText: text } }
    default:
      return { conversation: text }
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

function composeCards(cards: JsonObject[]): JsonObject {
  const contacts = cards.map((card) => {
    const displayName = asText(asObject(card.name).formatted_name) ?? ''
    return { displayName, vcard: toVcard(readCard(card, displayName)) }
  })
  const [only] = contacts
  if (contacts.length === 1 && only) return { contactMessage: only }
  return { contactsArrayMessage: { displayName: `${contacts.length} contacts`, contacts } }
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

function composeInteractive(content: JsonObject, text: string, replyToId: string | null): JsonObject {
  const answered = replyToId === null ? {} : { contextInfo: { stanzaId: replyToId } }
  const button = asObject(content.button_reply)
  if (asText(button.id)) {
    return { buttonsResponseMessage: { selectedButtonId: button.id, selectedDisplayText: text, ...answered } }
  }
  const row = asObject(content.list_reply)
  if (asText(row.id)) {
    const singleSelectReply = { selectedRowId: row.id }
    return { listResponseMessage: { title: text, description: row.description ?? '', singleSelectReply, ...answered } }
  }
  if (content.type === 'list') return { listMessage: composeList(content, text) }
  if (content.type === 'button') return { buttonsMessage: composeButtons(content, text) }
  return { conversation: text }
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
