import { createHash } from 'node:crypto'
import fc from 'fast-check'
import examples from 'libphonenumber-js/examples.mobile.json' with { type: 'json' }
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import {
  isCountryCode,
  isUserIdChatId,
  readPhoneNumber,
  userIdChatId,
} from '../../../src/model/contacts/phone-number.js'

function digitsOf(input: string, country: CountryCode): string | undefined {
  const reading = readPhoneNumber(input, country)
  return reading.possible ? reading.digits : undefined
}

function formsOf(input: string, country: CountryCode): readonly string[] {
  const reading = readPhoneNumber(input, country)
  return reading.possible ? reading.forms : []
}

describe('special characters', () => {
  it.each([
    ['+5511987654321'],
    ['+55 11 98765-4321'],
    ['+55 (11) 98765.4321'],
    ['+55/11/98765/4321'],
    ['(+55) 11 98765 4321'],
    ['  +55 11 98765 4321\n'],
    ['+55\u00a011\u202f98765\u20114321'],
    ['+55 11 98765\u20134321'],
    ['+55 11 98765\u22124321'],
    ['\u202a+55 11 98765-4321\u202c'],
    ['\ufeff+5511987654321'],
    ['＋５５ （１１） ９８７６５－４３２１'],
    ['+٥٥ ١١ ٩٨٧٦٥ ٤٣٢١'],
    ['tel:+55-11-98765-4321'],
    ['TEL: +5511987654321'],
    ['0055 11 98765 4321'],
    ['+55 (0)11 98765-4321'],
    ["'+5511987654321"],
  ])('are ignored: %j is +5511987654321', (input) => {
    expect(digitsOf(input, 'DE')).toBe('5511987654321')
  })

  it('include a trunk prefix in brackets', () => {
    expect(digitsOf('+44 (0)7400 123456', 'BR')).toBe('447400123456')
    expect(digitsOf('+49 (0) 30 123456', 'BR')).toBe('4930123456')
  })
})

describe('an invalid phone number', () => {
  it.each([
    [''],
    [' '],
    ['+'],
    ['++5511987654321'],
    ['55+11987654321'],
    ['12abc'],
    ['abc'],
    ['+55 11 98765-4321x'],
    ['+1 415 555 2671 ext 5'],
    ['+1 415 555 2671 #5'],
    ['+1 415 555 2671;ext=5'],
    ['5511987654321,5511987654322'],
    ['5511987654321@s.example'],
    ['5511987654321:12'],
    ['5511987654321\u0000'],
    ['5511987654321\ud800'],
    ['Ⅴ511987654321'],
    ['0'],
    ['00'],
    ['0000'],
    ['+0000'],
    ['+0123456789'],
    ['123'],
    ['+999123456789'],
    ['12345678901234567'],
    ['+6212345678901234567'],
  ])('is %j', (input) => {
    expect(readPhoneNumber(input, 'BR')).toEqual({ possible: false })
  })

  it('is longer than 40 characters', () => {
    const spaces = ' '.repeat(40 - '+5511987654321'.length)
    expect(digitsOf(`+5511987654321${spaces}`, 'BR')).toBe('5511987654321')
    expect(readPhoneNumber(`+5511987654321${spaces} `, 'BR')).toEqual({ possible: false })
  })

  it.each([...getCountries()])('may be the chat id of a user id in %s', (country) => {
    expect(readPhoneNumber('00155119876543210001', country)).toEqual({ possible: false })
    expect(readPhoneNumber('01234567890123456789', country)).toEqual({ possible: false })
  })
})

describe('national numbers with a leading 0', () => {
  it.each<[CountryCode, string, string]>([
    ['GB', '07400 123456', '447400123456'],
    ['DE', '030 123456', '4930123456'],
    ['IN', '098765 43210', '919876543210'],
    ['ID', '0812-3456-7890', '6281234567890'],
    ['PK', '0300 1234567', '923001234567'],
    ['SA', '050 123 4567', '966501234567'],
    ['AE', '050 123 4567', '971501234567'],
    ['NG', '0803 123 4567', '2348031234567'],
    ['GH', '024 123 4567', '233241234567'],
    ['BR', '011 98765-4321', '5511987654321'],
    ['BR', '0 15 11 98765-4321', '5511987654321'],
    ['BR', '011 8765-4321', '5511987654321'],
    ['AR', '011 15 2345-6789', '5491123456789'],
    ['IT', '06 698 12345', '390669812345'],
    ['CI', '01 23 45 67 89', '2250123456789'],
    ['US', '0 415 555 2671', '14155552671'],
    ['ES', '0 612 34 56 78', '34612345678'],
  ])('lose it: %s: %s is +%s', (country, input, digits) => {
    expect(digitsOf(input, country)).toBe(digits)
  })

  it('keep the 0 in Italy and Ivory Coast, where it belongs to the number', () => {
    expect(digitsOf('+39 06 698 12345', 'BR')).toBe('390669812345')
    expect(digitsOf('390669812345', 'BR')).toBe('390669812345')
    expect(digitsOf('+225 01 23 45 67 89', 'BR')).toBe('2250123456789')
  })
})

