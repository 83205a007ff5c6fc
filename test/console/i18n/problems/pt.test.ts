import { describe, expect, it } from 'vitest'
import { describeProblem } from '../../../../console/src/i18n/problems/pt.js'
import { PROBLEMS } from '../../../../src/model/problem.js'

/** Invalid values: translated by the service's message. */
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

describe('an error of the service in Portuguese', () => {
  it('has a sentence for every error that the page can receive', () => {
    const names = Object.values(PROBLEMS).filter((name) => ![...OF_VALUES, ...NEVER_SHOWN].includes(name))
    const general = describeProblem('?', '')
    expect(names.filter((name) => describeProblem(name, '') === general)).toEqual([])
  })

  it.each([
    ['full_name must have at most 255 characters', 'O valor deve ter no máximo 255 caracteres.'],
    ['password must have at least 8 characters', 'O valor deve ter pelo menos 8 caracteres.'],
    ['messages_per_second must be a whole number from 0 to 10000', 'O valor deve ser um número inteiro de 0 a 10000.'],
    ['email must be an e-mail address', 'O valor deve ser um endereço de e-mail.'],
    ['name is required and must not be empty', 'O valor é obrigatório.'],
  ])('explains the expected value: %s', (message, expected) => {
    expect(describeProblem('Invalid field', message)).toBe(expected)
  })

  it('names the columns that a list has instead of numbers', () => {
    const message =
      'chatNumber is required: the first row of the file must name such a column, such as Phone, and it has "Cidade", "UF"'
    expect(describeProblem('Missing required field', message)).toBe(
      'Falta uma coluna com os números, chamada, por exemplo, Telefone, Celular ou WhatsApp. A primeira linha tem "Cidade", "UF".',
    )
  })

  it('is generic for an unknown message', () => {
    expect(describeProblem('Invalid field', 'url is odd')).toBe('Um valor não foi aceito. Confira os campos.')
  })
})
