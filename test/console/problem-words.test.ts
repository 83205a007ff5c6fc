import { describe, expect, it } from 'vitest'
import { describeProblem } from '../../console/src/i18n/problems/describe-problem.js'
import { problems } from '../../console/src/i18n/problems/pt.js'
import { PROBLEMS } from '../../src/model/problem.js'
import { SENTENCES, type Sentence, type SentenceCode, sentence, toEnglish } from '../../src/model/sentence.js'

/** Invalid values: translated by the sentence. */
const OF_VALUES = [
  'Invalid field',
  'Invalid parameter',
  'Missing required field',
  'Missing required parameter',
  'Invalid CSV',
]
/** Errors of API keys, and of endpoints that the page does not call. */
const NEVER_SHOWN = [
  'Authorization required',
  'Invalid API key',
  'Invalid signature',
  'Invalid verify token',
  'Organization not found',
  'Invalid JSON',
  'Template name is required',
  'chatNumber is required',
  'Invalid media',
  'Upstream rejected message',
  'Idempotency key reused',
  'Method not allowed',
]

const inPortuguese = (given: Sentence) =>
  describeProblem(problems, { error: 'Invalid field', message: toEnglish(given), sentence: given })

describe('an error of the service in Portuguese', () => {
  it('has a text for every error that the page can receive', () => {
    const names = Object.values(PROBLEMS).filter((name) => ![...OF_VALUES, ...NEVER_SHOWN].includes(name))
    expect(names.filter((name) => problems.names[name] === undefined)).toEqual([])
  })

  it('has a text for every sentence, which names only values that the sentence has', () => {
    const named = (text: string): string[] => text.match(/\{\w+\}/g) ?? []
    const wrong = Object.entries(SENTENCES).filter(([code, english]) => {
      const text = problems.sentences[code as SentenceCode]
      return !text || named(text).some((name) => !named(english).includes(name))
    })
    expect(wrong.map(([code]) => code)).toEqual([])
    expect(Object.keys(problems.sentences)).toHaveLength(Object.keys(SENTENCES).length)
  })

  it('is made from a sentence and its values', () => {
    const given = sentence('at_most', { field: 'full_name', limit: 255 })
    expect(toEnglish(given)).toBe('full_name must have at most 255 characters')
    expect(inPortuguese(given)).toBe('O valor deve ter no máximo 255 caracteres.')
  })

  it('is made from a sentence within a sentence', () => {
    const problem = sentence('whole_number', { field: 'page', minimum: 1, maximum: 100 })
    const given = sentence('of_parameter', { problem, given: '0' })
    expect(toEnglish(given)).toBe('page must be a whole number from 1 to 100, not "0"')
    expect(inPortuguese(given)).toBe('O valor deve ser um número inteiro de 1 a 100.')
  })

  it('keeps values as they are', () => {
    const given = sentence('phone_number', { field: 'chatNumber', given: '$1 {field}' })
    expect(inPortuguese(given)).toContain('“$1 {field}”')
  })

  it('is the meaning of its name without a sentence', () => {
    expect(describeProblem(problems, { error: 'Forbidden', message: 'No' })).toBe('Isso não é permitido.')
  })

  it('is generic without a sentence and for an unknown name', () => {
    const problem = { error: 'Invalid field', message: 'url is odd' }
    expect(describeProblem(problems, problem)).toBe('Um valor não foi aceito. Confira os campos.')
  })
})
