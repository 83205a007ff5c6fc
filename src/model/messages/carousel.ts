import { Problem } from '../problem.js'
import type { Card } from './interactive.js'
import { LIMITS, refuseTwice } from './limits.js'

const { lineBreaks } = LIMITS.carousel

/**
 * Checks the upstream's rules for the cards of a carousel as a whole: they are of one kind, with as many buttons each,
 * or of one catalogue. `path` is the field of the cards. Throws invalid_field.
 */
export function checkCards(cards: readonly Card[], path: string): void {
  const [first] = cards
  if (!first) return
  cards.forEach((card, index) => {
    const place = `${path}[${index}]`
    checkLike(card, first, place)
    if (card.type !== 'product') checkLineBreaks(card.body ?? '', `${place}.body`)
    if (card.type === 'button') refuseTwice(card.buttons, (n) => `${place}.buttons[${n}].id`)
  })
}

function checkLike(card: Card, first: Card, path: string): void {
  if (card.type !== first.type) {
    throw new Problem('invalid_field', `${path}.type must be ${first.type}, as of the first card`)
  }
  if (card.type === 'button' && first.type === 'button' && card.buttons.length !== first.buttons.length) {
    throw new Problem('invalid_field', `${path}.buttons must have ${first.buttons.length} items, as of the first card`)
  }
  if (card.type === 'product' && first.type === 'product' && card.catalog_id !== first.catalog_id) {
    throw new Problem('invalid_field', `${path}.catalog_id must be ${first.catalog_id}, as of the first card`)
  }
}

function checkLineBreaks(text: string, path: string): void {
  if (text.split('\n').length - 1 <= lineBreaks) return
  throw new Problem('invalid_field', `${path} must have at most ${lineBreaks} line breaks`)
}
