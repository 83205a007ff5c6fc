import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { findOptOut, isReOptIn } from '../../../src/model/contacts/opt-out.js'

const KEYWORDS = [
  ...[
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
  ],
  ...['fermare', 'ferma', 'annullare', 'annulla', 'cancellare', 'quit', 'end', 'cancel'],
]

const keyword = fc.constantFrom(...KEYWORDS)
const anyCase = (text: string) =>
  fc
    .array(fc.boolean(), { minLength: text.length, maxLength: text.length })
    .map((upper) => Array.from(text, (letter, index) => (upper[index] ? letter.toUpperCase() : letter)).join(''))
const ornament = fc
  .array(fc.constantFrom(' ', '\n', '!', '.', '…', '"', '“', '¡', '🛑', '👋🏽', '❤️', 'ℹ️', '™', '-', '_', '\u200b'), {
    maxLength: 6,
  })
  .map((parts) => parts.join(''))
const letterOrDigit = fc.constantFrom('a', 'Z', 'é', 'ß', 'ж', '日', '7', '٣')

describe('findOptOut', () => {
  it.each([
    ["don't stop believing", 'stop', false],
    ['Please STOP sending me this', 'stop', false],
    ['PARAR!!! 🛑', 'parar', true],
    ['  stop.  ', 'stop', true],
    ['Stop, stop!', 'stop', true],
    ['opt out', 'opt out', true],
    ['Opt-Out', 'opt out', true],
    ['opt   out', 'opt out', true],
    ['opt\u2011out please', 'opt out', false],
    ['OPTOUT', 'optout', true],
    ['arrêter', 'arreter', true],
    ['Désabonner', 'desabonner', true],
    ['de\u0301sabonner', 'desabonner', true],
    ["Veuillez m'ARRÊTER ça", 'arreter', false],
    ['ＳＴＯＰ', 'stop', true],
    ['ℹ️ stop ℹ️', 'stop', true],
    ['¡Basta!', 'basta', true],
    ['the end', 'end', false],
    ['stop 7', 'stop', false],
    ['stop start', 'stop', false],
  ])('finds in %j the keyword %j (as the whole reply: %j)', (text, found, isWhole) => {
    expect(findOptOut(text)).toEqual({ keyword: found, isWhole })
  })

  it.each([
    'nonstop',
    'stopped',
    'parador',
    'opt',
    'out opt',
    'opt in or out',
    'stop2',
    'стоп',
    'weekend',
    '🛑',
    '',
    ' ',
    's top',
  ])('finds nothing in %j', (text) => expect(findOptOut(text)).toBeNull())

  it('finds every keyword in any case and decoration, as the whole reply', () => {
    const cases = keyword.chain((word) => fc.tuple(fc.constant(word), anyCase(word), ornament, ornament))
    fc.assert(
      fc.property(cases, ([word, written, before, after]) => {
        expect(findOptOut(before + written + after)).toEqual({ keyword: word, isWhole: true })
      }),
    )
  })

  it('finds every keyword between other words, and not as the whole reply', () => {
    fc.assert(
      fc.property(keyword, letterOrDigit, letterOrDigit, (word, before, after) => {
        expect(findOptOut(`${before} ${word}, ${after}`)).toEqual({ keyword: word, isWhole: false })
      }),
    )
  })

  it('ignores a keyword inside another word', () => {
    const single = fc.constantFrom(...KEYWORDS.filter((word) => !word.includes(' ')))
    fc.assert(
      fc.property(single, letterOrDigit, (word, joined) => {
        expect([findOptOut(joined + word), findOptOut(word + joined)]).toEqual([null, null])
      }),
    )
  })

  it('accepts any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (text) => {
        const found = findOptOut(text)
        expect(found === null || KEYWORDS.includes(found.keyword)).toBe(true)
      }),
    )
  })
})

describe('isReOptIn', () => {
  it.each(['start', 'START', ' Start! 👍', '"start"', 'start start'])('accepts %j', (text) =>
    expect(isReOptIn(text)).toBe(true),
  )

  it.each(['', '👍', 'restart', 'start now', 'start stop', 'começar', 'starting', 's t a r t'])('refuses %j', (text) =>
    expect(isReOptIn(text)).toBe(false),
  )
})
