import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createBase64Decoder, encodeBase64 } from '../../../src/lib/bytes/base64.js'

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

describe('encodeBase64', () => {
  it.each([[[]], [[1]], [[2]], [[3]], [[1, 1, 1, 1]], [[5, 7, 1_000, 2]], [[65_536, 65_536, 1]]])(
    'encodes parts of %j bytes like the whole',
    async (sizes) => {
      const parts = sizes.map((size: number) => randomBytes(size))
      let text = ''
      for await (const part of encodeBase64(Readable.from(parts))) text += part
      expect(text).toBe(Buffer.concat(parts).toString('base64'))
    },
  )
})
