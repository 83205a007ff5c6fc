import { asObject, asText, isJsonObject, type JsonObject } from '../../../lib/text/json.js'
import { textOf } from '../describe-inbound.js'
import { readTime } from './read.js'
import type { StoredContent } from './stored-content.js'

/**
 * Whether its author deleted the message. The version before, which may still run beside this one, empties the text and
 * sets no mark: such a row is known by content that would have been recorded with a text.
 */
export function isDeleted(message: StoredContent): boolean {
  const { deleted_at, edited_at } = asObject(message.extras)
  if (readTime(deleted_at) !== null) return true
  return message.text === '' && edited_at === undefined && recordedText(message) !== ''
}

/** The text that content of this kind is recorded with; empty for kinds that may have none, such as captions. */
function recordedText({ message_type: type, content }: StoredContent): string {
  const { name, body } = asObject(content)
  switch (type) {
    case 'sticker':
    case 'location':
    case 'contacts':
    case 'button':
    case 'order':
      return textOf(type, content)
    case 'interactive':
      return textOf(type, content) || (asText(body) ?? '')
    case 'poll':
      return asText(name) ?? ''
    default:
      return ''
  }
}

/** The message, and a deleted one without what it said: only the kind of its content stays. */
export function withoutDeleted<Row extends StoredContent>(message: Row): Row {
  return isDeleted(message) ? { ...message, text: '', content: kindOf(message) } : message
}

function kindOf({ message_type: kind, content: stored }: StoredContent): JsonObject | null {
  const { type, raw_type, voice, ...content } = asObject(stored)
  switch (kind) {
    case 'audio':
      return { voice }
    case 'unsupported':
    case 'unknown':
      return { type, raw_type }
    case 'interactive':
      return { type, ...kindOfReply(content) }
    default:
      return null
  }
}

/** Replies that came without a type are known by the name of a field, and addresses by the name of their form. */
function kindOfReply({ action, ...content }: JsonObject): JsonObject {
  const names = ['button_reply', 'list_reply', 'nfm_reply', 'call_permission_reply', 'product']
  const replies = names.filter((name) => isJsonObject(content[name])).map((name) => [name, {}])
  const isAddress = action === 'address_message' || asObject(content.nfm_reply).name === 'address_message'
  return { ...Object.fromEntries(replies), ...(isAddress && { action: 'address_message' }) }
}
