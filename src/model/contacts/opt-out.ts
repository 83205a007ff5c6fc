import { normalizeText } from '../../lib/text/normalize.js'
import { type Contact, toIso } from './contact.js'

/** The opt-out keywords, normalized. */
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

/** An opt-out keyword in a reply; `isWhole`: the reply has no other words. */
export interface OptOutWish {
  keyword: string
  isWhole: boolean
}

/**
 * The first opt-out keyword in a reply, as a whole word or phrase, ignoring case and accents; null if there is none.
 * Punctuation and emoji separate words.
 */
export function findOptOut(text: string): OptOutWish | null {
  const words = readWords(text)
  const [keyword] = words.match(OPTS_OUT) ?? []
  return keyword === undefined ? null : { keyword, isWhole: isNothingBut(OPTS_OUT, words) }
}

/** Whether a reply asks to receive broadcasts again: only the word `start`. */
export function isReOptIn(text: string): boolean {
  const words = readWords(text)
  return words.trim() !== '' && isNothingBut(OPTS_IN, words)
}

/** A contact that has opted out. */
export type OptedOutContact = Contact & {
  opted_out_at: Date | string
  opt_out_source: NonNullable<Contact['opt_out_source']>
}

export type PresentedOptOut = ReturnType<typeof presentOptOut>

/** An opt-out as the interfaces show it. */
export function presentOptOut({
  id,
  chat_id,
  full_name,
  opted_out_at,
  opt_out_source,
  consent_words,
}: OptedOutContact) {
  return {
    contactId: id,
    chatNumber: chat_id,
    contactName: full_name,
    opted_out_at: toIso(opted_out_at),
    source: opt_out_source,
    words: consent_words ?? null,
  }
}

/**
 * The normalized words of a text with a space before and after each. Symbols that normalize to letters, such as ™ and
 * ℹ, separate words too.
 */
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
