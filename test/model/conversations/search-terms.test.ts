import fc from 'fast-check'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  createMatcher,
  readSearchTerms,
  type SearchTerm,
  searchableText,
  toPattern,
} from '../../../src/model/conversations/search-terms.js'
import { createTestDatabase, type TestDatabase } from '../../support/database.js'

describe('reading a search query', () => {
  it.each([
    ['', []],
    [',', []],
    [' , ,,\t,\u00a0', []],
    ['pix', ['pix']],
    [' pix , nota fiscal,', ['pix', 'nota fiscal']],
    ['pix,pix, pix', ['pix']],
    ['PIX,pix', ['PIX', 'pix']],
    ['R$ 10', ['R$ 10']],
  ])('works for %j', (query, expected) => {
    expect(readSearchTerms(query)).toEqual(expected.map((text) => ({ text, isWhole: false })))
  })

  it('accepts 20 terms of 200 code points, and reports the limit beyond', () => {
    const terms = Array.from({ length: 20 }, (_, number) => `${number}${'😀'.repeat(198)}`)
    expect(readSearchTerms(`${terms},${terms[0]},,`)).toHaveLength(20)
    expect(() => readSearchTerms(`${terms},one more`)).toThrow('query has 21 terms: at most 20 are allowed')
    expect(() => readSearchTerms(`pix,${'😀'.repeat(201)}`)).toThrow(
      'query has a term of 201 characters, and each may have at most 200',
    )
  })

  it('shows the start of a term that is too long, in whole characters', () => {
    const problem = (query: string) => {
      try {
        return readSearchTerms(query)
      } catch (error) {
        return (error as Error).message
      }
    }
    expect(problem(`x${'😀'.repeat(300)}`)).toSatisfy((message: string) => message.isWellFormed())
  })
})

const part = (text: string): SearchTerm => ({ text, isWhole: false })
const whole = (text: string): SearchTerm => ({ text, isWhole: true })

/** The expected result of the patterns, computed without them. */
function holds(normalized: string, term: string, isWhole: boolean): boolean {
  for (let at = normalized.indexOf(term); at >= 0; at = normalized.indexOf(term, at + 1)) {
    const [before = '', after = ''] = [normalized[at - 1], normalized[at + term.length]]
    const goesOn = (/^\d/.test(term) && /\d/.test(before)) || (/\d$/.test(term) && /\d/.test(after))
    if (!isWhole || !goesOn) return true
  }
  return false
}

describe('a matcher', () => {
  const matches = (term: SearchTerm, text: string) => createMatcher([term])(searchableText(text, null))

  it.each([
    ['1001', 'pedido 1001', true],
    ['1001', 'n°1001.', true],
    ['1001', '#1001', true],
    ['1001', '1001', true],
    ['1001', 'x1001x', true],
    ['1001', '10010', false],
    ['1001', '11001', false],
    ['1001', '10010 e 1001', true],
    ['1001', '１００１', true],
    ['1001', '１００１０', false],
    ['#1001', '#1001', true],
    ['#1001', 'pedido #1001!', true],
    ['#1001', '#10010', false],
    ['#1001', '5#1001', true],
    ['#1001', '1001', false],
    ['LJ#1042-BR', 'o lj#1042-br chegou', true],
    ['LJ#1042-BR', 'lj#1042-brasil', true],
    ['(1)+[2]', 'x (1)+[2] y', true],
    ['***=1001', 'a ***=1001', true],
    ['(?i)A', '(?i)a', true],
    ['.*', 'anything', false],
  ])('of the whole %s in %s: %s', (term, text, expected) => {
    expect(matches(whole(term), text)).toBe(expected)
  })

  it('does not match across a text and its transcription', () => {
    const normalized = searchableText('Bom', 'dia')
    expect(createMatcher([part('mdia')])(normalized)).toBe(false)
    expect(createMatcher([part('m'), part('zzz')])(normalized)).toBe(true)
    expect(createMatcher([part('DIA')])(normalized)).toBe(true)
  })

  it('of an accent alone does not match every text', () => {
    expect(matches(part('\u0301'), 'cafe')).toBe(false)
    expect(matches(part('´'), 'cafe com leite')).toBe(false)
  })
})

describe('PostgreSQL and JavaScript', () => {
  let database: TestDatabase

  beforeAll(async () => {
    database = await createTestDatabase()
  })
  afterAll(() => database.drop())

  const storable = (text: string) => !text.includes('\0')
  const piece = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 8 }).filter(storable),
    fc.string({ unit: 'grapheme', maxLength: 6 }),
    fc.string({ unit: fc.constantFrom(...'%_\\\'"^$.*+?()[]{}|-#/<>=!:&,0123456789 ab\n'), maxLength: 8 }),
    fc.constantFrom(
      '1001',
      '#1001',
      '10',
      '１０',
      'ção',
      'ca\u0303o',
      'ß',
      'SS',
      'Σ',
      'ς',
      '\\d',
      '(?i)',
      '***=',
      '***:',
      '\\m',
      '',
    ),
  )
  const term = fc.record({ text: piece.filter((text) => text.trim() !== ''), isWhole: fc.boolean() })
  const pair = fc.tuple(term, fc.array(piece, { maxLength: 3 }), fc.array(piece, { maxLength: 3 }), fc.boolean())

  it('agree on any text and any term', async () => {
    let hits = 0
    await fc.assert(
      fc.asyncProperty(fc.array(pair, { minLength: 200, maxLength: 200 }), async (pairs) => {
        const cases = pairs.map(([searched, before, after, isIn]) => ({
          searched,
          normalized: searchableText([...before, ...(isIn ? [searched.text] : []), ...after].join(''), null),
        }))
        const patterns = cases.map(({ searched }) => toPattern(searched))
        const { rows } = await database.pool.query<{ matches: boolean }>(
          `SELECT folded LIKE pattern AND (whole IS NULL OR folded ~ whole) AS matches
           FROM unnest($1::text[], $2::text[], $3::text[]) WITH ORDINALITY AS given (folded, pattern, whole, n) ORDER BY n`,
          [
            cases.map(({ normalized: folded }) => folded),
            patterns.map(({ like }) => like),
            patterns.map((one) => one.whole),
          ],
        )
        for (const [index, { searched, normalized }] of cases.entries()) {
          const matches = createMatcher([searched])(normalized)
          if (matches) hits++
          expect({ searched, folded: normalized, matches: rows[index]?.matches }).toEqual({
            searched,
            folded: normalized,
            matches,
          })
          const own = searchableText(searched.text, null).trim() || searched.text
          expect({ searched, folded: normalized, holds: holds(normalized, own, searched.isWhole) }).toEqual({
            searched,
            folded: normalized,
            holds: matches,
          })
        }
      }),
      { seed: 3, numRuns: 50 },
    )
    expect(hits).toBeGreaterThan(2_000)
  })
})
