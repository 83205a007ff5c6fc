import { likeContaining } from '../../lib/text/like.js'
import { normalizeText } from '../../lib/text/normalize.js'
import { Problem } from '../problem.js'

/** What a message may hold to be found (contract 4, Conversations). */
export interface SearchTerm {
  /** As it was given. */
  text: string
  /** Whether digits at its ends may not go on in the message, as in an order's number: 1001 is not in 10010. */
  isWhole: boolean
}

const MAX_TERMS = 20
const MAX_TERM_LENGTH = 200

/** Reads a comma-separated list of terms; empty ones are dropped. Throws invalid_parameter. */
export function readSearchTerms(query: string): SearchTerm[] {
  const texts = query.split(',').map((text) => text.trim())
  const given = [...new Set(texts)].filter((text) => text !== '')
  if (given.length > MAX_TERMS) {
    throw new Problem('invalid_parameter', `query has ${given.length} terms, and may have at most ${MAX_TERMS}`)
  }
  for (const text of given) {
    const characters = [...text]
    if (characters.length <= MAX_TERM_LENGTH) continue
    throw new Problem(
      'invalid_parameter',
      `query has a term of ${characters.length} characters, and each may have at most ${MAX_TERM_LENGTH}: "${characters.slice(0, 40).join('')}…"`,
    )
  }
  return given.map((text) => ({ text, isWhole: false }))
}

/** A term as PostgreSQL looks for it in folded text. */
export interface TermPattern {
  /** For LIKE. */
  like: string
  /** A regular expression that must match too; null where LIKE says it all. */
  whole: string | null
}

/** How PostgreSQL looks for a term. */
export function toPattern(term: SearchTerm): TermPattern {
  const folded = normalizeTerm(term.text)
  return { like: likeContaining(folded), whole: term.isWhole ? wholePattern(folded) : null }
}

/** Tells of folded texts whether they hold one of the terms: the same that the patterns tell. */
export function createMatcher(terms: readonly SearchTerm[]): (folded: string) => boolean {
  const matchers = terms.map((term) => {
    const folded = normalizeTerm(term.text)
    if (!term.isWhole) return (text: string) => text.includes(folded)
    const whole = new RegExp(wholePattern(folded))
    return (text: string) => whole.test(text)
  })
  return (text) => matchers.some((matches) => matches(text))
}

/**
 * What is looked for, as folded texts may hold it. What folds away to nothing (a lone accent) would be in every text; left
 * unfolded it is in none.
 */
export function normalizeTerm(text: string): string {
  return normalizeText(text).trim() || text
}

/** Understood alike by JavaScript and PostgreSQL. */
function wholePattern(folded: string): string {
  const literal = folded.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return `${/^\d/.test(folded) ? '(?<![0-9])' : ''}${literal}${/\d$/.test(folded) ? '(?![0-9])' : ''}`
}

/** Between what a message says and what is said in it: no term reaches over it. */
const BORDER = '\u001e'

/** The text of a message under which it is found. */
export function searchableText(text: string, transcription: string | null): string {
  return normalizeText(transcription === null ? text : `${text}${BORDER}${transcription}`)
}