describe('digits alone', () => {
  it.each<[CountryCode, string, string]>([
    ['GB', '5511987654321', '5511987654321'],
    ['US', '551187654321', '5511987654321'],
    ['US', '5215512345678', '525512345678'],
    ['GB', '7400123456', '447400123456'],
    ['BR', '11987654321', '5511987654321'],
    ['BR', '1187654321', '5511987654321'],
    ['MX', '5512345678', '525512345678'],
    ['AR', '91123456789', '5491123456789'],
    ['US', '4155552671', '14155552671'],
    ['US', '14155552671', '14155552671'],
    ['RU', '8 916 123 45 67', '79161234567'],
  ])('in %s %s is +%s', (country, input, digits) => {
    expect(digitsOf(input, country)).toBe(digits)
  })

  it('are read as an international number before a national one if neither is valid', () => {
    expect(digitsOf('15550000001', 'BR')).toBe('15550000001')
    expect(digitsOf('9995550001', 'US')).toBe('19995550001')
  })
})

describe('numbers that are possible but not valid', () => {
  it.each(['1', '2', '3', '4', '5', '6'])('are accepted with the magic ending 00000%s', (last) => {
    for (const country of ['BR', 'US', 'MX', 'AR', 'GB'] as const) {
      expect(digitsOf(`+55 11 99900-000${last}`, country)).toBe(`551199900000${last}`)
      expect(digitsOf(`551199900000${last}`, country)).toBe(`551199900000${last}`)
      expect(digitsOf(`55119900000${last}`, country)).toBe(`551199900000${last}`)
      expect(digitsOf(`1555000000${last}`, country)).toBe(`1555000000${last}`)
      expect(digitsOf(`+1 555 000 000${last}`, country)).toBe(`1555000000${last}`)
    }
  })
})

describe('numbers with two forms', () => {
  it.each([
    ['a Mexican number without the 1', '+52 55 1234 5678', ['525512345678', '5215512345678']],
    ['a Mexican number with the 1', '+52 1 55 1234 5678', ['525512345678', '5215512345678']],
    ['a Brazilian mobile without the 9', '+55 11 8765-4321', ['5511987654321', '551187654321']],
    ['a Brazilian mobile with the 9', '+55 11 98765-4321', ['5511987654321', '551187654321']],
    ['a Brazilian mobile that was never without the 9', '+55 11 95765-4321', ['5511957654321']],
    ['a Brazilian landline', '+55 11 3456-7890', ['551134567890']],
    ['a Brazilian landline with a 5', '+55 11 5456-7890', ['551154567890']],
    ['an Argentinian number with the 9', '+54 9 11 2345-6789', ['5491123456789', '541123456789']],
    ['an Argentinian number without the 9', '+54 11 2345-6789', ['541123456789', '5491123456789']],
    ['an Argentinian mobile with the 15', '+54 11 15-2345-6789', ['5491123456789', '541123456789']],
    ['any other number', '+44 7400 123456', ['447400123456']],
  ])('%s', (_, input, forms) => {
    expect(formsOf(input, 'GB')).toEqual(forms)
  })
})

describe('the example number of every country', () => {
  it.each([...getCountries()])('is read unchanged: %s', (country) => {
    const example = getExampleNumber(country, examples)
    const digits = example?.number.slice(1)
    expect(digits).toBeDefined()
    expect(digitsOf(example?.number ?? '', 'BR')).toBe(digits)
    expect(digitsOf(example?.formatInternational() ?? '', 'BR')).toBe(digits)
    expect(digitsOf(digits ?? '', country)).toBe(digits)
  })
})

describe('the properties of phone numbers', () => {
  const countries = fc.constantFrom(...getCountries())
  const prefixes = fc.constantFrom('', '+', '0', '00', '+1', '+39', '+52', '+521', '+54', '+549', '+55', '+7')
  const digitStrings = fc.string({ unit: fc.constantFrom(...'0123456789'), maxLength: 18 })
  const numbers = fc.tuple(prefixes, digitStrings).map(([prefix, digits]) => prefix + digits)
  const anything = fc
    .array(fc.integer({ min: 0, max: 0xffff }), { maxLength: 60 })
    .map((codes) => String.fromCharCode(...codes))

  it('hold: a canonical number is read unchanged, with the same forms', () => {
    fc.assert(
      fc.property(numbers, countries, countries, (input, country, otherCountry) => {
        const reading = readPhoneNumber(input, country)
        if (reading.possible) expect(readPhoneNumber(`+${reading.digits}`, otherCountry)).toEqual(reading)
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: every form is read as the canonical number', () => {
    fc.assert(
      fc.property(numbers, countries, (input, country) => {
        const reading = readPhoneNumber(input, country)
        if (!reading.possible) return
        expect(reading.forms[0]).toBe(reading.digits)
        for (const form of reading.forms) expect(formsOf(`+${form}`, country)).toContain(reading.digits)
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: digits have a plausible length and start with a country code', () => {
    fc.assert(
      fc.property(numbers, countries, (input, country) => {
        for (const form of formsOf(input, country)) expect(form).toMatch(/^[1-9]\d{5,14}$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: no text causes an error', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.string({ unit: 'binary', maxLength: 60 })), countries, (input, country) => {
        expect(typeof readPhoneNumber(input, country).possible).toBe('boolean')
      }),
    )
  })
})

describe('the cache of phone numbers', () => {
  it('returns the same frozen result, separately for each country', () => {
    const reading = readPhoneNumber('07400 123456', 'GB')
    expect(readPhoneNumber('07400 123456', 'GB')).toBe(reading)
    expect(Object.isFrozen(reading)).toBe(true)
    expect(readPhoneNumber('07400 123456', 'DE')).not.toEqual(reading)
  })

  it('drops the oldest results', () => {
    const reading = readPhoneNumber('07400 123457', 'GB')
    for (let index = 0; index < 10_000; index++) readPhoneNumber(`x${index}`, 'GB')
    const again = readPhoneNumber('07400 123457', 'GB')
    expect(again).not.toBe(reading)
    expect(again).toEqual(reading)
  })
})

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
