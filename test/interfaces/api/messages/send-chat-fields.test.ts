import { beforeAll, describe, expect, it } from 'vitest'
import { receiveMessages, textMessage } from '../../../support/callbacks.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)
let digits: string
/** A message of the customer. */
let question: string

beforeAll(async () => {
  digits = await house.newContact()
  const message = textMessage(digits, '?')
  await receiveMessages(house.world, house.organization, message)
  question = String(message.id)
})

type Body = Record<string, unknown>

const BUTTON = { id: 'a', title: 'A' }
const ROW = { id: 'r', title: 'R' }
const CARD = { name: { formatted_name: 'Ana' }, phones: [{ phone: '1' }] }
const BUTTONS = { type: 'button', body: 'Pay?', buttons: [BUTTON] }
const LIST = { type: 'list', body: 'Size?', button: 'Sizes', sections: [{ rows: [ROW] }] }
const interactive = (fields: object): Body => ({ message_type: 'interactive', interactive: fields })
const contacts = (value: unknown): Body => ({ message_type: 'contacts', contacts: value })
const location = (value: unknown): Body => ({ message_type: 'location', location: value })
const reaction = (value: unknown): Body => ({ message_type: 'reaction', reaction: value })

const MEDIA = 'media_url is required for media messages, unless media_id is given'
const COORDINATES = 'location.latitude and location.longitude are required for location messages'
const TARGET = 'reaction.message_id is required for reaction messages'
const CONTACTS = 'contacts is required for contacts messages'
const INTERACTIVE = 'interactive is required for interactive messages'
const empty = (path: string) => `${path} is required and must not be empty`

async function expectRefused(body: Body, error: string): Promise<string> {
  const sentBefore = (await house.arrived(digits)).length
  const answer = await house.send({ phone_number: digits, ...body })
  expect([answer.status, answer.body.success, answer.body.error], JSON.stringify(answer.body)).toEqual([
    400,
    false,
    error,
  ])
  expect((await house.arrived(digits)).length).toBe(sentBefore)
  return answer.body.message
}

