import { describe, expect, it } from 'vitest'
import {
  firstName,
  placeholderValues,
  resolvePlaceholders,
  toParameterText,
  unknownPlaceholders,
  unnamedWord,
} from '../../../src/model/templates/placeholders.js'

const ana = {
  full_name: 'Ana Souza',
  email: 'ana@shop.example',
  phone_number: '+5511987654321',
  chat_id: '5511987654321',
}
const nobody = { full_name: null, email: null, phone_number: null, chat_id: '00000000000000000001' }

describe('the first name', () => {
  it.each([
    ['Ana Souza', 'Ana'],
    ['  Ana\n', 'Ana'],
    ['🎉 Ana 🎉', 'Ana'],
    ['João🇧🇷Silva', 'João'],
    ['👩‍👩‍👧 Zoë', 'Zoë'],
    ['1️⃣ Bob', 'Bob'],
    ['~Maria~ (loja)', 'Maria'],
    ["O'Brien", "O'Brien"],
    ['Ana-Clara Lima', 'Ana-Clara'],
    ['- Ana', 'Ana'],
    ['李小龙', '李小龙'],
    ['محمد علي', 'محمد'],
    ['ශ්‍රී', 'ශ්‍රී'],
  ])('of %j is %s', (name, first) => {
    expect(firstName(name)).toBe(first)
  })

  it.each([null, '', '   ', '+55 (11) 98765-4321', '5511987654321', '😀', '...', '🎉 123'])(
    'of %j is not empty',
    (full_name) => {
      expect(firstName(full_name)).toBeNull()
      expect(resolvePlaceholders('{{first_name}}', { ...nobody, full_name }).text).toBe('there')
    },
  )

  it('of a person without a name is a word in the chosen language', () => {
    const word = (language: string, language_chosen = true) => unnamedWord({ language, language_chosen })
    expect(['pt_BR', 'pt', 'es-AR', 'it', 'fr_FR', 'PT_br'].map((language) => word(language))).toEqual([
      'cliente',
      'cliente',
      'cliente',
      'cliente',
      'vous',
      'cliente',
    ])
    expect([word('en_US'), word('id'), word('pt_BR', false)]).toEqual(['there', 'there', 'there'])
    expect(resolvePlaceholders('Oi, {{first_name}}', { ...nobody, unnamed: 'cliente' }).text).toBe('Oi, cliente')
    expect(placeholderValues({ ...ana, unnamed: 'cliente' }).first_name).toBe('Ana')
  })
})

describe('placeholders in a text', () => {
  it("are replaced by the contact's values, in any case and with spaces inside", () => {
    const value = '{{first_name}}|{{ full_name }}|{{Email}}|{{phone_number}}|{{chat_id}}'
    expect(resolvePlaceholders(value, ana)).toEqual({
      text: 'Ana|Ana Souza|ana@shop.example|+5511987654321|5511987654321',
      unresolved: null,
    })
  })

  it.each(['{{full_name}}', '{{ email }}', '{{phone_number}}', '{{nickname}}', '{{}}', '{{constructor}}'])(
    'report that %s is empty',
    (placeholder) => {
      expect(resolvePlaceholders(`{{first_name}} ${placeholder}`, nobody).unresolved).toBe(placeholder)
    },
  )

  it('are not replaced inside values', () => {
    expect(resolvePlaceholders('{{full_name}}', { ...ana, full_name: '{{email}}' }).text).toBe('{{email}}')
  })

  it('are URL-encoded on request', () => {
    expect(resolvePlaceholders('a?n={{full_name}}&p=1', ana, encodeURIComponent).text).toBe('a?n=Ana%20Souza&p=1')
  })

  it('are reported if they are unknown', () => {
    expect(unknownPlaceholders('{{ first_name }} {{firstname}} { {x} } {{user.name}}')).toEqual([
      '{{firstname}}',
      '{{user.name}}',
    ])
  })
})

it.each([
  ['a\n\tb', 'a b'],
  ['a     b', 'a b'],
  [' \u00a0\u2028 a\u0085b ', 'a b'],
  [' \r\n', ''],
])('the upstream receives %j as %j', (text, expected) => {
  expect(toParameterText(text)).toBe(expected)
})
