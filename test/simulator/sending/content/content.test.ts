import { beforeAll, describe, expect, it } from 'vitest'
import { errorOf, useWorld } from '../../../support/simulator.js'

const world = useWorld()
/** The media id of an upload of each kind. */
const ids: Record<string, string> = {}

const bytes = new Uint8Array([1, 2, 3])
const mimeTypes = {
  image: 'image/png',
  video: 'video/mp4',
  audio: 'audio/ogg',
  document: 'application/pdf',
  sticker: 'image/webp',
}

beforeAll(async () => {
  for (const [kind, mimeType] of Object.entries(mimeTypes)) ids[kind] = await world.uploaded(bytes, mimeType)
})

const link = 'https://files.example/a'

function send(type: string, payload: unknown) {
  return world.send({ messaging_product: 'whatsapp', to: '16505551234', type, [type]: payload })
}

async function expectTaken(type: string, payload: unknown) {
  const { status, body } = await send(type, payload)
  expect([status, body]).toEqual([
    200,
    expect.objectContaining({ messages: [expect.objectContaining({ id: expect.any(String) })] }),
  ])
  const { messages } = (await world.control('GET', '/messages?limit=1')).body as { messages: object[] }
  expect(messages).toMatchObject([{ type, payload: { messaging_product: 'whatsapp', [type]: payload } }])
}

/** The code of a refusal, and a part of its title or details. */
type Case = [what: string, payload: unknown, code: number, text: string]

async function expectRefused(type: string, payload: unknown, code: number, text: string) {
  const { status, body } = await send(type, payload)
  expect([status, errorOf(body).code]).toEqual([400, code])
  expect(errorOf(body).error_data?.details ?? errorOf(body).message).toContain(text)
}

