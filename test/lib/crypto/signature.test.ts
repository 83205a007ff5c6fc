import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { equalInConstantTime, hmacSha256Base64, hmacSha256Hex, sha256 } from '../../../src/lib/crypto/signature.js'

describe('hmacSha256Hex', () => {
  it('returns the value of RFC 4231, test case 2', () => {
    const expected = '5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843'
    expect(hmacSha256Hex('Jefe', 'what do ya want for nothing?')).toBe(expected)
    expect(hmacSha256Hex('Jefe', Buffer.from('what do ya want for nothing?'))).toBe(expected)
  })

  it('signs bytes that are not valid UTF-8 unchanged', () => {
    expect(hmacSha256Hex('key', Buffer.of(0xff))).not.toBe(hmacSha256Hex('key', Buffer.of(0xfe)))
  })
})

describe('hmacSha256Base64', () => {
  it('returns the same value in base64', () => {
    expect(hmacSha256Base64('Jefe', 'what do ya want for nothing?')).toBe(
      'W9zBRr9gdU5qBCQmCJV1x1oAPwidJzmDnexYuWTsOEM=',
    )
  })
})

describe('sha256', () => {
  it('returns the value of FIPS 180-4 for "abc"', () => {
    const expected = 'ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad'
    expect(sha256('abc').toString('hex')).toBe(expected)
    expect(sha256(Buffer.from('abc')).toString('hex')).toBe(expected)
  })
})

describe('equalInConstantTime', () => {
  it('agrees with === for strings of any length', () => {
    fc.assert(
      fc.property(fc.string(), fc.string(), (a, b) => {
        expect(equalInConstantTime(a, b)).toBe(a === b)
        expect(equalInConstantTime(a, a)).toBe(true)
        expect(equalInConstantTime(a, `${a}${b}`)).toBe(b === '')
      }),
    )
  })

  it('distinguishes lone surrogates', () => {
    expect(equalInConstantTime('\ud800', '\ud801')).toBe(false)
    expect(equalInConstantTime('\ud800', '\ufffd')).toBe(false)
  })
})
