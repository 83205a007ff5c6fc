import { normalizeText } from '../../lib/text/normalize.js'
import { type Contact, toIso } from './contact.js'

/** The words by which customers say that they want no more (spec 4.5), folded. */
const KEYWORDS = [
  'stop',
  'unsubscribe',
  'opt out',
  'optout',
  'parar',
  'pare',
  'cancelar',
  'detener',
  'basta',
  'arreter',
  'desabonner',
  'fermare',
  'ferma',
  'annullare',
  'annulla',
  'cancellare',
  'quit',
  'end',
  'cancel',
]
const OPTS_OUT = anyOf(KEYWORDS)
const OPTS_IN = anyOf(['start'])

/** A keyword of opting out in a reply; `isWhole`: nothing else stands there. */
export interface OptOutWish {
  keyword: string
  isWhole: boolean
}

/**
 * The first keyword of opting out that stands in a reply as a whole word or phrase, whatever the case and accents; null where
 * there is none. Punctuation and emoji only separate words (contract 4, Analytics).
 */
export function findOptOut(text: string): OptOutWish | null {
  const words = readWords(text)
  const [keyword] = words.match(OPTS_OUT) ?? []
  return keyword === undefined ? null : { keyword, isWhole: isNothingBut(OPTS_OUT, words) }
}

/** Whether a reply says that the customer wants broadcasts again: nothing but `start`. */
export function isReOptIn(text: string): boolean {
  const words = readWords(text)
  return words.trim() !== '' && isNothingBut(OPTS_IN, words)
}

/** A contact that wants no broadcasts any more. */
export type OptedOutContact = Contact & {
  opted_out_at: Date | string
  opt_out_source: NonNullable<Contact['opt_out_source']>
}

/** An opt-out as the interfaces show it. */
export type PresentedOptOut = ReturnType<typeof presentOptOut>

/** Who has opted out, when, and by which way. */
export function presentOptOut({ id, chat_id, full_name, opted_out_at, opt_out_source }: OptedOutContact) {
  return {
    contactId: id,
    chatNumber: chat_id,
    contactName: full_name,
    opted_out_at: toIso(opted_out_at),
    source: opt_out_source,
  }
}

/** The folded words of a text with a space before and after each. What folds to letters without being one separates, too: ™, ℹ. */
function readWords(text: string): string {
  const spaced = text.replace(/[^\p{L}\p{N}\p{M}]|\p{Extended_Pictographic}/gu, ' ')
  const words = normalizeText(spaced).split(/[^\p{L}\p{N}]+/u)
  return ` ${words.filter((word) => word !== '').join(' ')} `
}

function isNothingBut(phrase: RegExp, words: string): boolean {
  return words.replace(phrase, '').trim() === ''
}

function anyOf(phrases: readonly string[]): RegExp {
  return new RegExp(`(?<= )(?:${phrases.join('|')})(?= )`, 'g')
}