describe('POST /send-chat returns 400 Missing required field', () => {
  /** The values that count as missing: nothing, null, an empty text, an empty list. */
  const NOTHING = { nothing: undefined, null: null, '""': '' }
  const EMPTY = { ...NOTHING, '[]': [] }

  it.each<[path: string, message: string, make: (value: unknown) => Body, values: Record<string, unknown>]>([
    ['text', 'text is required for text messages', (text) => ({ message_type: 'text', text }), NOTHING],
    ['media_url of an image', MEDIA, (media_url) => ({ message_type: 'image', media_url }), NOTHING],
    ['media_url of a video', MEDIA, (media_url) => ({ message_type: 'video', media_url }), NOTHING],
    ['media_url of audio', MEDIA, (media_url) => ({ message_type: 'audio', media_url }), NOTHING],
    ['media_url of a document', MEDIA, (media_url) => ({ message_type: 'document', media_url }), NOTHING],
    ['location', COORDINATES, location, EMPTY],
    ['location.latitude', COORDINATES, (latitude) => location({ latitude, longitude: 1 }), NOTHING],
    ['location.longitude', COORDINATES, (longitude) => location({ latitude: 1, longitude }), NOTHING],
    ['contacts', CONTACTS, contacts, EMPTY],
    ['contacts[1].name', empty('contacts[1].name'), (name) => contacts([CARD, { ...CARD, name }]), NOTHING],
    [
      'contacts[0].name.formatted_name',
      empty('contacts[0].name.formatted_name'),
      (formatted_name) => contacts([{ ...CARD, name: { formatted_name, first_name: 'Ana' } }]),
      NOTHING,
    ],
    ['contacts[0].phones', empty('contacts[0].phones'), (phones) => contacts([{ ...CARD, phones }]), EMPTY],
    [
      'contacts[0].phones[1].phone',
      empty('contacts[0].phones[1].phone'),
      (phone) => contacts([{ ...CARD, phones: [{ phone: '1' }, { phone, type: 'HOME' }] }]),
      NOTHING,
    ],
    ['interactive', INTERACTIVE, (value) => ({ message_type: 'interactive', interactive: value }), NOTHING],
    ['interactive.type', empty('interactive.type'), (type) => interactive({ ...BUTTONS, type }), NOTHING],
    ['interactive.body', empty('interactive.body'), (body) => interactive({ ...BUTTONS, body }), NOTHING],
    ['interactive.buttons', empty('interactive.buttons'), (buttons) => interactive({ ...BUTTONS, buttons }), EMPTY],
    [
      'interactive.buttons[1].id',
      empty('interactive.buttons[1].id'),
      (id) => interactive({ ...BUTTONS, buttons: [BUTTON, { ...BUTTON, id }] }),
      NOTHING,
    ],
    [
      'interactive.buttons[0].title',
      empty('interactive.buttons[0].title'),
      (title) => interactive({ ...BUTTONS, buttons: [{ ...BUTTON, title }] }),
      NOTHING,
    ],
    [
      'interactive.header_media.type',
      empty('interactive.header_media.type'),
      (type) => interactive({ ...BUTTONS, header_media: { type, url: 'https://example.com/a.png' } }),
      NOTHING,
    ],
    [
      'interactive.header_media.url',
      `${empty('interactive.header_media.url')}, unless interactive.header_media.id is given`,
      (url) => interactive({ ...BUTTONS, header_media: { type: 'image', url } }),
      NOTHING,
    ],
    ['interactive.body of a list', empty('interactive.body'), (body) => interactive({ ...LIST, body }), NOTHING],
    ['interactive.button', empty('interactive.button'), (button) => interactive({ ...LIST, button }), NOTHING],
    ['interactive.sections', empty('interactive.sections'), (sections) => interactive({ ...LIST, sections }), EMPTY],
    [
      'interactive.sections[0].rows',
      empty('interactive.sections[0].rows'),
      (rows) => interactive({ ...LIST, sections: [{ title: 'A', rows }] }),
      EMPTY,
    ],
    [
      'interactive.sections[0].rows[1].id',
      empty('interactive.sections[0].rows[1].id'),
      (id) => interactive({ ...LIST, sections: [{ rows: [ROW, { ...ROW, id }] }] }),
      NOTHING,
    ],
    [
      'interactive.sections[0].rows[0].title',
      empty('interactive.sections[0].rows[0].title'),
      (title) => interactive({ ...LIST, sections: [{ rows: [{ ...ROW, title }] }] }),
      NOTHING,
    ],
    [
      'interactive.sections[1].title, of several',
      'interactive.sections[1].title is required if there are several sections',
      (title) =>
        interactive({
          ...LIST,
          sections: [
            { title: 'A', rows: [ROW] },
            { title, rows: [{ ...ROW, id: 'r2' }] },
          ],
        }),
      NOTHING,
    ],
    ['reaction', TARGET, reaction, EMPTY],
    ['reaction.message_id', TARGET, (message_id) => reaction({ message_id, emoji: '👍' }), NOTHING],
  ])('for %s', async (_path, message, make, values) => {
    for (const [name, value] of Object.entries(values)) {
      expect(await expectRefused(make(value), 'Missing required field'), name).toBe(message)
    }
  })
})

