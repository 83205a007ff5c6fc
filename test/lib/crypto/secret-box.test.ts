import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { createSecretBox } from '../../../src/lib/crypto/secret-box.js'

const context = '0190b7c4-0000-7000-8000-000000000001:upstream.access_token'

describe('a secret box', () => {
  it('decrypts a value that it encrypted', () => {
    const box = createSecretBox(['master'])
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'grapheme' }), (plain, place) => {
        expect(box.open(box.seal(plain, place), place)).toBe(plain)
      }),
    )
  })

  it('encrypts the same secret differently each time, and never in clear', () => {
    const box = createSecretBox(['master'])
    const first = box.seal('the-access-token', context)
    expect(first.equals(box.seal('the-access-token', context))).toBe(false)
    expect(first.includes('the-access-token')).toBe(false)
  })

  it('accepts plain byte arrays too', () => {
    const box = createSecretBox(['master'])
    expect(box.open(new Uint8Array(box.seal('token', context)), context)).toBe('token')
  })

  it('does not decrypt in another context', () => {
    const box = createSecretBox(['master'])
    const sealed = box.seal('token', context)
    const elsewhere = '0190b7c4-0000-7000-8000-000000000002:upstream.access_token'
    expect(() => box.open(sealed, elsewhere)).toThrow(`The encrypted value ${elsewhere} was altered`)
  })

  it('does not decrypt if any byte was changed', () => {
    const box = createSecretBox(['master'])
    const sealed = box.seal('token', context)
    for (const index of sealed.keys()) {
      const altered = Buffer.from(sealed)
      altered.writeUInt8(altered.readUInt8(index) ^ 1, index)
      expect(() => box.open(altered, context)).toThrow(context)
    }
  })

  it('does not decrypt a value of another format', () => {
    const box = createSecretBox(['master'])
    const sealed = box.seal('', context)
    for (const bytes of [Buffer.alloc(0), Buffer.from('token'), Buffer.alloc(64, 2), sealed.subarray(0, -1)]) {
      expect(() => box.open(bytes, context)).toThrow('has an unknown format')
    }
  })
})

describe('changing the master key', () => {
  it('still decrypts values of the old key, and encrypts with the new one', () => {
    const sealed = createSecretBox(['old']).seal('token', context)
    const both = createSecretBox(['new', 'old'])
    expect(both.open(sealed, context)).toBe('token')
    expect(createSecretBox(['new']).open(both.seal('token', context), context)).toBe('token')
  })

  it('says what to do if the old key is gone', () => {
    const sealed = createSecretBox(['old']).seal('token', context)
    expect(() => createSecretBox(['new']).open(sealed, context)).toThrow(
      'was encrypted with a PARLEY_SECRET that is no longer configured',
    )
  })

  it('fails without a key', () => {
    expect(() => createSecretBox([])).toThrow('at least one master key')
    expect(() => createSecretBox(['new', ''])).toThrow('A master key of a secret box is empty')
  })
})
