import { beforeAll, describe, expect, it } from 'vitest'
import { schemaErrors } from '../../../support/message-schema.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)
let digits: string

beforeAll(async () => {
  digits = await house.newContact()
  await house.sent({ phone_number: digits, message_type: 'text', text: 'hello' })
})

type Body = Record<string, unknown>

/** A text of `length` characters that starts with a digit, so that it can be unique. */
const long = (length: number, digit = 0) => `${digit}${'🍵'.repeat(length - 1)}`
const times = <Item>(count: number, make: (n: number) => Item) => Array.from({ length: count }, (_, n) => make(n))

const button = (fields: object = {}, n = 0) => ({ id: `b${n}`, title: `B${n}`, ...fields })
const row = (fields: object = {}, n = 0) => ({ id: `r${n}`, title: `R${n}`, ...fields })
const card = (name: object = {}, phone: object = {}) => ({
  name: { formatted_name: 'Ana', ...name },
  phones: [{ phone: '1', ...phone }],
})
const ofButtons = (fields: object): Body => ({
  message_type: 'interactive',
  interactive: { type: 'button', body: 'Pay?', buttons: [button()], ...fields },
})
const ofList = (fields: object): Body => ({
  message_type: 'interactive',
  interactive: { type: 'list', body: 'Size?', button: 'Sizes', sections: [{ rows: [row()] }], ...fields },
})
const ofRow = (fields: object) => ofList({ sections: [{ rows: [row(fields)] }] })
const ofCards = (...contacts: object[]): Body => ({ message_type: 'contacts', contacts })
const place = (fields: object): Body => ({
  message_type: 'location',
  location: { latitude: 1, longitude: 2, ...fields },
})
const file = (type: string, kind: 'jpeg' | 'mp4' | 'pdf', fields: object): Body => ({
  message_type: type,
  media_url: house.fileUrl(kind),
  ...fields,
})

async function refused(body: Body): Promise<string> {
  const { status, body: answer } = await house.send({ phone_number: digits, ...body })
  expect([status, answer.success, answer.error], JSON.stringify(answer).slice(0, 500)).toEqual([
    400,
    false,
    'Invalid field',
  ])
  return answer.message
}

describe('POST /send-chat accepts texts up to the maximum length, and no longer', () => {
  it.each<[path: string, limit: number, make: (text: string) => Body]>([
    ['text', 4096, (text) => ({ message_type: 'text', text })],
    ['caption', 1024, (caption) => file('image', 'jpeg', { caption })],
    ['caption', 1024, (caption) => file('video', 'mp4', { caption })],
    ['caption', 1024, (caption) => file('document', 'pdf', { caption })],
    ['filename', 240, (filename) => file('document', 'pdf', { filename })],
    ['location.name', 1000, (name) => place({ name })],
    ['location.address', 1000, (address) => place({ address })],
    ['contacts[0].name.formatted_name', 256, (formatted_name) => ofCards(card({ formatted_name }))],
    ['contacts[1].name.first_name', 256, (first_name) => ofCards(card(), card({ first_name }))],
    ['contacts[0].name.last_name', 256, (last_name) => ofCards(card({ last_name }))],
    ['contacts[0].phones[0].phone', 256, (phone) => ofCards(card({}, { phone }))],
    ['contacts[0].phones[0].type', 256, (type) => ofCards(card({}, { type }))],
    ['interactive.body', 1024, (body) => ofButtons({ body })],
    ['interactive.header', 60, (header) => ofButtons({ header })],
    ['interactive.footer', 60, (footer) => ofButtons({ footer })],
    ['interactive.buttons[0].id', 256, (id) => ofButtons({ buttons: [button({ id })] })],
    ['interactive.buttons[1].title', 20, (title) => ofButtons({ buttons: [button(), button({ title }, 1)] })],
    [
      'interactive.header_media.filename',
      240,
      (filename) => ofButtons({ header_media: { type: 'document', url: house.fileUrl('pdf'), filename } }),
    ],
    ['interactive.body', 1024, (body) => ofList({ body })],
    ['interactive.header', 60, (header) => ofList({ header })],
    ['interactive.footer', 60, (footer) => ofList({ footer })],
    ['interactive.button', 20, (text) => ofList({ button: text })],
    ['interactive.sections[0].title', 24, (title) => ofList({ sections: [{ title, rows: [row()] }] })],
    ['interactive.sections[0].rows[0].id', 200, (id) => ofRow({ id })],
    ['interactive.sections[0].rows[0].title', 24, (title) => ofRow({ title })],
    ['interactive.sections[0].rows[0].description', 72, (description) => ofRow({ description })],
  ])('%s: %i', async (path, limit, make) => {
    for (const character of ['a', '👍']) {
      await house.sent({ phone_number: digits, ...make(character.repeat(limit)) })
      expect(await refused(make(character.repeat(limit + 1)))).toBe(`${path} must have at most ${limit} characters`)
    }
    const { payload } = (await house.arrived(digits)).at(-1)
    expect(schemaErrors(payload)).toEqual([])
  })

  it('media_url and header_media.url: 4096', async () => {
    const url = (length: number) => house.fileUrl('pdf', '').padEnd(length, 'x')
    const header = (length: number) => ofButtons({ header_media: { type: 'document', url: url(length) } })
    await house.sent({ phone_number: digits, message_type: 'document', media_url: url(4096) })
    await house.sent({ phone_number: digits, ...header(4096) })
    expect(await refused({ message_type: 'document', media_url: url(4097) })).toBe(
      'media_url must have at most 4096 characters',
    )
    expect(await refused(header(4097))).toBe('interactive.header_media.url must have at most 4096 characters')
  })

  it('reaction.emoji: 64', async () => {
    const [{ message_id }] = await house.shown(digits)
    const react = (length: number) => ({
      message_type: 'reaction',
      reaction: { message_id, emoji: '👍'.repeat(length) },
    })
    await house.sent({ phone_number: digits, ...react(64) })
    expect(await refused(react(65))).toBe('reaction.emoji must have at most 64 characters')
  })
})

