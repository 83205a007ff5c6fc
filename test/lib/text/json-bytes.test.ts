import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countJsonValues, createJsonValueCounter, parseJsonBytes } from '../../../src/lib/text/json-bytes.js'

const count = (text: string, limit = 1_000_000) => countJsonValues(Buffer.from(text), limit)

/** Containers, fields and items. */
function valuesOf(value: unknown): number {
  if (typeof value !== 'object' || value === null) return 1
  return Object.values(value).reduce((sum: number, item) => sum + valuesOf(item), 1)
}

describe('the values of a JSON text', () => {
  it.each([
    ['1', 0],
    ['[]', 1],
    ['[1,2,3]', 3],
    ['{"a":[{},{}]}', 5],
    ['"[{,\\"[{,\\\\"', 0],
    ['["\\\\",1]', 2],
    ['[[[[', 4],
  ])('are counted without those in strings: %s', (text, expected) => {
    expect(count(text)).toBe(expected)
  })

  it('are at most what is counted and one, and at least half of it, in any pieces', () => {
    fc.assert(
      fc.property(fc.jsonValue(), fc.integer({ min: 1, max: 9 }), (value, size) => {
        const bytes = Buffer.from(JSON.stringify(value))
        const counter = createJsonValueCounter(1_000_000)
        let inPieces = 0
        for (let at = 0; at < bytes.length; at += size) inPieces = counter(bytes.subarray(at, at + size))
        expect(inPieces).toBe(count(bytes.toString()))
        expect(valuesOf(value)).toBeLessThanOrEqual(inPieces + 1)
        // An empty list or object has a bracket, and no value in it.
        expect(inPieces).toBeLessThanOrEqual(2 * valuesOf(value))
      }),
    )
  })

  it('are not counted to the end beyond the limit', () => {
    expect(count('[1,2,3,4,5]', 3)).toBe(4)
  })
})

describe('bytes', () => {
  it('are read as JSON.parse reads their text, with or without a byte order mark', () => {
    expect(parseJsonBytes(Buffer.from('{"a":"ç😀"}'))).toEqual({ outcome: 'read', value: { a: 'ç😀' } })
    expect(parseJsonBytes(Buffer.from('\ufeff[1]'))).toEqual({ outcome: 'read', value: [1] })
    expect(parseJsonBytes(Buffer.from('\ufeff\ufeff[1]'))).toMatchObject({ outcome: 'malformed' })
    expect(parseJsonBytes(Buffer.from('{"a":'))).toMatchObject({ outcome: 'malformed' })
    expect(parseJsonBytes(Buffer.from('"\xe7"', 'latin1'))).toEqual({ outcome: 'not_utf8' })
  })
})