describe('POST /send-chat returns 400 Invalid field', () => {
  it.each<[path: string, body: Body]>([
    ['media_url', { message_type: 'image', media_url: 5 }],
    ['media_url', { message_type: 'audio', media_url: ['https://example.com/a.mp3'] }],
    ['caption', { message_type: 'image', media_url: 'https://example.com/a.png', caption: 5 }],
    ['caption', { message_type: 'video', media_url: 'https://example.com/a.mp4', caption: {} }],
    ['filename', { message_type: 'document', media_url: 'https://example.com/a.pdf', filename: 5 }],
    ['filename', { message_type: 'document', media_url: 'https://example.com/a.pdf', filename: false }],
    ['location', location('MASP')],
    ['location', location([1, 2])],
    ['location.latitude', location({ latitude: '1', longitude: 2 })],
    ['location.longitude', location({ latitude: 1, longitude: true })],
    ['location.name', location({ latitude: 1, longitude: 2, name: 5 })],
    ['location.address', location({ latitude: 1, longitude: 2, address: ['x'] })],
    ['contacts', contacts(CARD)],
    ['contacts[0]', contacts(['Ana'])],
    ['contacts[0].name', contacts([{ ...CARD, name: 'Ana' }])],
    ['contacts[0].name.first_name', contacts([{ ...CARD, name: { formatted_name: 'Ana', first_name: 5 } }])],
    ['contacts[0].phones', contacts([{ ...CARD, phones: '1' }])],
    ['contacts[0].phones[0]', contacts([{ ...CARD, phones: ['1'] }])],
    ['contacts[0].phones[0].phone', contacts([{ ...CARD, phones: [{ phone: 5511987654321 }] }])],
    ['interactive', { message_type: 'interactive', interactive: 'button' }],
    ['interactive', { message_type: 'interactive', interactive: [BUTTONS] }],
    ['interactive.type', interactive({ ...BUTTONS, type: 'poll' })],
    ['interactive.type', interactive({ ...BUTTONS, type: 5 })],
    ['interactive.body', interactive({ ...BUTTONS, body: { text: 'Pay?' } })],
    ['interactive.header', interactive({ ...BUTTONS, header: { type: 'text', text: 'x' } })],
    ['interactive.footer', interactive({ ...LIST, footer: 5 })],
    ['interactive.buttons', interactive({ ...BUTTONS, buttons: BUTTON })],
    ['interactive.buttons[0]', interactive({ ...BUTTONS, buttons: ['A'] })],
    ['interactive.buttons[0].id', interactive({ ...BUTTONS, buttons: [{ id: 1, title: 'A' }] })],
    ['interactive.header_media', interactive({ ...BUTTONS, header_media: 'https://example.com/a.png' })],
    [
      'interactive.header_media.type',
      interactive({ ...BUTTONS, header_media: { type: 'audio', url: 'https://example.com/a.mp3' } }),
    ],
    ['interactive.header_media.url', interactive({ ...BUTTONS, header_media: { type: 'image', url: 5 } })],
    ['interactive.button', interactive({ ...LIST, button: { text: 'Sizes' } })],
    ['interactive.sections[0]', interactive({ ...LIST, sections: [[ROW]] })],
    ['interactive.sections[0].title', interactive({ ...LIST, sections: [{ title: 5, rows: [ROW] }] })],
    ['interactive.sections[0].rows', interactive({ ...LIST, sections: [{ rows: ROW }] })],
    [
      'interactive.sections[0].rows[0].description',
      interactive({ ...LIST, sections: [{ rows: [{ ...ROW, description: 5 }] }] }),
    ],
    ['reaction', reaction('👍')],
    ['reaction.message_id', reaction({ message_id: 5 })],
    ['reaction.message_id', reaction({ message_id: 'x'.repeat(513) })],
    ['reaction.emoji', reaction({ message_id: 'x', emoji: 5 })],
    ['caption', { message_type: 'image', media_url: 'https://example.com/a.png', caption: 'nul \0' }],
    ['contacts[0].name.last_name', contacts([{ ...CARD, name: { formatted_name: 'A', last_name: '\ud83d' } }])],
  ])('for %s in %j', async (path, body) => {
    const message = await expectRefused(body, 'Invalid field')
    expect(message.split(' ')[0]).toBe(path)
  })

  it('for header and header_media together', async () => {
    const header_media = { type: 'image', url: house.fileUrl('png', 'both') }
    const message = await expectRefused(interactive({ ...BUTTONS, header: 'x', header_media }), 'Invalid field')
    expect(message).toMatch(/^interactive\.header and interactive\.header_media /)
    expect(house.files.taken.filter(({ path }) => path.endsWith('/both'))).toEqual([])
  })
})

describe('POST /send-chat returns 400 Invalid message type', () => {
  it.each(['voice', 'template', 'Image', 'reaction ', '__proto__', '🖼️'])('%s', async (message_type) => {
    const message = await expectRefused({ message_type }, 'Invalid message type')
    expect(message).toContain(`"${message_type}"`)
    for (const known of ['text', 'audio', 'contacts', 'interactive', 'reaction']) expect(message).toContain(known)
  })
})

