import { createHash } from 'node:crypto'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCountryCode, isUserIdChatId, userIdChatId } from '../../../src/model/contacts/phone-number.js'

describe('isCountryCode', () => {
  it('accepts countries in upper case', () => {
    expect(['BR', 'US', 'IT', 'CI'].every(isCountryCode)).toBe(true)
    expect(['', 'br', 'BRA', 'ZZ', '55', '__proto__', 'constructor', 'toString'].some(isCountryCode)).toBe(false)
  })
})

describe('chat ids of user ids', () => {
  it('are a 0 and the last 19 decimal digits of the SHA-256', () => {
    const hash = createHash('sha256').update('US.13491208655302741918').digest('hex')
    const decimal = BigInt(`0x${hash}`).toString()
    expect(userIdChatId('US.13491208655302741918')).toBe(`0${decimal.slice(-19)}`)
    expect(userIdChatId('abc')).toBe('02985829716817089965')
  })

  it('are recognized by their form, which no phone number has', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary' }), (userId) => {
        expect(isUserIdChatId(userIdChatId(userId))).toBe(true)
      }),
    )
    const others = [
      '5511987654321',
      '0',
      '0123456789',
      '012345678901234567890',
      '+01234567890123456789',
      '0123456789012345678x',
    ]
    expect(others.some(isUserIdChatId)).toBe(false)
  })
})
