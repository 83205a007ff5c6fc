import { isJsonObject, type JsonObject } from '../../../src/lib/text/json.js'
import { UPSTREAM_LIMITS } from '../../../src/upstream/limits.js'
import { type Refusal, refusals } from '../../errors/refusals.js'
import { checkAddress, checkUrlAction } from './actions.js'
import { checkRequiredText, checkUnique, firstRefusal } from './checks.js'
import { checkProduct } from './products.js'

const { least, most, body: maxBodyLength, lineBreaks } = UPSTREAM_LIMITS.carousel
const { buttons: maxButtons, buttonId: maxIdLength, title: maxTitleLength } = UPSTREAM_LIMITS
const headers = ['image', 'video']

/** Checks the action of a carousel: cards of files, or of products. */
export function checkCarousel(action: unknown): Refusal | null {
  if (!isJsonObject(action) || action.cards === undefined) return refusals.missing('action: cards is required')
  const { cards } = action
  if (!Array.isArray(cards) || cards.length < least || cards.length > most) {
    return refusals.invalidValue(`Invalid cards count. Min allowed cards: ${least}, Max allowed cards: ${most}`)
  }
  return firstRefusal(cards, checkCard) ?? checkAlike(cards)
}

function checkCard(card: unknown, index: number): Refusal | null {
  if (!isJsonObject(card)) return refusals.invalidValue('Card must be an object')
  if (card.card_index !== index)
    return refusals.invalidValue(`Card card_index must be ${index}, but is ${card.card_index}`)
  if (card.type === 'product') return checkProduct(card.action)
  if (card.type !== 'cta_url') {
    return refusals.invalidValue(`Card type must be one of cta_url, product, but is ${card.type}`)
  }
  return checkFile(card.header) ?? checkBody(card.body) ?? checkAction(card.action)
}

function checkFile(header: unknown): Refusal | null {
  if (!isJsonObject(header)) return refusals.missing('Card header is required')
  const kind = headers.find((accepted) => accepted === header.type)
  if (!kind)
    return refusals.invalidValue(`Card header type must be one of ${headers.join(', ')}, but is ${header.type}`)
  const file = header[kind]
  if (!isJsonObject(file) || file.link === undefined) return refusals.missing(`Card header: ${kind} link is required`)
  return checkAddress(String(file.link), `Card header: ${kind} link`)
}

function checkBody(body: unknown): Refusal | null {
  if (body === undefined) return null
  if (!isJsonObject(body)) return refusals.invalidValue('Card body must be an object')
  const refusal = checkRequiredText(body.text, 'Card body text', maxBodyLength)
  if (refusal || String(body.text).split('\n').length - 1 <= lineBreaks) return refusal
  return refusals.invalidValue(`Card body text has too many line breaks. Max allowed: ${lineBreaks}`)
}

function checkAction(action: unknown): Refusal | null {
  if (!isJsonObject(action)) return refusals.missing('Card action is required')
  const { buttons } = action
  if (buttons === undefined) return checkUrlAction(action)
  if (!Array.isArray(buttons) || buttons.length < 1 || buttons.length > maxButtons) {
    return refusals.invalidValue(`Invalid buttons count. Min allowed buttons: 1, Max allowed buttons: ${maxButtons}`)
  }
  return (
    firstRefusal(buttons, checkButton) ??
    checkUnique(
      buttons.map(({ quick_reply: reply }) => reply.id),
      'Button ids',
    )
  )
}

function checkButton(button: unknown): Refusal | null {
  if (!isJsonObject(button) || !isJsonObject(button.quick_reply)) {
    return refusals.missing('Button quick_reply is required')
  }
  if (button.type !== 'quick_reply') {
    return refusals.invalidValue(`Button type must be quick_reply, but is ${button.type}`)
  }
  return (
    checkRequiredText(button.quick_reply.id, 'Button id', maxIdLength) ??
    checkRequiredText(button.quick_reply.title, 'Button title', maxTitleLength)
  )
}

function checkAlike(cards: JsonObject[]): Refusal | null {
  const forms = new Set(cards.map(formOf))
  return forms.size === 1
    ? null
    : refusals.invalidValue('Cards must all have the same buttons, or products of one catalog')
}

function formOf({ type, action }: JsonObject): string {
  const { catalog_id: catalogId, buttons } = action as JsonObject
  if (type === 'product') return `products of ${catalogId}`
  return Array.isArray(buttons) ? `${buttons.length} quick replies` : 'a link'
}
