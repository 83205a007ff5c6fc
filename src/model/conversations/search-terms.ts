import { likeContaining } from '../../lib/text/like.js'
import { normalizeText } from '../../lib/text/normalize.js'
import { Problem } from '../problem.js'

/** A search term. */
export interface SearchTerm {
  /** As given. */
  text: string
  /**
   * Whether digits at its ends must not continue in the message, as for an order's number: 1001 does not match 10010.
   */
  isWhole: boolean
}

const MAX_TERMS = 20
const MAX_TERM_LENGTH = 200

/** Reads a comma-separated list of terms; empty ones are dropped. Throws invalid_parameter. */
export function readSearchTerms(query: string): SearchTerm[] {
  const texts = query.split(',').map((text) => text.trim())
  const given = [...new Set(texts)].filter((text) => text !== '')
  if (given.length > MAX_TERMS) {
    throw new Problem('invalid_parameter', `query has ${given.length} terms: at most ${MAX_TERMS} are allowed`)
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

/** A term as patterns for normalized text in PostgreSQL. */
export interface TermPattern {
  /** For LIKE. */
  like: string
  /** A regular expression that must match too; null if LIKE is enough. */
  whole: string | null
}

/** The patterns of a term. */
export function toPattern(term: SearchTerm): TermPattern {
  const normalized = normalizeTerm(term.text)
  return { like: likeContaining(normalized), whole: term.isWhole ? wholePattern(normalized) : null }
}

/** Returns a function that tests normalized texts for any of the terms, with the same result as the patterns. */
export function createMatcher(terms: readonly SearchTerm[]): (normalized: string) => boolean {
  const matchers = terms.map((term) => {
    const normalized = normalizeTerm(term.text)
    if (!term.isWhole) return (text: string) => text.includes(normalized)
    const whole = new RegExp(wholePattern(normalized))
    return (text: string) => whole.test(text)
  })
  return (text) => matchers.some((matches) => matches(text))
}

/**
 * Normalizes a term. A term that normalizes to nothing (a lone accent) would match every text, so it stays as it is and
 * matches none.
 */
export function normalizeTerm(text: string): string {
  return normalizeText(text).trim() || text
}

/** JavaScript and PostgreSQL read this pattern alike. */
function wholePattern(normalized: string): string {
  const literal = normalized.replaceAll(/[\\^$.*+?()[\]{}|]/g, '\\$&')
  return `${/^\d/.test(normalized) ? '(?<![0-9])' : ''}${literal}${/\d$/.test(normalized) ? '(?![0-9])' : ''}`
}

/** Separates text and transcription, so that no term matches across both. */
const BORDER = '\u001e'

/** The searchable text of a message. */
export function searchableText(text: string, transcription: string | null): string {
  return normalizeText(transcription === null ? text : `${text}${BORDER}${transcription}`)
}
