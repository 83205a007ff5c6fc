import { describe, expect, it } from 'vitest'
import { describeProblem } from '../../../../console/src/i18n/problems/describe-problem.js'
import { problems } from '../../../../console/src/i18n/problems/pt.js'
import { PROBLEMS, Problem } from '../../../../src/model/problem.js'
import { SENTENCES, type Sentence, type SentenceCode, sentence, toEnglish } from '../../../../src/model/sentence.js'

/** Invalid values: translated by the sentence. */
const OF_VALUES = ['Invalid field', 'Invalid parameter', 'Invalid CSV']
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
  'Upstream rejected message',
  'Idempotency key reused',
  'Method not allowed',
]

const inPortuguese = (message: Sentence | string) => {
  const { sentence } = new Problem('invalid_field', message)
  return describeProblem(problems, { error: PROBLEMS.invalid_field, message: toEnglish(message), sentence })
}

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
  })

  it.each([
    [sentence('at_most', { field: 'full_name', limit: 255 }), 'O valor deve ter no máximo 255 caracteres.'],
    [sentence('at_least', { field: 'password', limit: 8 }), 'O valor deve ter pelo menos 8 caracteres.'],
    [
      sentence('whole_number', { field: 'messages_per_second', minimum: 0, maximum: 10_000 }),
      'O valor deve ser um número inteiro de 0 a 10000.',
    ],
    [sentence('email', { field: 'email' }), 'O valor deve ser um endereço de e-mail.'],
    [sentence('not_empty', { field: 'name' }), 'O valor é obrigatório.'],
  ])('explains the expected value: %j', (given, expected) => {
    expect(inPortuguese(given)).toBe(expected)
  })

  it('says that a value is required', () => {
    const problem = { error: PROBLEMS.missing_field, message: 'name is required and must not be empty' }
    expect(describeProblem(problems, problem)).toBe('O valor é obrigatório.')
  })

  it('are described by the name of the error if the page is older than the sentence', () => {
    const newer = { code: 'of_a_later_version' as SentenceCode, values: {} }
    const problem = { error: PROBLEMS.missing_field, message: 'name is required', sentence: newer }
    expect(describeProblem(problems, problem)).toBe('O valor é obrigatório.')
  })

  it('names the columns that a list has instead of numbers', () => {
    const { message, sentence: given } = new Problem(
      'missing_field',
      sentence('no_number_column', { field: 'chatNumber', headings: '"Cidade", "UF"' }),
    )
    expect(message).toMatch(/^chatNumber is required: .*, and it has "Cidade", "UF"$/)
    expect(describeProblem(problems, { error: PROBLEMS.missing_field, message, sentence: given })).toBe(
      'Falta uma coluna com os números, chamada, por exemplo, Telefone, Celular ou WhatsApp. A primeira linha tem "Cidade", "UF".',
    )
  })

  it('keeps values as they are', () => {
    const given = sentence('phone_number', { field: 'chatNumber', given: '$1 {field}' })
    expect(toEnglish(given)).toContain('chatNumber "$1 {field}"')
    expect(inPortuguese(given)).toContain('“$1 {field}”')
  })

  it('is generic for an unknown message', () => {
    expect(inPortuguese('url is odd')).toBe('Um valor não foi aceito. Confira os campos.')
  })
})
