import { describe, expect, it } from 'vitest'
import { requestAsDescribed } from '../../../support/openapi.js'
import { useWorld } from '../../../support/world.js'

const world = useWorld()
const request = requestAsDescribed(world)

const get = (key: string, name: string, number: string) =>
  request('GET', `/contact?${new URLSearchParams({ [name]: number })}`, { key })
const create = (key: string, phone_number: string) => request('POST', '/contact', { key, body: { phone_number } })

/** All forms are one number. The first is the chat id that any form creates, null if it depends on the form. */
const NUMBERS: [string, string, string | null, string[]][] = [
  [
    'a Brazilian mobile, with and without the 9',
    'BR',
    '5511987654321',
    [
      ...['5511987654321', '+5511987654321', '+55 (11) 98765-4321', '005511987654321', ' 55 11 98765 4321 '],
      ...['011987654321', '0 11 98765-4321', '11987654321', '551187654321', '+55 11 8765-4321', '01187654321'],
    ],
  ],
  [
    'a Brazilian landline, which never gets a 9',
    'BR',
    '551133334444',
    ['551133334444', '+55 11 3333-4444', '01133334444'],
  ],
  [
    'a Mexican mobile, with and without the old 1',
    'MX',
    '525512345678',
    ['525512345678', '5215512345678', '+52 1 55 1234 5678', '+52 55 1234 5678', '00525512345678', '5512345678'],
  ],
  [
    'an Argentinian mobile, with and without the 9',
    'AR',
    null,
    ['5491123456789', '541123456789', '+54 9 11 2345-6789', '+54 11 2345 6789', '005491123456789'],
  ],
  [
    'an Italian landline, which keeps its 0',
    'IT',
    '390612345678',
    ['390612345678', '+39 06 1234 5678', '00390612345678', '0612345678', '06 1234 5678'],
  ],
  ['an Italian mobile', 'IT', '393401234567', ['393401234567', '+39 340 123 4567', '3401234567', '0039 340 1234567']],
  [
    'a German number with the national 0',
    'DE',
    '4915112345678',
    ['4915112345678', '0151 12345678', '+49 (0)151 12345678'],
  ],
  [
    'a British number',
    'GB',
    '447400123456',
    ['447400123456', '07400 123456', '+44 (0)7400 123456', '0044 7400 123456'],
  ],
  [
    'a number of the USA',
    'US',
    '12025550123',
    ['12025550123', '+1 (202) 555-0123', '202-555-0123', '001 202 555 0123'],
  ],
  [
    'a number that is possible, but not valid',
    'BR',
    '5511999000001',
    ['5511999000001', '+55 11 99900-0001', '011999000001'],
  ],
]

describe.each(NUMBERS)('%s', (_name, default_country, chatId, forms) => {
  it.each(forms)('created from "%s" is found, and refused a second time, in every form', async (first) => {
    const { key } = await world.createOrganization({ default_country })
    const made = await create(key, first)
    expect(made.status).toBe(201)
    const { id, chat_id, phone_number } = made.body.contact
    expect(phone_number).toBe(`+${chat_id}`)
    if (chatId !== null) expect(chat_id).toBe(chatId)
    for (const form of forms) {
      const found = await get(key, 'phone_number', form)
      expect({ form, id: found.body.contact?.id }).toEqual({ form, id })
      const again = await create(key, form)
      expect({ form, status: again.status, id: again.body.id }).toEqual({ form, status: 409, id })
    }
    for (const international of forms.filter((form) => /^\d+$/.test(form) && form.startsWith(chat_id.slice(0, 2)))) {
      expect((await get(key, 'chat_id', international)).body.contact?.id).toBe(id)
    }
  })
})

describe("a number from another country than the organization's", () => {
  it('needs its country code, and is then found in every form', async () => {
    const { key } = await world.createOrganization({ default_country: 'BR' })
    const { id } = (await create(key, '+390612345678')).body.contact
    for (const form of ['390612345678', '00390612345678', '+39 06 12345678']) {
      expect((await get(key, 'phone_number', form)).body.contact?.id).toBe(id)
    }
    expect((await get(key, 'phone_number', '0612345678')).body.contact?.id).toBeUndefined()
  })
})

describe('similar numbers', () => {
  it('stay two contacts', async () => {
    const { key } = await world.createOrganization()
    const numbers = ['5511987654321', '5511987654322', '5521987654321', '551133334444', '5511933334444']
    const made = await Promise.all(numbers.map((number) => create(key, number)))
    expect(made.map(({ status }) => status)).toEqual(numbers.map(() => 201))
    expect(new Set(made.map(({ body }) => body.contact.id)).size).toBe(numbers.length)
  })

  it('are refused in one body as phone_number and chat_id, unless both are forms of one number', async () => {
    const { key } = await world.createOrganization()
    const post = (body: object) => request('POST', '/contact', { key, body })
    const two = await post({ phone_number: '5511987654321', chat_id: '5511987654322' })
    expect([two.status, two.body.error]).toEqual([400, 'Invalid field'])
    expect((await post({ phone_number: '+55 11 8765-4321', chat_id: '5511987654321' })).status).toBe(201)
  })
})
