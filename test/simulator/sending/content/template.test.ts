import { beforeAll, describe, expect, it } from 'vitest'
import { errorOf, phoneNumberId, startWorld, useWorld } from '../../../support/simulator.js'

const world = useWorld()
let imageId: string
let documentId: string

const bytes = new Uint8Array([1, 2, 3])

beforeAll(async () => {
  imageId = await world.uploaded(bytes, 'image/png')
  documentId = await world.uploaded(bytes, 'application/pdf')
  const link = 'https://shop.example/'
  await put('titled', [
    { type: 'HEADER', format: 'TEXT', text: 'Order {{1}}' },
    { type: 'BODY', text: '{{1}}, {{2}}, {{1}}' },
    {
      type: 'BUTTONS',
      buttons: [
        { type: 'URL', text: 'Shop', url: link },
        { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
        { type: 'COPY_CODE', example: 'A1' },
        { type: 'FLOW', text: 'Begin' },
      ],
    },
  ])
  const buttons = [
    { type: 'QUICK_REPLY', text: 'Stop' },
    { type: 'FLOW', text: 'Begin', flow_id: '123' },
    { type: 'PHONE_NUMBER', text: 'Call', phone_number: '+15550001111' },
  ]
  await put('flowing', [
    { type: 'BODY', text: '{{1}}, {{2}}' },
    { type: 'BUTTONS', buttons },
  ])
  await put('with_code', [
    { type: 'BODY', text: 'Your code' },
    { type: 'BUTTONS', buttons: [{ type: 'OTP', otp_type: 'COPY_CODE', text: 'Copy' }] },
  ])
  const card = { components: [{ type: 'BODY', text: 'A card' }] }
  await put('carousel', [
    { type: 'BODY', text: 'Look' },
    { type: 'CAROUSEL', cards: [card, card] },
  ])
  await put('limited', [
    { type: 'BODY', text: 'Look' },
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Today', has_expiration: true } },
  ])
  await put('with_offer_code', [
    { type: 'BODY', text: 'Look' },
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Today', has_expiration: false } },
    { type: 'BUTTONS', buttons: [{ type: 'COPY_CODE', example: 'A1' }] },
  ])
  for (const type of ['MPM', 'ORDER_DETAILS']) {
    await put(type.toLowerCase(), [
      { type: 'BODY', text: 'Look' },
      { type: 'BUTTONS', buttons: [{ type, text: 'View' }] },
    ])
  }
  await put('shown', [
    { type: 'HEADER', format: 'PRODUCT' },
    { type: 'BODY', text: 'Here' },
  ])
  await put('placed', [
    { type: 'HEADER', format: 'LOCATION' },
    { type: 'BODY', text: 'Here' },
  ])
})

async function put(name: string, components: object[]) {
  const template = { name, language: 'en', category: 'UTILITY', components }
  const { status } = await world.control('PUT', '/templates', { phone_number_id: phoneNumberId, template })
  expect(status).toBe(200)
}

function send(name: string, language: string, components: object[] = [], options?: { number: string; token?: string }) {
  const template = { name, language: { code: language }, components }
  return world.send({ messaging_product: 'whatsapp', to: '16505551234', type: 'template', template }, options)
}

const text = (value: string, name?: string) => ({
  type: 'text',
  text: value,
  ...(name === undefined ? {} : { parameter_name: name }),
})
const header = (...parameters: object[]) => ({ type: 'header', parameters })
const body = (...parameters: object[]) => ({ type: 'body', parameters })
const urlButton = (index: string | number, suffix = 'abc') => ({
  type: 'button',
  sub_type: 'url',
  index,
  parameters: [text(suffix)],
})
const replyButton = (index: string | number) => ({
  type: 'button',
  sub_type: 'quick_reply',
  index,
  parameters: [{ type: 'payload', payload: 'more' }],
})
const codeButton = (index: number, coupon_code = 'A1') => ({
  type: 'button',
  sub_type: 'copy_code',
  index,
  parameters: [{ type: 'coupon_code', coupon_code }],
})
const button = (sub_type: string, index: string | number, parameters?: object[]) => ({
  type: 'button',
  sub_type,
  index,
  ...(parameters && { parameters }),
})
const action = (fields: object) => ({ type: 'action', action: fields })
const product = { product_retailer_id: 'mug' }
const carousel = (...indexes: number[]) => ({
  type: 'carousel',
  cards: indexes.map((card_index) => ({ card_index, components: [] })),
})
const offerEnd = (limited_time_offer: object) => ({
  type: 'limited_time_offer',
  parameters: [{ type: 'limited_time_offer', limited_time_offer }],
})
const two = body(text('a'), text('b'))
const offer = body(text('20%', 'discount'), text('Ana', 'name'))
const image = (reference: object) => header({ type: 'image', image: reference })

describe('a template send', () => {
  it.each<[string, string, () => object[]]>([
    ['hello_world', 'en_US', () => []],
    ['oferta_da_semana', 'pt_BR', () => [offer, urlButton('2')]],
    ['oferta_da_semana', 'pt_BR', () => [offer, replyButton(0), replyButton('1'), urlButton(2)]],
    ['pedido_enviado', 'pt_BR', () => [body(text('Ana'), text('1042'))]],
    ['nova_colecao', 'pt_BR', () => [image({ id: imageId }), body(text('Ana', 'name'))]],
    ['nova_colecao', 'pt_BR', () => [image({ link: 'https://shop.example/a.jpg' }), body(text('Ana', 'name'))]],
    ['titled', 'en', () => [header(text('7')), two, codeButton(2), button('flow', '3')]],
    ['flowing', 'en', () => [two, button('flow', '1')]],
    ['flowing', 'en', () => [two, button('FLOW', 1, [action({ flow_token: 'x', flow_action_data: { a: 1 } })])]],
    ['with_code', 'en', () => [urlButton(0, '1234')]],
    ['mpm', 'en', () => [button('mpm', 0, [action({ sections: [{ product_items: [product] }] })])]],
    ['carousel', 'en', () => [carousel(0, 1)]],
    ['limited', 'en', () => [offerEnd({ expiration_time_ms: 1795086400000 })]],
    ['with_offer_code', 'en', () => [codeButton(0, 'x'.repeat(15))]],
    ['shown', 'en', () => [header({ type: 'product', product: { ...product, catalog_id: '5' } })]],
    ['placed', 'en', () => [header({ type: 'location', location: { latitude: 1, longitude: 2 } })]],
  ])('is accepted: %s (%s), case %#', async (name, language, components) => {
    expect(await send(name, language, components())).toMatchObject({
      status: 200,
      body: { messages: [{ id: expect.stringMatching(/^wamid\./), message_status: 'accepted' }] },
    })
  })

  it('gets the statuses sent, delivered and read, while other messages have no message_status', async () => {
    const { body: sent } = await send('hello_world', 'en_US')
    await world.idle()
    const [{ id }] = sent.messages as [{ id: string }]
    const told = world.receiver.statuses().filter((status) => status.id === id)
    expect(told.map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
    const [message] = (await world.sendText('16505551234')).body.messages as object[]
    expect(message).not.toHaveProperty('message_status')
  })

  it('is not checked against the account if its number is not registered', async () => {
    expect((await send('nothing', 'en', [], { number: '999', token: 'any' })).status).toBe(200)
  })
})

describe('a template send is refused', () => {
  interface Named {
    name: string
    language: string
  }
  const inPortuguese = (name: string): Named => ({ name, language: 'pt_BR' })
  const inEnglish = (name: string): Named => ({ name, language: 'en' })
  const count = (place: string, given: number, expected: number) =>
    `${place}: number of localizable_params (${given}) does not match the expected number of params (${expected})`

  it.each<[string, Named, () => object[], { code: number; details: string }]>([
    [
      'a parameter too few',
      inPortuguese('pedido_enviado'),
      () => [body(text('Ana'))],
      { code: 132000, details: count('body', 1, 2) },
    ],
    [
      'a surplus parameter',
      { name: 'hello_world', language: 'en_US' },
      () => [body(text('Ana'))],
      { code: 132000, details: count('body', 1, 0) },
    ],
    ['no body', inPortuguese('pedido_enviado'), () => [], { code: 132000, details: count('body', 0, 2) }],
    [
      'a name for a number',
      inPortuguese('pedido_enviado'),
      () => [body(text('Ana', 'name'), text('1042'))],
      { code: 132012, details: 'parameter_name name is not one of a positional template' },
    ],
    [
      'no name',
      inPortuguese('oferta_da_semana'),
      () => [body(text('Ana'), text('20%')), urlButton(2)],
      { code: 132012, details: 'body: parameter_name name is missing' },
    ],
    [
      'a name twice',
      inPortuguese('oferta_da_semana'),
      () => [body(text('Ana', 'name'), text('20%', 'name')), urlButton(2)],
      { code: 132012, details: 'body: parameter_name discount is missing' },
    ],
    [
      'a file for a text',
      inPortuguese('pedido_enviado'),
      () => [body(text('Ana'), { type: 'image', image: { id: imageId } })],
      { code: 132012, details: 'body: Format mismatch, expected TEXT, received IMAGE' },
    ],
    [
      'a surplus header',
      inPortuguese('pedido_enviado'),
      () => [header(text('a'))],
      { code: 132000, details: count('header', 1, 0) },
    ],
    ['no text in the header', inEnglish('titled'), () => [], { code: 132000, details: count('header', 0, 1) }],
    [
      'no header',
      inPortuguese('nova_colecao'),
      () => [body(text('Ana', 'name'))],
      { code: 132012, details: 'header: Format mismatch, expected IMAGE, received UNKNOWN' },
    ],
    [
      'a header of another format',
      inPortuguese('nova_colecao'),
      () => [header({ type: 'document', document: { id: documentId } }), body(text('Ana', 'name'))],
      { code: 132012, details: 'header: Format mismatch, expected IMAGE, received DOCUMENT' },
    ],
    [
      'two headers',
      inPortuguese('nova_colecao'),
      () => [image({ id: imageId }), image({ id: imageId }), body(text('Ana', 'name'))],
      { code: 132000, details: count('header', 2, 1) },
    ],
    [
      'an unknown upload',
      inPortuguese('nova_colecao'),
      () => [image({ id: '123' })],
      { code: 132012, details: 'header: Format mismatch, expected IMAGE, received UNKNOWN' },
    ],
    [
      'an upload of another kind',
      inPortuguese('nova_colecao'),
      () => [image({ id: documentId })],
      { code: 132012, details: 'header: Format mismatch, expected IMAGE, received DOCUMENT' },
    ],
    [
      'id and link',
      inPortuguese('nova_colecao'),
      () => [image({ id: imageId, link: 'https://shop.example/a.jpg' })],
      { code: 100, details: 'must have either id or link, not both' },
    ],
    [
      'no URL parameter',
      inPortuguese('oferta_da_semana'),
      () => [offer],
      { code: 131008, details: 'buttons: Button at index 2 of type Url requires a parameter' },
    ],
    [
      'no code to copy',
      inEnglish('titled'),
      () => [header(text('7')), body(text('a'), text('b'))],
      { code: 131008, details: 'buttons: Button at index 2 of type CopyCode requires a parameter' },
    ],
    [
      'a button of another kind',
      inPortuguese('oferta_da_semana'),
      () => [offer, replyButton(2)],
      { code: 132012, details: 'buttons: Button at index 2 is of type Url' },
    ],
    [
      'an unknown button',
      inPortuguese('oferta_da_semana'),
      () => [offer, urlButton(2), urlButton(3)],
      { code: 132012, details: 'buttons: There is no button at index 3' },
    ],
    [
      'a surplus URL parameter',
      inEnglish('titled'),
      () => [header(text('7')), two, codeButton(2), button('flow', 3), urlButton(0)],
      { code: 132000, details: 'buttons: Button at index 0 of type Url does not require parameters' },
    ],
    [
      'no flow',
      inEnglish('flowing'),
      () => [two],
      { code: 131009, details: 'button at index 1 of type Flow is missing' },
    ],
    ['no products', inEnglish('mpm'), () => [], { code: 131009, details: 'button at index 0 of type Mpm is missing' }],
    [
      'no order',
      inEnglish('order_details'),
      () => [],
      { code: 131009, details: 'button at index 0 of type OrderDetails is missing' },
    ],
    [
      'no carousel',
      inEnglish('carousel'),
      () => [],
      { code: 131009, details: 'The component of the Carousel is missing' },
    ],
    [
      'no offer',
      inEnglish('limited'),
      () => [],
      { code: 131009, details: 'The component of the LimitedTimeOffer is missing' },
    ],
    [
      'no code',
      inEnglish('with_code'),
      () => [],
      { code: 131008, details: 'Button at index 0 of type Otp requires a parameter' },
    ],
    [
      'a flow at another index',
      inEnglish('flowing'),
      () => [two, button('flow', 0)],
      { code: 131009, details: 'index 1 of type Flow' },
    ],
    [
      'an offer without end',
      inEnglish('limited'),
      () => [offerEnd({})],
      { code: 131008, details: "['expiration_time_ms'] is required" },
    ],
    [
      'a code that is too long for an offer',
      inEnglish('with_offer_code'),
      () => [codeButton(0, 'x'.repeat(16))],
      { code: 131009, details: 'Max length is 15' },
    ],
    [
      'one card of two',
      inEnglish('carousel'),
      () => [carousel(0)],
      { code: 132000, details: 'carousel: number of localizable_params (1)' },
    ],
    [
      'cards out of order',
      inEnglish('carousel'),
      () => [carousel(1, 0)],
      { code: 100, details: "['card_index'] must be 0" },
    ],
    [
      'a surplus value of a card',
      inEnglish('carousel'),
      () => [{ type: 'carousel', cards: [0, 1].map((card_index) => ({ card_index, components: [body(text('a'))] })) }],
      { code: 132000, details: 'body: number of localizable_params (1)' },
    ],
    [
      'products without sections',
      inEnglish('mpm'),
      () => [button('mpm', 0, [action({ sections: [] })])],
      { code: 131009, details: 'Invalid sections count' },
    ],
    [
      'no product',
      inEnglish('shown'),
      () => [],
      { code: 132012, details: 'header: Format mismatch, expected PRODUCT' },
    ],
    [
      'a product without catalogue',
      inEnglish('shown'),
      () => [header({ type: 'product', product })],
      { code: 131008, details: "['catalog_id'] is required" },
    ],
    [
      'a URL for a flow',
      inEnglish('flowing'),
      () => [two, urlButton(1)],
      { code: 132012, details: 'buttons: Button at index 1 is of type Flow' },
    ],
    [
      'a URL for a phone number',
      inEnglish('flowing'),
      () => [two, button('flow', 1), urlButton(2)],
      { code: 132012, details: 'buttons: Button at index 2 is of type PhoneNumber' },
    ],
    [
      'a flow twice',
      inEnglish('flowing'),
      () => [two, button('flow', 1), button('flow', '1')],
      { code: 131009, details: 'There are two of the button at index 1' },
    ],
    [
      'a body in two parts',
      inEnglish('flowing'),
      () => [body(text('a')), body(text('b')), button('flow', 1)],
      { code: 131009, details: 'There are two of the body' },
    ],
  ])('for %s', async (_what, { name, language }, components, { code, details }) => {
    const { status, body: answer } = await send(name, language, components())
    expect([status, errorOf(answer).code]).toEqual([400, code])
    expect(errorOf(answer).error_data?.details ?? errorOf(answer).message).toContain(details)
  })

  it.each([
    ['hello_world', 'pt_BR'],
    ['goodbye_world', 'en_US'],
  ])('if the account lacks the template (%s, %s), unless any template is accepted', async (name, language) => {
    const { status, body: answer } = await send(name, language)
    expect([status, errorOf(answer)]).toMatchObject([
      404,
      {
        code: 132001,
        message: '(#132001) Template name does not exist in the translation',
        error_data: { details: `template name (${name}) does not exist in ${language}` },
      },
    ])
    await world.control('POST', '/settings', { templates: 'any' })
    expect((await send(name, language)).status).toBe(200)
    expect(errorOf((await send('pedido_enviado', 'pt_BR')).body).code).toBe(132000)
    await world.control('POST', '/settings', { templates: 'strict' })
  })

  it.each([
    ['PAUSED', 400, 132015],
    ['DISABLED', 400, 132016],
    ['PENDING', 404, 132001],
    ['REJECTED', 404, 132001],
  ])('while it is %s', async (event, status, code) => {
    const hello = { phone_number_id: phoneNumberId, name: 'hello_world', language: 'en_US' }
    await world.control('POST', '/templates/status', { ...hello, event })
    const { status: got, body: answer } = await send('hello_world', 'en_US')
    expect([got, errorOf(answer).code]).toEqual([status, code])
    await world.control('POST', '/templates/status', { ...hello, event: 'APPROVED' })
    expect((await send('hello_world', 'en_US')).status).toBe(200)
  })
})

it('a template requires no message from the recipient, with and without limits', async () => {
  const limited = await startWorld({ limits: true })
  const template = { name: 'hello_world', language: { code: 'en_US' } }
  const sent = { messaging_product: 'whatsapp', to: '16505551234', type: 'template', template }
  expect((await limited.send(sent)).status).toBe(200)
  expect(errorOf((await limited.sendText('16505551234')).body).code).toBe(131047)
  await limited.close()
})