describe('POST /send-chat accepts lists up to the maximum length, and no longer', () => {
  it.each<[path: string, limit: number, make: (count: number) => Body]>([
    ['interactive.buttons', 3, (count) => ofButtons({ buttons: times(count, (n) => button({}, n)) })],
    [
      'interactive.sections',
      10,
      (count) => ofList({ sections: times(count, (n) => ({ title: `S${n}`, rows: [row({}, n)] })) }),
    ],
    ['interactive.sections[0].rows', 10, (count) => ofList({ sections: [{ rows: times(count, (n) => row({}, n)) }] })],
    ['contacts', 257, (count) => ofCards(...times(count, () => card()))],
    [
      'contacts[0].phones',
      257,
      (count) => ofCards({ name: { formatted_name: 'Ana' }, phones: times(count, (n) => ({ phone: String(n) })) }),
    ],
  ])('%s: %i', async (path, limit, make) => {
    await house.sent({ phone_number: digits, ...make(limit) })
    expect(await refused(make(limit + 1))).toBe(`${path} must have at most ${limit} items, not ${limit + 1}`)
  })

  it('10 rows in all sections', async () => {
    const sections = (first: number, second: number) => [
      { title: 'A', rows: times(first, (n) => row({}, n)) },
      { title: 'B', rows: times(second, (n) => row({}, 100 + n)) },
    ]
    await house.sent({ phone_number: digits, ...ofList({ sections: sections(4, 6) }) })
    expect(await refused(ofList({ sections: sections(5, 6) }))).toMatch(/^interactive\.sections .*\b10 rows\b.*\b11\b/)
    expect(await refused(ofList({ sections: sections(10, 10) }))).toMatch(
      /^interactive\.sections .*\b10 rows\b.*\b20\b/,
    )
  })

  it('everything at its limit together', async () => {
    const rows = times(10, (n) => ({ id: long(200, n), title: long(24, n), description: long(72) }))
    await house.sent({
      phone_number: digits,
      ...ofList({
        header: long(60),
        body: long(1024),
        footer: long(60),
        button: long(20),
        sections: rows.map((item, n) => ({ title: long(24, n), rows: [item] })),
      }),
    })
    await house.sent({
      phone_number: digits,
      ...ofButtons({
        header: long(60),
        body: long(1024),
        footer: long(60),
        buttons: times(3, (n) => ({ id: long(256, n), title: long(20, n) })),
      }),
    })
  })
})

describe('POST /send-chat refuses duplicate', () => {
  it('ids of buttons', async () => {
    const buttons = [button({}, 1), button({}, 2), button({ title: 'Other' }, 1)]
    expect(await refused(ofButtons({ buttons }))).toMatch(/^interactive\.buttons\[2\]\.id "b1" .*unique/)
  })

  it('ids of rows, within a section and across sections', async () => {
    const twice = [{ rows: [row({}, 1), row({}, 2), row({}, 2)] }]
    expect(await refused(ofList({ sections: twice }))).toMatch(
      /^interactive\.sections\[0\]\.rows\[2\]\.id "r2" .*unique/,
    )
    const apart = [
      { title: 'A', rows: [row({}, 1)] },
      { title: 'B', rows: [row({}, 2), row({}, 1)] },
    ]
    expect(await refused(ofList({ sections: apart }))).toMatch(
      /^interactive\.sections\[1\]\.rows\[1\]\.id "r1" .*unique/,
    )
  })

  it('ids only, not titles, and not ids that differ in case', async () => {
    const same = { title: 'Same' }
    await house.sent({
      phone_number: digits,
      ...ofButtons({
        buttons: [
          { id: 'a', ...same },
          { id: 'A', ...same },
        ],
      }),
    })
    const rows = [
      { id: 'a', ...same },
      { id: 'A', ...same },
    ]
    await house.sent({ phone_number: digits, ...ofList({ sections: [{ rows }] }) })
  })
})

describe('POST /send-chat checks coordinates', () => {
  it.each([
    { latitude: 90, longitude: 180 },
    { latitude: -90, longitude: -180 },
    { latitude: 1e-7, longitude: -0.000_000_1 },
  ])('and accepts %j', async (location) => {
    await house.sent({ phone_number: digits, message_type: 'location', location })
    expect((await house.arrived(digits)).at(-1).payload.location).toEqual(location)
  })

  it.each([
    ['latitude', 90.000_001, '90'],
    ['latitude', -90.000_001, '-90'],
    ['latitude', 1e300, '90'],
    ['longitude', 180.000_001, '180'],
    ['longitude', -181, '-180'],
  ])('and refuses %s %d', async (field, value, limit) => {
    expect(await refused(place({ [field]: value }))).toMatch(new RegExp(`^location\\.${field} must be .*${limit}$`))
  })

  it('and refuses a number that is too large', async () => {
    const answer = await house.send(
      `{"phone_number":"${digits}","message_type":"location","location":{"latitude":1e999,"longitude":0}}`,
    )
    expect([answer.status, answer.body.error]).toEqual([400, 'Invalid field'])
    expect(answer.body.message).toMatch(/^location\.latitude /)
  })
})
