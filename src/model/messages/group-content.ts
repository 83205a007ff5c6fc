import type { FilledParts, MessageContent, ReadyContent } from './content.js'

/**
 * What keeps the business API from sending a message to a group, in words for an error; null if it sends it. It sends
 * texts, files and templates of both to groups.
 */
export function whyNotToGroup(content: MessageContent | ReadyContent): string | null {
  switch (content.type) {
    case 'location':
      return 'a location'
    case 'contacts':
      return 'contact cards'
    case 'interactive':
      return `an interactive message of type ${content.interactive.type}`
    case 'reaction':
      return 'a reaction'
    case 'poll':
      return 'a poll'
    case 'template': {
      const { template, parts } = content
      const part = template.header?.type === 'location' ? 'a location as its header' : parts ? partOf(parts) : null
      return part === null ? null : `the template ${template.name}, which has ${part},`
    }
    default:
      return null
  }
}

/** The part of a template that is interactive or about products; null: it has none. */
function partOf({ headerProduct, buttons, cards }: FilledParts): string | null {
  if (cards.length > 0) return 'cards'
  if (headerProduct !== null) return 'a product as its header'
  const [button] = buttons
  if (button === undefined) return null
  return button.kind === 'flow' ? 'a form' : 'products'
}