describe.each(['image', 'video', 'audio', 'document', 'sticker'])('a message of type %s', (type) => {
  it('is accepted with the id of an upload, and with a link', async () => {
    await expectTaken(type, { id: ids[type] })
    await expectTaken(type, { link })
  })

  it('gets the statuses sent, delivered and read', async () => {
    const { body } = await send(type, { id: ids[type] })
    await world.idle()
    const [{ id }] = body.messages as [{ id: string }]
    const told = world.receiver.statuses().filter((status) => status.id === id)
    expect(told.map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
  })

  it.each<Case>([
    ['nothing', undefined, 131008, `${type} is required`],
    ['neither id nor link', {}, 131008, `${type}: id or link is required`],
    ['both id and link', { id: '1', link }, 100, `Param ${type} must have either id or link`],
    ['an id that is not a text', { id: 7 }, 100, `Param ${type}['id'] must be a string`],
    ['an invalid link', { link: 'file:///etc/passwd' }, 100, `Param ${type}['link'] is not a valid URI`],
    ['an unknown id', { id: '12345' }, 131053, 'uploaded no media with the id 12345'],
    ['a misspelt key', { link, captoin: 'x' }, 100, `Unexpected key "captoin" on param "${type}"`],
  ])('is refused with %s', (_what, payload, code, text) => expectRefused(type, payload, code, text))

  it('is refused with a file of another kind', async () => {
    const other = type === 'image' ? 'audio' : 'image'
    await expectRefused(type, { id: ids[other] }, 131009, `is of kind ${other}, not ${type}`)
  })

  it("is refused with another number's file", async () => {
    const { body } = await world.upload(bytes, mimeTypes[type as keyof typeof mimeTypes], { number: '999' })
    await expectRefused(type, { id: body.id }, 131053, 'uploaded no media')
  })
})

describe('the fields next to a file', () => {
  it.each(['image', 'video', 'document'])('may include a caption of up to 1024 characters with %s', async (type) => {
    await expectTaken(type, { link, caption: '😀'.repeat(1024) })
    await expectRefused(type, { link, caption: 'é'.repeat(1025) }, 100, `Param ${type}['caption'] must be at most 1024`)
    await expectRefused(type, { link, caption: 7 }, 100, `Param ${type}['caption'] must be a string`)
  })

  it.each(['audio', 'sticker'])('include no caption with %s', (type) =>
    expectRefused(type, { link, caption: 'x' }, 100, `Unexpected key "caption" on param "${type}"`),
  )

  it('include a filename with a document only', async () => {
    await expectTaken('document', { link, filename: 'a.pdf' })
    await expectRefused('document', { link, filename: 7 }, 131009, 'document: filename must be a string')
    await expectRefused('image', { link, filename: 'a.png' }, 100, 'Unexpected key "filename"')
  })

  it('include voice with an audio only', async () => {
    await expectTaken('audio', { link, voice: true })
    await expectRefused('audio', { link, voice: 'yes' }, 131009, 'audio: voice must be a boolean')
  })
})

describe('a location', () => {
  it.each([
    [{ latitude: 52.5, longitude: 13.4 }],
    [{ latitude: '-90', longitude: '180', name: 'Pole', address: 'South' }],
  ])('is accepted as %j', (location) => expectTaken('location', location))

  it.each<Case>([
    ['nothing', undefined, 131008, 'location is required'],
    ['no latitude', { longitude: 1 }, 131008, 'latitude is required'],
    ['no longitude', { latitude: 1 }, 131008, 'longitude is required'],
    [
      'a latitude beyond the pole',
      { latitude: 90.1, longitude: 1 },
      131009,
      'latitude must be a number from -90 to 90',
    ],
    ['a longitude beyond 180', { latitude: 1, longitude: '-181' }, 131009, 'longitude must be a number from -180'],
    ['a text for a number', { latitude: 'north', longitude: 1 }, 131009, 'latitude must be a number'],
    ['blanks for a number', { latitude: ' ', longitude: 1 }, 131009, 'latitude must be a number'],
    ['a name of a wrong type', { latitude: 1, longitude: 1, name: 7 }, 131009, 'name must be a string'],
    ['an address of a wrong type', { latitude: 1, longitude: 1, address: 7 }, 131009, 'address must be a string'],
  ])('is refused with %s', (_what, payload, code, text) => expectRefused('location', payload, code, text))
})

describe('contact cards', () => {
  const name = { formatted_name: 'Ann Lee', first_name: 'Ann' }

  it('are accepted', () =>
    expectTaken('contacts', [
      { name, phones: [{ phone: '+16505551234', type: 'CELL' }], birthday: '1990-12-31' },
      { name: { formatted_name: 'Bo', suffix: 'Jr.' } },
    ]))

  it.each<Case>([
    ['nothing', undefined, 131008, 'contacts is required'],
    ['a card that is not in an array', { name }, 131009, 'contacts must be an array of 1 to 257'],
    ['no card', [], 131009, 'contacts must be an array of 1 to 257'],
    ['258 cards', Array(258).fill({ name }), 131009, 'contacts must be an array of 1 to 257'],
    ['an invalid card', ['Ann'], 131009, 'contacts[0] must be an object'],
    ['no name', [{ name }, {}], 131008, 'contacts[1]: name is required'],
    ['no formatted name', [{ name: { first_name: 'Ann' } }], 131008, 'formatted_name is required'],
    ['no further part of the name', [{ name: { formatted_name: 'Ann' } }], 131008, 'at least one of first_name'],
    ['an empty further part', [{ name: { formatted_name: 'A', last_name: '' } }], 131008, 'at least one of first_name'],
    ['a part of a wrong type', [{ name: { ...name, last_name: 7 } }], 131009, 'last_name must be a string'],
    ['phones that are not an array', [{ name, phones: '1' }], 131009, 'phones must be an array of objects'],
    ['a phone that is not an object', [{ name, phones: ['1'] }], 131009, 'phones must be an array of objects'],
    ['a birthday in another format', [{ name, birthday: '31.12.1990' }], 131009, 'birthday must be written YYYY-MM-DD'],
  ])('are refused with %s', (_what, payload, code, text) => expectRefused('contacts', payload, code, text))
})

const reply = (id: string, title = id) => ({ type: 'reply', reply: { id, title } })

const buttonMessage = (changes: object = {}) => ({
  type: 'button',
  body: { text: 'Choose' },
  action: { buttons: [reply('a'), reply('b')] },
  ...changes,
})

describe('interactive buttons', () => {
  it.each([
    ['the minimum', {}],
    ['the maximum', { body: { text: 'x'.repeat(1024) }, footer: { text: 'x'.repeat(60) } }],
    ['with a text header', { header: { type: 'text', text: 'x'.repeat(60) } }],
    ['three, with long ids', { action: { buttons: [reply('a'), reply('b'), reply('x'.repeat(256), 'x'.repeat(20))] } }],
    ['with a linked header', { header: { type: 'image', image: { link } } }],
  ])('are accepted, %s', (_what, changes) => expectTaken('interactive', buttonMessage(changes)))

  it.each(['image', 'video', 'document'])('are accepted with an uploaded %s as header', (type) =>
    expectTaken('interactive', buttonMessage({ header: { type, [type]: { id: ids[type] } } })),
  )

  it.each<Case>([
    ['no body', { body: undefined }, 131008, 'Body text is required'],
    ['an empty body', { body: { text: '' } }, 131008, 'Body text is required'],
    ['a body too long', { body: { text: 'x'.repeat(1025) } }, 131009, 'Body text is too long. Max length is 1024'],
    ['an empty footer', { footer: {} }, 131008, 'Footer text is required'],
    ['a footer too long', { footer: { text: 'x'.repeat(61) } }, 131009, 'Footer text is too long. Max length is 60'],
    ['a header without type', { header: { text: 'x' } }, 131008, 'Header type is required'],
    ['a header without text', { header: { type: 'text' } }, 131008, 'Header text is required'],
    ['a header too long', { header: { type: 'text', text: 'x'.repeat(61) } }, 131009, 'Header text is too long'],
    ['a header of a wrong type', { header: { type: 'audio' } }, 131009, 'Header type must be one of'],
    ['a header without its file', { header: { type: 'image' } }, 131008, "interactive['header']['image'] is required"],
    ['an unknown header file', { header: { type: 'image', image: { id: '1' } } }, 131053, 'uploaded no media'],
    ['no action', { action: undefined }, 131008, 'buttons is required'],
    ['no button', { action: { buttons: [] } }, 131009, 'Invalid buttons count. Min allowed buttons: 1, Max'],
    ['four buttons', { action: { buttons: [1, 2, 3, 4].map((n) => reply(`${n}`)) } }, 131009, 'Invalid buttons count'],
    ['a button without reply', { action: { buttons: [{ type: 'reply' }] } }, 131008, 'Button reply is required'],
    ['another kind of button', { action: { buttons: [{ ...reply('a'), type: 'url' }] } }, 131009, 'must be reply'],
    ['a button without id', { action: { buttons: [reply('', 'x')] } }, 131008, 'Button id is required'],
    ['an id too long', { action: { buttons: [reply('x'.repeat(257), 'x')] } }, 131009, 'Button id is too long'],
    ['a button without title', { action: { buttons: [reply('a', '')] } }, 131008, 'Button title is required'],
    ['a title too long', { action: { buttons: [reply('a', 'x'.repeat(21))] } }, 131009, 'Max length is 20'],
    ['an id twice', { action: { buttons: [reply('a'), reply('a', 'b')] } }, 131009, 'Button ids must be unique'],
  ])('are refused with %s', (_what, changes, code, text) =>
    expectRefused('interactive', buttonMessage(changes as object), code, text),
  )

  it('are refused with a header file of another kind', () =>
    expectRefused(
      'interactive',
      buttonMessage({ header: { type: 'video', video: { id: ids.image } } }),
      131009,
      'is of kind image, not video',
    ))
})

const rows = (count: number, prefix = 'r') =>
  Array.from({ length: count }, (_, n) => ({ id: `${prefix}${n}`, title: `Row ${n}` }))

const listMessage = (changes: object = {}, action: object = {}) => ({
  type: 'list',
  body: { text: 'Choose' },
  action: { button: 'Open', sections: [{ rows: rows(2) }], ...action },
  ...changes,
})

describe('an interactive list', () => {
  it.each([
    ['with one section without title', listMessage()],
    ['with 10 rows in one section', listMessage({}, { sections: [{ title: 'x'.repeat(24), rows: rows(10) }] })],
    [
      'with 10 rows over 10 sections',
      listMessage({}, { sections: rows(10).map((row) => ({ title: row.id, rows: [row] })) }),
    ],
    [
      'with everything as long as possible',
      listMessage(
        { body: { text: 'x'.repeat(4096) }, header: { type: 'text', text: 'x'.repeat(60) } },
        {
          button: 'x'.repeat(20),
          sections: [{ rows: [{ id: 'x'.repeat(200), title: 'x'.repeat(24), description: 'x'.repeat(72) }] }],
        },
      ),
    ],
  ])('is accepted %s', (_what, list) => expectTaken('interactive', list))

  const titled = (title: string | undefined, count: number, prefix: string) => ({ title, rows: rows(count, prefix) })
  const row = (changes: object) => ({ sections: [{ rows: [{ id: 'a', title: 'A', ...changes }] }] })

  it.each<Case>([
    ['a body too long', listMessage({ body: { text: 'x'.repeat(4097) } }), 131009, 'Max length is 4096'],
    [
      'an image header',
      listMessage({ header: { type: 'image', image: { link } } }),
      131009,
      'Header type must be text',
    ],
    ['no action', listMessage({ action: undefined }), 131008, 'action is required'],
    ['no button', listMessage({}, { button: undefined }), 131008, 'Button text is required'],
    ['a button too long', listMessage({}, { button: 'x'.repeat(21) }), 131009, 'Button text is too long'],
    ['no sections', listMessage({}, { sections: undefined }), 131008, 'sections is required'],
    ['empty sections', listMessage({}, { sections: [] }), 131009, 'Invalid sections count'],
    ['an invalid section', listMessage({}, { sections: ['x'] }), 131009, 'Section must be an object'],
    [
      '11 sections',
      listMessage({}, { sections: rows(11).map((one) => ({ title: 'x', rows: [one] })) }),
      131009,
      'Invalid sections count. Min allowed sections: 1, Max allowed sections: 10',
    ],
    [
      'two sections, one without title',
      listMessage({}, { sections: [titled('A', 1, 'a'), titled(undefined, 1, 'b')] }),
      131008,
      'Section title is required',
    ],
    ['a section title too long', listMessage({}, { sections: [titled('x'.repeat(25), 1, 'a')] }), 131009, 'is 24'],
    ['a section without rows', listMessage({}, { sections: [{ title: 'A' }] }), 131008, 'Section rows is required'],
    ['a section with empty rows', listMessage({}, { sections: [{ rows: [] }] }), 131009, 'at least one row'],
    [
      '11 rows over two sections',
      listMessage({}, { sections: [titled('A', 5, 'a'), titled('B', 6, 'b')] }),
      131009,
      'Total row count exceed max allowed count: 10',
    ],
    ['an invalid row', listMessage({}, { sections: [{ rows: ['x'] }] }), 131009, 'Row must be an object'],
    ['a row without id', listMessage({}, row({ id: undefined })), 131008, 'Row id is required'],
    ['a row id too long', listMessage({}, row({ id: 'x'.repeat(201) })), 131009, 'Row id is too long'],
    ['a row without title', listMessage({}, row({ title: undefined })), 131008, 'Row title is required'],
    [
      'a row title too long',
      listMessage({}, row({ title: 'x'.repeat(25) })),
      131009,
      'Row title is too long. Max length is 24',
    ],
    ['a description too long', listMessage({}, row({ description: 'x'.repeat(73) })), 131009, 'Max length is 72'],
    [
      'a row id twice, in two sections',
      listMessage({}, { sections: [titled('A', 1, 'a'), titled('B', 1, 'a')] }),
      131009,
      'Row ids must be unique',
    ],
  ])('is refused with %s', (_what, list, code, text) => expectRefused('interactive', list, code, text))
})

describe('an interactive message of another type', () => {
  it.each<Case>([
    ['none', undefined, 131008, 'interactive is required'],
    ['no type', {}, 131008, 'interactive: type is required'],
    ['a poll', { type: 'poll' }, 131009, 'type must be one of button, list, cta_url, flow'],
  ])('is refused: %s', (_what, payload, code, text) => expectRefused('interactive', payload, code, text))
})

describe('a template', () => {
  const template = { name: 'hello', language: { code: 'en_US' } }
  const withParameters = (parameters: unknown) => ({ ...template, components: [{ type: 'body', parameters }] })
  const thumbnail = (action: object) => [{ type: 'action', action }]
  const withButton = (button: object) => ({ ...template, components: [{ type: 'button', ...button }] })
  const payload = [{ type: 'payload', payload: 'x' }]

  beforeAll(() => world.control('POST', '/settings', { templates: 'any' }))

  it.each([
    [template],
    [{ ...template, components: [] }],
    [withParameters([{ type: 'text', text: 'Ann' }])],
    [withParameters([{ type: 'text', text: 'a    b', parameter_name: 'name' }])],
    [withParameters([{ type: 'currency', currency: { fallback_value: '$1', code: 'USD', amount_1000: 1000 } }])],
    [withButton({ sub_type: 'url', index: '0', parameters: [{ type: 'text', text: 'x' }] })],
    [withButton({ sub_type: 'quick_reply', index: 1, parameters: payload })],
    [withButton({ sub_type: 'copy_code', index: 0, parameters: [{ type: 'coupon_code', coupon_code: 'A1' }] })],
    [withButton({ sub_type: 'flow', index: 0 })],
    [withButton({ sub_type: 'CATALOG', index: 0 })],
    [withButton({ sub_type: 'catalog', index: 0, parameters: thumbnail({ thumbnail_product_retailer_id: 'mug' }) })],
    [withButton({ sub_type: 'voice_call', index: 0 })],
  ])('is accepted as %j', (payload) => expectTaken('template', payload))

  it.each<Case>([
    ['nothing', undefined, 100, "The parameter template['name'] is required."],
    ['no name', { ...template, name: '' }, 100, "The parameter template['name'] is required."],
    ['no language', { name: 'hello' }, 100, "The parameter template['language'] is required."],
    ['no code', { ...template, language: {} }, 100, "The parameter template['language']['code'] is required."],
    ['components of a wrong type', { ...template, components: {} }, 100, "template['components'] must be an array"],
    [
      'a component without type',
      { ...template, components: [{}] },
      100,
      "template['components'][0]['type'] is required",
    ],
    [
      'a component of another type',
      { ...template, components: [{ type: 'footer' }] },
      100,
      'must be one of {HEADER, BODY, BUTTON, LIMITED_TIME_OFFER, CAROUSEL} - got "footer"',
    ],
    ['parameters of a wrong type', withParameters({}), 100, "['parameters'] must be an array"],
    ['a parameter without type', withParameters([{ text: 'x' }]), 100, "['parameters'][0]['type'] is required"],
    ['a parameter of another type', withParameters([{ type: 'audio' }]), 100, 'got "audio"'],
    ['an empty text', withParameters([{ type: 'text', text: '' }]), 131008, "['text'] is required"],
    ['a line break', withParameters([{ type: 'text', text: 'a\nb' }]), 100, 'cannot have new-line/tab characters'],
    ['a tab', withParameters([{ type: 'text', text: 'a\tb' }]), 100, 'cannot have new-line/tab characters'],
    ['five spaces', withParameters([{ type: 'text', text: 'a     b' }]), 100, 'more than 4 consecutive spaces'],
    ['an empty name', withParameters([{ type: 'text', text: 'a', parameter_name: '' }]), 100, "['parameter_name']"],
    ['no fallback', withParameters([{ type: 'currency', currency: {} }]), 131008, "['fallback_value'] is required"],
    ['a button without kind', withButton({ index: 0 }), 100, "['sub_type'] is required"],
    [
      'a button that has no component',
      withButton({ sub_type: 'phone_number', index: 0 }),
      100,
      'must be one of {BOOKING_CONFIRMATION, CATALOG, COPY_CODE, FLOW, MPM, ORDER_DETAILS, QUICK_REPLY, REMINDER, URL, VOICE_CALL} - got "phone_number"',
    ],
    [
      'an action of a catalogue without a thumbnail',
      withButton({ sub_type: 'catalog', index: 0, parameters: thumbnail({}) }),
      131008,
      "['thumbnail_product_retailer_id'] is required",
    ],
    [
      'an action of a wrong type',
      withButton({ sub_type: 'flow', index: 0, parameters: [{ type: 'action', action: 'x' }] }),
      131008,
      "['action'] is required",
    ],
    ['a button without index', withButton({ sub_type: 'url' }), 100, "['index'] is required"],
    ['an invalid index', withButton({ sub_type: 'url', index: 'x' }), 100, "['index'] must be an integer"],
    ['a url without text', withButton({ sub_type: 'url', index: 0 }), 100, 'one parameter of type text'],
    [
      'a payload for a url',
      withButton({ sub_type: 'url', index: 0, parameters: payload }),
      100,
      'one parameter of type text',
    ],
    [
      'a code that is too long',
      withButton({
        sub_type: 'copy_code',
        index: 0,
        parameters: [{ type: 'coupon_code', coupon_code: 'x'.repeat(21) }],
      }),
      131009,
      'Max length is 20',
    ],
  ])('is refused with %s', (_what, payload, code, text) => expectRefused('template', payload, code, text))
})
