import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBase64Decoder } from '../../../src/lib/bytes/base64-decoder.js'

/** Decodes a text in pieces of this many characters; null if it is not Base64. */
function decode(text: string, size = text.length || 1): Buffer | null {
  const decoder = createBase64Decoder()
  const pieces: (Buffer | null)[] = []
  for (let at = 0; at < text.length; at += size) pieces.push(decoder.write(Buffer.from(text.slice(at, at + size))))
  pieces.push(decoder.end())
  return pieces.some((piece) => piece === null) ? null : Buffer.concat(pieces as Buffer[])
}

const sizes = fc.integer({ min: 1, max: 9 })

describe('a Base64 decoder', () => {
  it.each([
    ['padded', (bytes: Buffer) => bytes.toString('base64')],
    ['not padded', (bytes: Buffer) => bytes.toString('base64').replaceAll('=', '')],
    ['of URLs', (bytes: Buffer) => bytes.toString('base64url')],
    ['in lines', (bytes: Buffer) => bytes.toString('base64').replace(/.{5}/g, '$&\r\n ')],
    ['after the head of a data URL', (bytes: Buffer) => `data:image/png;name=a;base64,${bytes.toString('base64')}`],
  ])('reads base64 %s, in any pieces', (_name, write) => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), sizes, (given, size) => {
        const bytes = Buffer.from(given)
        expect(decode(write(bytes), size)).toEqual(bytes)
      }),
    )
  })

  it.each([
    'A',
    'AAAAA',
    'AA=',
    'AAA==',
    'AA==AA',
    'A===',
    '====',
    'AA?A',
    'AAé',
    'data:image/png,AAAA',
    'data:',
    'AA=A',
  ])('refuses %s', (text) => {
    for (let size = 1; size <= text.length; size++) expect(decode(text, size)).toBeNull()
  })
})
