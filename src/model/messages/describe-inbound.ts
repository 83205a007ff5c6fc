import { asObject, asObjects, asText, isJsonObject, type JsonObject } from '../../lib/text/json.js'
import { type MessageExtras, orNull, readExtras } from './shown/extras.js'

/** The parts of a message, in either direction, that a conversation shows. */
export interface MessageDescription {
  text: string
  /** The `media_type` on the wire; null for messages without media that are not interactive replies. */
  media_type: string | null
  /** The payload, for clients that show more than the text; null if the text is all. */
  content: unknown
}

/** A received message. */
export interface InboundDescription extends MessageDescription {
  /** What stands beside its payload; null if nothing does. */
  extras: MessageExtras | null
}

const MEDIA_TYPES: Record<string, string> = {
  image: 'image',
  video: 'video',
  audio: 'audio',
  document: 'document',
  sticker: 'image',
  interactive: 'interactive',
}

export interface InboundFile {
  /** The upstream's id of the file. */
  mediaId: string
  /** The type that the sender declared, without parameters. */
  mimeType: string | null
  /** The display name of a document. */
  filename: string | null
  isVoiceNote: boolean
}

const KINDS_WITH_FILE = new Set(['image', 'video', 'audio', 'document', 'sticker'])
const MAX_MEDIA_ID_LENGTH = 512
const MAX_FILENAME_LENGTH = 240

/** The file of a message of the given type; null if it has none to fetch. */
export function readInboundFile(type: string, payload: unknown): InboundFile | null {
  if (!KINDS_WITH_FILE.has(type)) return null
  const fields = asObject(payload)
  const mediaId = asText(fields.id)
  if (mediaId === null || mediaId.length > MAX_MEDIA_ID_LENGTH) return null
  return {
    mediaId,
    mimeType: readMimeType(fields.mime_type),
    filename: type === 'document' ? readFilename(fields.filename) : null,
    isVoiceNote: type === 'audio' && fields.voice === true,
  }
}

function readMimeType(value: unknown): string | null {
  const [type = ''] = (asText(value) ?? '').split(';')
  const name = type.trim().toLowerCase()
  return /^[\w.+-]{1,100}\/[\w.+-]{1,100}$/.test(name) ? name : null
}

function readFilename(value: unknown): string | null {
  const name = asText(value)
  return name === null ? null : Array.from(name).slice(0, MAX_FILENAME_LENGTH).join('')
}

/** The text of messages that the upstream does not pass on. */
export const UNREADABLE_TEXT = '[unsupported]'

/** What is recorded of an inbound message of the given type. */
export function describeInbound(type: string, message: JsonObject): InboundDescription {
  const payload = Object.hasOwn(message, type) ? message[type] : null
  return {
    text: textOf(type, payload) || standIn(type, payload),
    media_type: Object.hasOwn(MEDIA_TYPES, type) ? (MEDIA_TYPES[type] ?? null) : null,
    content: contentOf(type, payload, message.origin),
    extras: orNull(readExtras(message)),
  }
}

/** Some callbacks have the origin of contact cards beside them: it is put into the first one, where others have it. */
function contentOf(type: string, payload: unknown, origin: unknown): unknown {
  if (type === 'text') return null
  if (type !== 'contacts' || !Array.isArray(payload) || asText(origin) === null) return payload ?? null
  return payload.map((card, index) => (index === 0 && isJsonObject(card) ? { origin, ...card } : card))
}

/** The text of a message of the given type; empty if it has none. */
export function textOf(type: string, payload: unknown): string {
  const fields = asObject(payload)
  switch (type) {
    case 'text':
      return asText(fields.body) ?? ''
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
      return asText(fields.caption) ?? ''
    case 'sticker':
      return '[sticker]'
    case 'media_placeholder':
      return '[file]'
    case 'location':
      return describeLocation(fields)
    case 'contacts':
      return asObjects(payload).map(describeCard).join(', ')
    case 'interactive':
      return describeReply(fields)
    case 'button':
      return asText(fields.text) ?? asText(fields.payload) ?? ''
    case 'order':
      return describeOrder(fields)
    case 'system':
      return asText(fields.body) ?? ''
    default:
      return ''
  }
}

/** What stands for a text that is not there: the name of the kind. Files have their type, and a text may be empty. */
function standIn(type: string, payload: unknown): string {
  switch (type) {
    case 'text':
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
      return ''
    case 'unsupported':
    case 'unknown':
    case 'errors':
      return UNREADABLE_TEXT
    case 'interactive':
      return nameReply(asObject(payload))
    default:
      return `[${type}]`
  }
}

function nameReply(interactive: JsonObject): string {
  const { call_permission_reply: permission, product, type } = interactive
  if (isJsonObject(permission)) return `[call permission: ${asText(permission.response) ?? '?'}]`
  if (isJsonObject(product)) return `[product: ${asText(product.product_retailer_id) ?? '?'}]`
  const name = asText(type)
  return name === null ? UNREADABLE_TEXT : `[${name}]`
}

function describeLocation({ name, address, latitude, longitude }: JsonObject): string {
  const place = [asText(name), asText(address)].filter((part) => part !== null).join(', ')
  if (latitude === undefined || longitude === undefined) return place || '[location]'
  const coordinates = `${latitude}, ${longitude}`
  return place === '' ? coordinates : `${place} (${coordinates})`
}

function describeCard(card: JsonObject): string {
  const name = asObject(card.name)
  const parts = [asText(name.first_name), asText(name.last_name)].filter((part) => part !== null)
  return asText(name.formatted_name) ?? (parts.join(' ') || (asText(asObjects(card.phones)[0]?.phone) ?? '[contact]'))
}

function describeReply(interactive: JsonObject): string {
  const button = asObject(interactive.button_reply)
  const row = asObject(interactive.list_reply)
  const flow = asObject(interactive.nfm_reply)
  return asText(button.title) ?? asText(row.title) ?? asText(flow.body) ?? asText(flow.name) ?? ''
}

function describeOrder(order: JsonObject): string {
  const items = asObjects(order.product_items).map(
    (item) =>
      `${item.quantity ?? 1} × ${item.product_retailer_id ?? '?'} (${item.item_price ?? '?'} ${item.currency ?? ''})`,
  )
  return [asText(order.text), items.join(', ')].filter((part) => part !== null && part !== '').join('\n')
}
