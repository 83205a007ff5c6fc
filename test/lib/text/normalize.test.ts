import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { normalizeText } from '../../../src/lib/text/normalize.js'

describe('normalizing makes equal', () => {
  it.each([
    ['AÇÃO', 'acao'],
    ['ac\u0327a\u0303o', 'acao'],
    ['São Paulo', 'sao paulo'],
    ['Müller, Zoë', 'muller, zoe'],
    ['STRASSE', 'straße'],
    ['STRAẞE', 'strasse'],
    ['Øre', 'ore'],
    ['Æble, Œuvre', 'aeble, oeuvre'],
    ['Łódź', 'lodz'],
    ['Đorđe', 'dorde'],
    ['Þór', 'thor'],
    ['İstanbul', 'istanbul'],
    ['ISPARTA', 'ısparta'],
    ['ΟΔΟΣ', 'οδός'],
    ['οδοσ', 'οδος'],
    ['ΆΈΉΊΌΎΏ', 'αεηιουω'],
    ['ЁЛКА', 'елка'],
    ['Київ', 'киів'],
    ['ＡＢＣ１２３', 'abc123'],
    ['ﬁm', 'fim'],
    ['K\u212a', 'kk'],
    ['½', '1⁄2'],
    ['①', '1'],
    ['שָׁלוֹם', 'שלום'],
    ['مُحَمَّد', 'محمد'],
    ['한국', '한국'.normalize('NFD')],
    ['\u0390', '\u03b9'],
    ['ǅ', 'dz'],
  ])('%s and %s', (one, other) => {
    expect(normalizeText(one)).toBe(normalizeText(other))
  })

  it('but not different words', () => {
    expect(new Set(['a', 'b', '1', '%', '_', '\\', '😀', '한', 'и', 'י'].map(normalizeText)).size).toBe(10)
  })
})

const text = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 20 }),
  fc.string({ unit: 'grapheme', maxLength: 20 }),
  fc.string({
    unit: fc.constantFrom(...'aAãÃßẞİıΣσς\u0301\u0307\u0345\u05b0\u0651\u3099\u1100\u1161 '),
    maxLength: 12,
  }),
)

describe('normalizing any text', () => {
  it('twice has no further effect', () => {
    fc.assert(
      fc.property(text, (given) => {
        expect(normalizeText(normalizeText(given))).toBe(normalizeText(given))
      }),
      { seed: 1, numRuns: 5_000 },
    )
  })

  it('gives the same result for composed, decomposed, upper and lower case forms', () => {
    fc.assert(
      fc.property(text, (given) => {
        const folded = normalizeText(given)
        expect(normalizeText(given.normalize('NFC'))).toBe(folded)
        expect(normalizeText(given.normalize('NFD'))).toBe(folded)
        expect(normalizeText(given.toLowerCase())).toBe(folded)
      }),
      { seed: 2, numRuns: 5_000 },
    )
  })

  it('of one character is complete in one step, for every character', () => {
    for (let code = 0; code <= 0x10ffff; code++) {
      if (code >= 0xd800 && code <= 0xdfff) continue
      const folded = normalizeText(String.fromCodePoint(code))
      if (normalizeText(folded) !== folded) expect.fail(`U+${code.toString(16)} folds to ${JSON.stringify(folded)}`)
    }
  })
})
