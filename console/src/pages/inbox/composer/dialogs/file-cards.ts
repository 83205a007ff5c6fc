import type { ContentOf } from '../../../../../../src/model/messages/shown/schemas.js'
import { TEXT_LIMITS } from '../attachments/limits.js'
import { isLink } from './is-link.js'

/** What the buttons of each card do: they open a link, or send one answer of as many. All cards are alike. */
export const CARD_ACTIONS = ['link', 'one', 'two', 'three'] as const
export type CardAction = (typeof CARD_ACTIONS)[number]

/** What WhatsApp shows above the text of a card. */
export const CARD_FILES = ['image', 'video'] as const

/** A card, as it is filled in. */
export interface FileCard {
  kind: (typeof CARD_FILES)[number]
  /** The address of the file, from which WhatsApp fetches it. */
  file: string
  body: string
  display_text: string
  url: string
  first: string
  second: string
  third: string
}

/** The cards of a carousel of files, as they are filled in. */
export interface FileCards {
  action: CardAction
  cards: FileCard[]
}

export const NO_CARD: FileCard = {
  kind: 'image',
  file: '',
  body: '',
  display_text: '',
  url: '',
  first: '',
  second: '',
  third: '',
}

export const NO_FILE_CARDS: FileCards = {
  action: 'link',
  cards: Array.from({ length: TEXT_LIMITS.leastCards }, () => NO_CARD),
}

/** A text field of a card. */
export interface CardField {
  name: Exclude<keyof FileCard, 'kind'>
  maxLength: number
  isNeeded: boolean
}

/** Why a field of a card is wrong. */
export type CardProblem = 'needed' | 'needsLink' | 'tooManyBreaks'

const ANSWERS: CardField[] = (['first', 'second', 'third'] as const).map((name) => needed(name, TEXT_LIMITS.title))

const BUTTONS: Record<CardAction, CardField[]> = {
  link: [needed('display_text', TEXT_LIMITS.title), needed('url', TEXT_LIMITS.url)],
  one: ANSWERS.slice(0, 1),
  two: ANSWERS.slice(0, 2),
  three: ANSWERS,
}

/** The text fields of each card, with the limits of POST /send-chat. */
export function fieldsOfCard(action: CardAction): CardField[] {
  return [
    needed('file', TEXT_LIMITS.url),
    { name: 'body', maxLength: TEXT_LIMITS.cardBody, isNeeded: false },
    ...BUTTONS[action],
  ]
}

function needed(name: CardField['name'], maxLength: number): CardField {
  return { name, maxLength, isNeeded: true }
}

/** What is wrong with the cards, by the paths of their fields, which begin with `path`: `path.cards.0.url`. */
export function problemsOfCards({ action, cards }: FileCards, path: string): [path: string, CardProblem][] {
  return cards.flatMap((card, index) =>
    fieldsOfCard(action).flatMap((field): [string, CardProblem][] => {
      const problem = problemOfField(field, card[field.name].trim())
      return problem === null ? [] : [[`${path}.cards.${index}.${field.name}`, problem]]
    }),
  )
}

function problemOfField({ name, isNeeded }: CardField, given: string): CardProblem | null {
  if (given === '') return isNeeded ? 'needed' : null
  if (name === 'file' || name === 'url') return isLink(given) ? null : 'needsLink'
  if (name === 'body' && given.split('\n').length - 1 > TEXT_LIMITS.lineBreaks) return 'tooManyBreaks'
  return null
}

/** The cards, as the conversation will show them. */
export function toCards({ action, cards }: FileCards): ContentOf<'carousel'>['cards'] {
  return cards.map((card, index) => {
    const common = { header_media: { type: card.kind, url: card.file.trim() }, body: card.body.trim() || null }
    if (action === 'link') {
      return { type: 'cta_url', ...common, display_text: card.display_text.trim(), url: card.url.trim() }
    }
    // The answer of the customer has the id only: it tells the card, too.
    const buttons = BUTTONS[action].map(({ name }, n) => ({
      id: `card_${index + 1}_button_${n + 1}`,
      title: card[name].trim(),
    }))
    return { type: 'button', ...common, buttons }
  })
}
