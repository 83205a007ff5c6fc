import { randomBytes } from 'node:crypto'
import { Readable } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { encodeBase64 } from '../../../src/lib/bytes/base64.js'

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
