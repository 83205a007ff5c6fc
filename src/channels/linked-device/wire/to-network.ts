import type { Readable } from 'node:stream'
import type { JsonObject } from '../../../lib/text/json.js'
import { toVcard } from '../../../model/contacts/vcard.js'
import type { ReadyContent } from '../../../model/messages/content.js'
import type { KnownMessage } from '../../device.js'
import type { LinkedLibrary } from '../library.js'
import { toJid } from './jid.js'

/** A file to send. */
export interface OpenedFile {
  source: { path: string } | { stream: Readable }
  mimeType: string
  filename: string | null
}

/** A message in the library's format, or why linked devices do not support it. */
export type NetworkContent = { content: JsonObject } | { unsupported: string }

type FileContent = Extract<ReadyContent, { file: { channelMediaId: string } }>

/** Converts a message to the library's format; `openFile` finds the file of a `channelMediaId`. */
export async function toNetworkContent(
  content: ReadyContent,
  replyTo: KnownMessage | null,
  openFile: (mediaId: string) => Promise<OpenedFile>,
): Promise<NetworkContent> {
  switch (content.type) {
    case 'text':
      // Otherwise the library would fetch the page for a preview; it must not fetch what a message names.
      return { content: { text: content.text, linkPreview: null, ...toMentions(content.mentions) } }
    case 'image':
    case 'video':
    case 'audio':
    case 'document':
    case 'sticker':
      return { content: toFile(content, await openFile(content.file.channelMediaId)) }
    case 'location': {
      const { latitude: degreesLatitude, longitude: degreesLongitude, name, address } = content
      const place = { ...optional('name', name), ...optional('address', address) }
      return { content: { location: { degreesLatitude, degreesLongitude, ...place } } }
    }
    case 'contacts': {
      const contacts = content.contacts.map((card) => ({
        displayName: card.name.formatted_name,
        vcard: toVcard(card),
      }))
      const displayName = contacts.length === 1 ? contacts[0]?.displayName : `${contacts.length} contacts`
      return { content: { contacts: { displayName, contacts } } }
    }
    case 'reaction':
      if (replyTo === null) return { unsupported: 'The message to react to is not known to this device' }
      return { content: { react: { key: replyTo.key, text: content.emoji } } }
    case 'poll': {
      const { name, options, selectableCount } = content
      return { content: { poll: { name, values: [...options], selectableCount } } }
    }
    case 'interactive':
      return {
        unsupported:
          'Interactive messages of a linked device never arrive; WhatsApp shows them from business numbers only',
      }
    case 'template':
    case 'raw_template':
      return { unsupported: 'A linked device has no templates; WhatsApp has them for business numbers only' }
  }
}

/** The quoted message in the library's format. */
export function toQuoted(library: LinkedLibrary, { key, message }: KnownMessage): JsonObject {
  const known = Object.keys(message).length === 0 ? { conversation: '' } : message
  return { key, message: library.proto.Message.fromObject(known) }
}

function toFile(content: FileContent, { source, mimeType, filename }: OpenedFile): JsonObject {
  const upload = 'path' in source ? { url: source.path } : { stream: source.stream }
  switch (content.type) {
    case 'image':
      return {
        image: upload,
        mimetype: mimeType,
        ...optional('caption', content.caption),
        ...toMentions(content.mentions),
      }
    case 'video': {
      const shape = content.round ? { ptv: true } : {}
      const words = { ...optional('caption', content.caption), ...toMentions(content.mentions) }
      return { video: upload, mimetype: mimeType, ...shape, ...words }
    }
    case 'audio':
      return content.voice
        ? { audio: upload, mimetype: 'audio/ogg; codecs=opus', ptt: true }
        : { audio: upload, mimetype: mimeType }
    case 'sticker':
      return { sticker: upload, mimetype: mimeType }
    case 'document': {
      const name = { ...optional('fileName', content.filename ?? filename), ...optional('caption', content.caption) }
      return { document: upload, mimetype: mimeType, ...name, ...toMentions(content.mentions) }
    }
  }
}

function toMentions(mentions: readonly string[] | undefined): JsonObject {
  return mentions === undefined || mentions.length === 0 ? {} : { mentions: mentions.map(toJid) }
}

function optional(name: string, value: string | null): JsonObject {
  return value === null ? {} : { [name]: value }
}
