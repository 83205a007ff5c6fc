import { asObject } from '../../../lib/text/json.js'
import { withoutDeleted } from './deleted.js'
import { presentExtras } from './extras.js'
import { presentInteractive } from './interactive.js'
import { presentNetworkKind } from './network-kinds.js'
import { presentOther, presentUnsupported } from './other.js'
import { hasLongList, readBoolean, readNumber, readText, readTexts } from './read.js'
import {
  presentCards,
  presentGroupChange,
  presentOrder,
  presentPoll,
  presentSystem,
  presentTemplate,
} from './records.js'
import type { ShownContent } from './schemas.js'
import type { StoredContent } from './stored-content.js'

/**
 * What a message holds beside its text, as interfaces and events show it; null for a plain text. Any JSON becomes valid
 * content: what is not understood is null.
 */
export function presentContent(stored: StoredContent): ShownContent | null {
  const common = presentExtras(stored.extras, stored.message_type, stored.content)
  const message = withoutDeleted(stored)
  const shown = presentKind(message)
  const isCut = shown.type !== 'other' && (hasLongList(message.content) || hasLongList(message.extras))
  const content = { ...shown, ...common, ...(isCut && { truncated: true as const }) }
  return content.type === 'text' && Object.keys(content).length === 1 ? null : content
}

function presentKind(message: StoredContent): ShownContent {
  const { message_type: type, text } = message
  const content = asObject(message.content)
  const mimeType = readText(content.mime_type)
  const caption = readText(text)
  switch (type) {
    case 'text':
      return presentText(content)
    case 'image':
      return { type, caption, mime_type: mimeType }
    case 'video':
      return { type, caption, mime_type: mimeType, animated: readBoolean(content.animated) ?? false }
    case 'audio':
    case 'voice':
      return { type: 'audio', voice: type === 'voice' || readBoolean(content.voice) === true, mime_type: mimeType }
    case 'document':
      return { type, caption, filename: readText(content.filename), mime_type: mimeType }
    case 'sticker':
      return { type, animated: readBoolean(content.animated), mime_type: mimeType }
    case 'location':
      return {
        type,
        latitude: readNumber(content.latitude),
        longitude: readNumber(content.longitude),
        name: readText(content.name),
        address: readText(content.address),
        url: readText(content.url),
      }
    case 'contacts':
      return presentCards(message.content)
    case 'interactive':
      return presentInteractive(message)
    case 'button':
      return { type, payload: readText(content.payload), title: readText(content.text) ?? readText(text) }
    case 'order':
      return presentOrder(content)
    case 'reaction':
      return { type, emoji: readText(text), message_id: readText(message.context_upstream_id) }
    case 'poll':
      return presentPoll(content, text)
    case 'product':
    case 'event':
    case 'group_invite':
      return presentNetworkKind(type, content) ?? presentOther(type, message.content)
    case 'template':
      return presentTemplate(content, text)
    case 'system':
      return presentSystem(content, message.extras)
    case 'call':
      return {
        type,
        direction: readText(content.direction),
        outcome: readText(content.outcome),
        seconds: readNumber(content.seconds),
      }
    case 'handover':
      return {
        type,
        holder: readText(content.holder),
        previous_role: readText(content.previous_role),
        new_role: readText(content.new_role),
        note: readText(content.note),
        summary: readText(content.summary),
      }
    case 'group':
      return presentGroupChange(content)
    case 'request_welcome':
      return { type }
    case 'unsupported':
    case 'unknown':
      return presentUnsupported(content, message.extras)
    default:
      return presentOther(type, message.content)
  }
}

function presentText(content: Record<string, unknown>): ShownContent {
  const mentions = readTexts(content.mentions)
  return { type: 'text', ...(mentions.length > 0 && { mentions }) }
}
