import { readFileSync } from 'node:fs'
import fc from 'fast-check'
import examples from 'libphonenumber-js/examples.mobile.json' with { type: 'json' }
import { type CountryCode, getCountries, getExampleNumber } from 'libphonenumber-js/max'
import { describe, expect, it } from 'vitest'
import { userIdChatId } from '../../../src/model/contacts/phone-number.js'
import {
  addressesOf,
  chooseReading,
  commonReading,
  findDoubt,
  type NumberField,
  readNumber,
} from '../../../src/model/contacts/written-number.js'

function digitsOf(input: string, country: CountryCode, field: NumberField = 'api'): string | undefined {
  return readNumber(input, country, field).preferred?.digits
}

function formsOf(input: string, country: CountryCode): readonly string[] {
  return readNumber(input, country, 'api').preferred?.forms ?? []
}

/** What the table of docs/contacts.md calls the kinds of fields. */
const PLACES: [string, NumberField][] = [
  ['any field', 'api'],
  ['any field', 'table'],
  ['any field', 'international'],
  ['a field of the API', 'api'],
  ['a table', 'table'],
  ['the gateway', 'international'],
]

/** The rows of that table: what is written where in an organization of Brazil, and what it is. */
const EXAMPLES = readFileSync('docs/contacts.md', 'utf8')
  .split('\n')
  .flatMap((line) => {
    const [, written, where = '', meant] = /^\| `([^`]+)` \| ([^|]+) \| `?\+?(\w+)`? \|$/.exec(line) ?? []
    return PLACES.flatMap(([place, field]) => (where.includes(place) ? [[written, field, meant] as const] : []))
  })

describe('the examples of docs/contacts.md', () => {
  it('are ten', () => {
    expect(new Set(EXAMPLES.map(([written, , meant]) => `${written} ${meant}`)).size).toBe(10)
  })

  it.each(EXAMPLES)('%s in %s is %s', (written, field, meant) => {
    expect(digitsOf(written ?? '', 'BR', field) ?? 'refused').toBe(meant)
  })
})

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
    ['"+5511987654321"'],
    ['whatsapp:+5511987654321'],
    ['WhatsApp: +55 11 98765-4321'],
    ['+5511987654321.0'],
    ['+5511987654321.00'],
    ['+55\ufe0d-11-98765-4321'],
    ['\ufe0f +55 11 98765-4321'],
    ['+55\u034f11\u3164987654321\u2800'],
    ['\u17b5+5511987654321\u115f'],
    ['5511987654321@s.whatsapp.net'],
    ['+55 11 98765-4321@s.whatsapp.net'],
    ['005511987654321@c.us'],
    ['+5511987654321@C.US'],
    ['5511987654321:12@S.WhatsApp.Net'],
    [' 5511987654321 @ s.whatsapp.net '],
    ['551187654321@s.whatsapp.net'],
  ])('are ignored: %j is +5511987654321', (input) => {
    for (const field of ['api', 'table', 'international'] as const) {
      expect(digitsOf(input, 'DE', field)).toBe('5511987654321')
    }
  })

  it.each([
    ['919876543210.0', '919876543210', 'IN'],
    ['6281234567890.0', '6281234567890', 'ID'],
    ['4915112345678.00', '4915112345678', 'DE'],
    ['14155552671.0', '14155552671', 'US'],
  ] as const)('include the decimals that a spreadsheet adds: %s', (input, digits, home) => {
    for (const country of ['IN', 'ID', 'DE', 'US', 'BR'] as const) {
      expect(digitsOf(input, country, 'api')).toBe(digits)
      expect(digitsOf(input, country, 'international')).toBe(digits)
    }
    expect(digitsOf(input, home, 'table')).toBe(digits)
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
    ['919876543210,0'],
    ['status@broadcast'],
    ['12-34@lid'],
  ])('is %j', (input) => {
    for (const field of ['api', 'table', 'international'] as const) {
      expect(readNumber(input, 'BR', field)).toMatchObject({ preferred: null, isRounded: false })
    }
  })

  it.each(['5,5119E+12', '9.19812E+11', '5.51198765E12', '+5,5119e+12 ', '1E+13'])('is the rounded %s', (input) => {
    expect(readNumber(input, 'BR', 'table')).toMatchObject({ candidates: [], preferred: null, isRounded: true })
  })

  it('is longer than 150 characters', () => {
    const spaces = ' '.repeat(150 - '+5511987654321'.length)
    expect(digitsOf(`+5511987654321${spaces}`, 'BR')).toBe('5511987654321')
    expect(digitsOf(`+5511987654321${spaces} `, 'BR')).toBeUndefined()
  })
})

describe('a user id', () => {
  it.each(['US.13491208655302741918', 'BR.a1B2', 'US.ENT.11815799212886844830', 'user.9f3c'])('is %s', (userId) => {
    for (const field of ['api', 'table', 'international'] as const) {
      for (const text of [userId, ` ${userId}\u200b`, `whatsapp:${userId}`]) {
        expect(readNumber(text, 'BR', field).preferred).toEqual({
          kind: 'user',
          digits: userIdChatId(userId),
          forms: [`user:${userId}`, `parent:${userId}`, userIdChatId(userId)],
          jid: `${userIdChatId(userId)}@s.whatsapp.net`,
          userId,
        })
      }
    }
  })

  it.each(['us.123', 'USA.123', 'US123', 'US.', 'US.12 3', 'US.12-3', `US.${'1'.repeat(129)}`])('is not %s', (text) => {
    expect(readNumber(text, 'BR', 'api').preferred?.kind).not.toBe('user')
  })
})

describe('an id of the network', () => {
  const idOf = (text: string, field: NumberField = 'api') => readNumber(text, 'BR', field).preferred

  it.each([...getCountries()])('may be the chat id of a user id in %s', (country) => {
    for (const text of ['00155119876543210001', '01234567890123456789']) {
      const chatId = { kind: 'chat_id', digits: text, forms: [text] }
      expect(readNumber(text, country, 'api').preferred).toMatchObject(chatId)
      expect(readNumber(`${text}@lid`, country, 'international').preferred).toMatchObject(chatId)
    }
  })

  it.each([
    ['120363041234567890@g.us', '120363041234567890@g.us'],
    ['120363041234567890 @G.US', '120363041234567890@g.us'],
    ['120363041234567890', '120363041234567890@g.us'],
    ['5511988887777-1400000000@g.us', '5511988887777-1400000000@g.us'],
    ['5511988887777-1400000000', '5511988887777-1400000000@g.us'],
  ])('may be the group %s', (text, jid) => {
    const forms = [`user:${jid}`, userIdChatId(jid)]
    expect(idOf(text, 'international')).toEqual({ kind: 'group', digits: forms[1], forms, jid })
  })

  it('may be a person who hides the number', () => {
    const jid = '987654321098765@lid'
    expect(idOf(jid)).toMatchObject({ kind: 'lid', jid, forms: [`user:${jid}`, userIdChatId(jid)] })
    expect(idOf('987654321098765:3@LID')).toMatchObject({ kind: 'lid', jid })
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

  it.each<[CountryCode, string, string, string]>([
    ['BR', '51998765432', '51998765432', '5551998765432'],
    ['BR', '81987654321', '81987654321', '5581987654321'],
    ['CO', '3212345678', '3212345678', '573212345678'],
    ['TR', '5321234567', '5321234567', '905321234567'],
    ['US', '6465551234', '6465551234', '16465551234'],
  ])('in %s %s is a number abroad and at home: the field decides', (country, input, abroad, home) => {
    expect(readNumber(input, country, 'api').isAmbiguous).toBe(true)
    expect(digitsOf(input, country, 'api')).toBe(abroad)
    expect(digitsOf(`${input}.0`, country, 'api')).toBe(abroad)
    expect(digitsOf(`'${input}`, country, 'api')).toBe(abroad)
    expect(digitsOf(`whatsapp:${input}`, country, 'api')).toBe(abroad)
    expect(digitsOf(input, country, 'table')).toBe(home)
    expect(digitsOf(` ${input} `, country, 'table')).toBe(home)
    expect(digitsOf(input, country, 'international')).toBe(abroad)
  })

  it('are international in a field of that kind, possible or not', () => {
    expect(digitsOf('11987654321', 'BR', 'api')).toBe('5511987654321')
    expect(digitsOf('11987654321', 'BR', 'international')).toBe('11987654321')
    expect(digitsOf('22507123456', 'BR', 'api')).toBe('5522507123456')
    expect(digitsOf('22507123456', 'BR', 'international')).toBeUndefined()
    expect(digitsOf('011987654321', 'BR', 'international')).toBeUndefined()
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
    expect([...formsOf(input, 'GB')].sort()).toEqual([...forms].sort())
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

describe('numbers of people at home', () => {
  const ways: Record<string, (area: string, line: string) => string[]> = {
    BR: (area, line) => [
      `(${area}) ${line.slice(0, 5)}-${line.slice(5)}`,
      `${area} ${line.slice(0, 5)} ${line.slice(5)}`,
      `0${area} ${line.slice(0, 5)}-${line.slice(5)}`,
      `${area}.${line}`,
    ],
    US: (area, line) => [
      `(${area}) ${line.slice(0, 3)}-${line.slice(3)}`,
      `${area}-${line.slice(0, 3)}-${line.slice(3)}`,
    ],
    CO: (area, line) => [`${area} ${line.slice(0, 3)} ${line.slice(3)}`, `(${area}) ${line}`],
    TR: (area, line) => [`${area} ${line.slice(0, 3)} ${line.slice(3, 5)} ${line.slice(5)}`, `0${area} ${line}`],
    DE: (area, line) => [`0${area} ${line}`, `(0${area}) ${line}`, `0${area}/${line}`],
    IN: (area, line) => [`${area}${line.slice(0, 1)} ${line.slice(1)}`, `0${area}${line}`, `${area}-${line}`],
  }
  const BR_AREAS = [11, 21, 24, 31, 32, 33, 34, 35, 38, 41, 46, 47, 48, 49, 51, 53, 54, 61, 62, 65, 66, 68, 71, 74, 79]
  const mobiles: Record<string, [code: string, areas: (string | number)[], lines: string[]]> = {
    BR: ['55', [...BR_AREAS, 81, 84, 85, 91, 92, 94], ['998765432', '987654321', '991234567', '976543210']],
    US: ['1', [212, 323, 415, 479, 646, 702, 813, 917], ['5551234', '7654321', '2345678']],
    CO: ['57', [300, 311, 320, 321, 350], ['2345678', '7654321']],
    TR: ['90', [505, 532, 542, 555], ['1234567', '7654321']],
    DE: ['49', [151, 160, 170, 175], ['2345678', '7654321']],
    IN: ['91', ['98765', '70123', '99887'], ['43210', '12345']],
  }
  const cases = Object.entries(mobiles).flatMap(([country, [code, areas, lines]]) =>
    areas.flatMap((area) =>
      lines.flatMap((line) =>
        (ways[country] as (typeof ways)[string])(String(area), line).map((text): [CountryCode, string, string] => [
          country as CountryCode,
          text,
          `${code}${area}${line}`,
        ]),
      ),
    ),
  )

  it('never go abroad if they are written as there', () => {
    const abroad = cases.filter(
      ([country, text, digits]) =>
        readNumber(`+${digits}`, country, 'api').preferred !== null &&
        (['api', 'table'] as const).some((field) => digitsOf(text, country, field) !== digits),
    )
    expect(abroad).toEqual([])
    expect(cases.length).toBeGreaterThan(500)
  })

  it('never go abroad from a table, however they are written', () => {
    const abroad = cases
      .map(([country, , digits]): [CountryCode, string, string] => [
        country,
        digits.slice((mobiles[country]?.[0] ?? '').length),
        digits,
      ])
      .filter(([country, text, digits]) => digitsOf(text, country, 'table') !== digits)
    expect(abroad).toEqual([])
  })
})

describe('numbers that are written with separators', () => {
  it.each<[CountryCode, string, string]>([
    // With the country code of home, though a landline of home may begin so.
    ['DE', '49 151 23456789', '4915123456789'],
    ['DE', '49-170-1234567', '491701234567'],
    ['DE', '49 30 1234567', '49301234567'],
    ['BR', '55 11 98765-4321', '5511987654321'],
    ['BR', '(55) 99876-5432', '5555998765432'],
    // Possible at home only, and valid abroad: brackets stand around an area code.
    ['US', '(555) 123-4567', '15551234567'],
    ['US', '555-123-4567', '15551234567'],
    ['BR', '(51) 1234-5678', '555112345678'],
    ['BR', '1 (415) 555-2671', '14155552671'],
    ['BR', '(1415) 555-2671', '14155552671'],
    ['BR', '(5511) 98765-4321', '5511987654321'],
    // A point between digits is a separator; behind a whole number it makes a decimal.
    ['BR', '11 98765.0000', '5511987650000'],
    ['IN', '98765.00000', '919876500000'],
    ['DE', '0151 12345.000', '4915112345000'],
    ['BR', '919876543210.0', '919876543210'],
  ])('in %s, %s is %s', (country, written, digits) => {
    expect(readNumber(written, country, 'api').preferred?.digits).toBe(digits)
  })
})

describe('the digits as they were given', () => {
  it('are looked up first, whether a plan allows them or not', () => {
    for (const digits of ['1234567', '22507123456', '99912345678901', '551187654321', '5215512345678', '51998765432']) {
      for (const text of [digits, `+${digits}`, `${digits}@s.whatsapp.net`, ` ${digits} `]) {
        for (const field of ['api', 'table', 'international'] as const) {
          expect(addressesOf(readNumber(text, 'BR', field))[0]).toBe(digits)
        }
      }
    }
  })

  it('are not looked up if they are written as at home', () => {
    expect(addressesOf(readNumber('(51) 99876-5432', 'BR', 'api'))).not.toContain('51998765432')
    expect(addressesOf(readNumber('051998765432', 'BR', 'api'))).not.toContain('51998765432')
  })
})

describe('a known contact', () => {
  const chosen = (text: string, field: NumberField, ...known: string[]) =>
    chooseReading(readNumber(text, 'BR', field), (address) => known.includes(address))?.digits

  it('decides between the readings', () => {
    expect(chosen('51998765432', 'table', '51998765432')).toBe('51998765432')
    expect(chosen('51998765432', 'api', '5551998765432')).toBe('5551998765432')
    expect(chosen('51998765432', 'api', '5551998765432', '51998765432')).toBe('51998765432')
    expect(chosen('51998765432', 'api', 'somebody else')).toBe('51998765432')
    expect(chosen('51998765432', 'table', 'somebody else')).toBe('5551998765432')
    expect(chosen('(51) 99876-5432', 'api', '51998765432')).toBe('5551998765432')
  })

  it('is found by an id that is no number', () => {
    expect(chosen('22507123456', 'api', '22507123456')).toBe('22507123456')
    expect(chosen('22507123456', 'api')).toBe('5522507123456')
    expect(chosen('1234567', 'international', '1234567')).toBe('1234567')
    expect(chosen('1234567', 'international')).toBeUndefined()
  })
})

describe('two fields for one number', () => {
  const common = (phone: string, chatId: string) =>
    commonReading(readNumber(phone, 'BR', 'table'), readNumber(chatId, 'BR', 'table'))

  it('say together which one is meant', () => {
    expect(common('51998765432', '51998765432')?.preferred?.digits).toBe('5551998765432')
    expect(common('51998765432', '5551998765432')?.preferred?.digits).toBe('5551998765432')
    expect(common('+51998765432', '51998765432')?.preferred?.digits).toBe('51998765432')
    expect(common('51998765432', '+51998765432')?.preferred?.digits).toBe('51998765432')
    expect(common('+22507123456', '22507123456')).toMatchObject({
      preferred: null,
      candidates: [{ digits: '22507123456' }],
    })
    expect(common('+55 11 8765-4321', '5511987654321')?.preferred?.digits).toBe('5511987654321')
    expect(common('5511987654321', '5511987654322')).toBeNull()
  })
})

describe('a number is in doubt', () => {
  const doubt = (given: string, field: NumberField = 'table') => {
    const reading = readNumber(given, 'BR', field)
    return reading.preferred && findDoubt(given, reading, reading.preferred, 'BR')
  }

  it('if it can be read both ways, or is of another country, without saying so', () => {
    const given = '51998765432'
    expect(doubt(given)).toEqual({ given, read_as: '+5551998765432', or: '+51998765432' })
    expect(doubt(given, 'api')).toEqual({ given, read_as: '+51998765432', or: '+5551998765432' })
    expect(doubt('14155552671')).toEqual({ given: '14155552671', read_as: '+14155552671', or: null })
    expect(doubt('1 (415) 555-2671')).toMatchObject({ read_as: '+14155552671', or: null })
    for (const sure of ['+51998765432', '0051998765432', '51998765432@s.whatsapp.net', '(51) 99876-5432']) {
      expect(doubt(sure)).toBeNull()
    }
    const withCode = readNumber('4915112345678', 'DE', 'table')
    expect(withCode).toMatchObject({ preferred: { digits: '4915112345678' }, isAmbiguous: false })
    for (const home of ['5511987654321', '11987654321', '011987654321', '+5511987654321']) {
      expect(doubt(home)).toBeNull()
    }
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
        const number = readNumber(input, country, 'api').preferred
        if (number?.kind !== 'phone') return
        const again = readNumber(`+${number.digits}`, otherCountry, 'api').preferred
        expect(again?.digits).toBe(number.digits)
        expect([...(again?.forms ?? [])].sort()).toEqual([...number.forms].sort())
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: every form is read as the canonical number', () => {
    fc.assert(
      fc.property(numbers, countries, (input, country) => {
        const number = readNumber(input, country, 'api').preferred
        if (number?.kind !== 'phone') return
        for (const form of number.forms) expect(formsOf(`+${form}`, country)).toContain(number.digits)
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: digits have a plausible length and start with a country code', () => {
    fc.assert(
      fc.property(numbers, countries, (input, country) => {
        const number = readNumber(input, country, 'api').preferred
        if (number?.kind !== 'phone') return
        for (const form of number.forms) expect(form).toMatch(/^[1-9]\d{5,14}$/)
      }),
      { numRuns: 3000 },
    )
  })

  it('hold: no text causes an error', () => {
    fc.assert(
      fc.property(fc.oneof(anything, fc.string({ unit: 'binary', maxLength: 60 })), countries, (input, country) => {
        for (const field of ['api', 'table', 'international'] as const) {
          expect(Array.isArray(readNumber(input, country, field).candidates)).toBe(true)
        }
      }),
    )
  })
})

describe('the cache of readings', () => {
  it('returns the same frozen result, separately for each country and kind of field', () => {
    const reading = readNumber('07400 123456', 'GB', 'api')
    expect(readNumber('07400 123456', 'GB', 'api')).toBe(reading)
    expect(Object.isFrozen(reading)).toBe(true)
    expect(readNumber('07400 123456', 'DE', 'api')).not.toEqual(reading)
    expect(readNumber('07400 123456', 'GB', 'table')).not.toBe(reading)
  })

  it('drops the oldest results', () => {
    const reading = readNumber('07400 123457', 'GB', 'api')
    for (let index = 0; index < 10_000; index++) readNumber(`x${index}`, 'GB', 'api')
    const again = readNumber('07400 123457', 'GB', 'api')
    expect(again).not.toBe(reading)
    expect(again).toEqual(reading)
  })
})
