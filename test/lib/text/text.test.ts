import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { beginningOf, firstUnstorable, isStorable, toStorable, toStorableDeep } from '../../../src/lib/text/text.js'

/** Any code unit may occur; problematic ones occur often. */
const codeUnits = fc.oneof(fc.constantFrom(0, 0x61, 0xd83d, 0xde00, 0xfffd), fc.integer({ min: 0, max: 0xffff }))
const anyText = fc.array(codeUnits).map((codes) => String.fromCharCode(...codes))

function nestedArrays(depth: number, inside = ''): unknown {
  return JSON.parse(`${'['.repeat(depth)}${inside}${']'.repeat(depth)}`)
}

function depthOf(value: unknown): number {
  let depth = 0
  for (let inner = value; Array.isArray(inner); inner = inner[0]) depth++
  return depth
}

describe('isStorable', () => {
  it.each(['', 'plain', 'olá 😀', '\u0001\n', '\uffff', '\ufffd', '👨‍👩‍👧'])('accepts %j', (text) => {
    expect(isStorable(text)).toBe(true)
  })

  it.each(['\0', 'a\0b', '\ud800', 'a\udc00b', '\udc00\ud800', '😀\ud83d'])('refuses %j', (text) => {
    expect(isStorable(text)).toBe(false)
  })
})

describe('toStorable', () => {
  it('replaces only characters that cannot be stored', () => {
    expect(toStorable('a\0b\ud800c😀\udc00')).toBe('a\ufffdb\ufffdc😀\ufffd')
  })

  it('makes every text storable, keeps its length, and leaves storable ones unchanged', () => {
    fc.assert(
      fc.property(anyText, (text) => {
        const stored = toStorable(text)
        expect(isStorable(stored)).toBe(true)
        expect(stored).toHaveLength(text.length)
        if (isStorable(text)) expect(stored).toBe(text)
      }),
    )
  })
})

describe('toStorableDeep', () => {
  it('cleans strings and keys at every level and keeps the rest', () => {
    const value = { 'k\0': ['a\0', { b: '\ud800' }], n: 1.5, t: true, z: null, empty: {} }
    const expected = { 'k\ufffd': ['a\ufffd', { b: '\ufffd' }], n: 1.5, t: true, z: null, empty: {} }
    expect(toStorableDeep(value)).toEqual(expected)
    expect(toStorableDeep('a\0')).toBe('a\ufffd')
  })

  it('treats a key named __proto__ as an ordinary key', () => {
    const text = '{"__proto__":{"admin":true}}'
    expect(JSON.stringify(toStorableDeep(JSON.parse(text)))).toBe(text)
  })

  it('keeps 64 levels and makes deeper ones null, however deep they are', () => {
    expect(toStorableDeep(nestedArrays(64, '"a"'))).toEqual(nestedArrays(64, '"a"'))
    expect(toStorableDeep(nestedArrays(65))).toEqual(nestedArrays(64, 'null'))
    expect(depthOf(toStorableDeep(nestedArrays(100_000)))).toBe(64)
  })

  it('returns any storable JSON value unchanged', () => {
    fc.assert(
      fc.property(fc.jsonValue({ stringUnit: 'grapheme' }), (value) => {
        const json = JSON.stringify(value)
        fc.pre(!json.includes('\\u0000'))
        expect(JSON.stringify(toStorableDeep(JSON.parse(json)))).toBe(json)
      }),
    )
  })
})

describe('firstUnstorable', () => {
  it.each<[unknown, string]>([
    ['\0', ''],
    [{ contacts: [{ name: 'a\0' }] }, 'contacts[0].name'],
    [{ a: 'ok', b: ['ok', [], {}, '\ud800'], c: '\0' }, 'b[3]'],
    [[[1, null, true], ['\0']], '[1][0]'],
    [{ list: [{ a: [] }, { b: { c: '\0' } }] }, 'list[1].b.c'],
    [{ 'a\0': 'ok' }, '["a\\u0000"]'],
    [{ a: { 'b c': '\0' } }, 'a["b c"]'],
    [{ '\ud800': '\0' }, '["\\ud800"]'],
    [{ header_media: { 'x-y': '\0' } }, 'header_media.x-y'],
  ])('finds in %j the path %j', (value, path) => {
    expect(firstUnstorable(value)).toBe(path)
  })

  it.each<[unknown]>([[null], [undefined], [1], [''], [[]], [{}], [{ a: ['b', { c: '😀' }], d: null }]])(
    'finds nothing in %j',
    (value) => {
      expect(firstUnstorable(value)).toBeUndefined()
    },
  )

  it('finds a path exactly if cleaning would change the value, and the path can be shown', () => {
    const json = fc.letrec((tie) => ({
      value: fc.oneof({ depthSize: 'small' }, anyText, fc.array(tie('value')), fc.dictionary(anyText, tie('value'))),
    })).value
    fc.assert(
      fc.property(json, (value) => {
        const path = firstUnstorable(value)
        const text = JSON.stringify(value)
        expect(path === undefined).toBe(JSON.stringify(toStorableDeep(value)) === text)
        if (path !== undefined) expect(isStorable(path)).toBe(true)
      }),
    )
  })

  it('handles any depth and shortens long paths', () => {
    expect(firstUnstorable(nestedArrays(100_000, '"a"'))).toBeUndefined()
    expect(firstUnstorable(nestedArrays(100_000, '"\\u0000"'))).toBe(`${'[0]'.repeat(67).slice(0, 200)}…`)
    expect(firstUnstorable({ [`${'😀'.repeat(300)}\0`]: 1 })).toSatisfy(isStorable)
  })
})

describe('the beginning of a text', () => {
  it('can be stored, wherever it is cut', () => {
    fc.assert(
      fc.property(anyText.map(toStorable), fc.nat(10), (text, length) => {
        const cut = beginningOf(text, length)
        expect(isStorable(cut)).toBe(true)
        expect(cut.length).toBe(Math.min(text.length, length))
      }),
    )
    expect(beginningOf('a😀', 2)).toBe('a\ufffd')
  })
})