describe('POST /send-chat ignores fields of other types', () => {
  /** Every field of any type, each with a value of a wrong type. */
  const SURPLUS = {
    text: [],
    media_url: 5,
    caption: {},
    filename: 7,
    location: 'x',
    contacts: 'x',
    interactive: 5,
    reaction: [],
    preview_url: 'x',
    nothing: { known: true },
  }

  it.each<[name: string, body: () => Body]>([
    ['text', () => ({ message_type: 'text', text: 'hello' })],
    ['audio', () => ({ message_type: 'audio', media_url: house.fileUrl('mp3') })],
    ['location', () => location({ latitude: 1, longitude: 2, url: 5 })],
    ['contacts', () => contacts([{ ...CARD, emails: 'x', org: 5, birthday: [] }])],
    ['buttons', () => interactive({ ...BUTTONS, button: 5, sections: 'x' })],
    ['list', () => interactive({ ...LIST, buttons: 5, header_media: 'x' })],
    ['reaction', () => reaction({ message_id: question, text: 5 })],
  ])('with %s', async (_name, body) => {
    await house.sent({ phone_number: digits, ...body() })
    const { payload: plain } = (await house.arrived(digits)).at(-1)
    await house.sent({ phone_number: digits, ...SURPLUS, ...body() })
    const { payload } = (await house.arrived(digits)).at(-1)
    const unlike = { biz_opaque_callback_data: expect.any(String), ...(plain.audio && { audio: expect.any(Object) }) }
    expect(payload).toEqual({ ...plain, ...unlike })
    expect(Object.keys(payload.audio ?? { id: '' })).toEqual(['id'])
  })
})

describe('POST /send-chat checks in order', () => {
  it('body, provider, contact, referenced message, media', async () => {
    const { world, organization, files, newContact } = house
    const other = await world.createOrganization()
    await newContact({}, other)
    await world.admin('PATCH', `/organizations/${other.id}`, { provider: 'gateway' })
    const nobody = '16505559999'
    const blocked = await newContact()
    await world.request('PATCH', `/contact?chat_id=${blocked}`, { key: organization.key, body: { blocked: true } })
    const unknown = 'wamid.nothing'
    const errorOf = async (body: object, key = organization.key) =>
      (await world.request('POST', '/send-chat', { key, body })).body.error

    const media_url = `${files.url}/none`
    files.taken.splice(0)
    const header = interactive({ ...BUTTONS, header_media: { type: 'image', url: media_url } })
    for (const body of [{ message_type: 'image', media_url }, header]) {
      const all = { ...body, context_message_id: unknown }
      const wrong = { ...all, phone_number: nobody, context_message_id: 5 }
      expect(await errorOf(wrong, other.key)).toBe('Invalid field')
      expect(await errorOf({ ...all, phone_number: nobody }, other.key)).toBe('Invalid provider')
      expect(await errorOf({ ...all, phone_number: nobody })).toBe('Contact not found')
      expect(await errorOf({ ...all, phone_number: blocked })).toBe('Contact blocked')
      expect(await errorOf({ ...all, phone_number: digits })).toBe('Message not found')
      expect(files.taken).toEqual([])
      expect(await errorOf({ ...body, phone_number: digits })).toBe('Invalid media')
      expect(files.taken.splice(0)).toHaveLength(1)
    }
    const bad = { phone_number: nobody, ...interactive({ ...BUTTONS, buttons: [BUTTON, BUTTON] }) }
    expect(await errorOf(bad, other.key)).toBe('Invalid field')
    const emptyTitle = [{ rows: [ROW] }, { rows: [{ ...ROW, id: 'r2' }] }]
    expect(await errorOf({ phone_number: nobody, ...interactive({ ...LIST, sections: emptyTitle }) }, other.key)).toBe(
      'Missing required field',
    )
    expect(await errorOf({ phone_number: nobody, ...reaction({ message_id: unknown }) }, other.key)).toBe(
      'Invalid provider',
    )
    expect(await errorOf({ phone_number: nobody, ...reaction({ message_id: unknown }) })).toBe('Contact not found')
  })
})
