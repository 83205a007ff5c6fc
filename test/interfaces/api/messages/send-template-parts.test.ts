import { beforeAll, describe, expect, it } from 'vitest'
import { expectRefusal, startTemplateWorld } from '../../../support/send-template.js'
import { useStarted } from '../../../support/started.js'

const template = useStarted(startTemplateWorld)
let chatNumber: string

const PRODUCT = { catalog_id: '5099', product_id: 'mug-blue' }
const ON_WIRE = { catalog_id: '5099', product_retailer_id: 'mug-blue' }
const ENDS = '2030-12-01T09:00:00-03:00'
const FILES = ['https://files.example/blue.jpg', 'https://files.example/red.jpg']
const items = (count: number) => Array.from({ length: count }, (_, n) => `p${n}`)

beforeAll(async () => {
  chatNumber = await template.newContact({ full_name: 'Ana Souza' })
  const card = (format: string) => ({
    components: [
      { type: 'HEADER', format },
      { type: 'BODY', text: 'Para {{name}}' },
      {
        type: 'BUTTONS',
        buttons: [
          { type: 'QUICK_REPLY', text: 'Mais' },
          { type: 'URL', text: 'Ver', url: 'https://shop.example/{{1}}' },
        ],
      },
    ],
  })
  const carousel = (format: string) => [{ type: 'CAROUSEL', cards: [card(format), card(format)] }]
  await template.putTemplate({ name: 'carousel', body: 'Olá, {{name}}', others: carousel('IMAGE') })
  await template.putTemplate({ name: 'carousel_products', body: 'Olá, {{name}}', others: carousel('PRODUCT') })
  const offer = (has_expiration: boolean) => [
    { type: 'LIMITED_TIME_OFFER', limited_time_offer: { text: 'Hoje', has_expiration } },
  ]
  await template.putTemplate({ name: 'offer', body: 'Olá', others: offer(true) })
  await template.putTemplate({ name: 'endless', body: 'Olá', others: offer(false) })
  await template.putTemplate({
    name: 'offer_code',
    body: 'Olá',
    buttons: [{ type: 'COPY_CODE', text: 'Copiar', example: 'X1' }],
    others: offer(true),
  })
  await template.putTemplate({ name: 'catalog', body: 'Olá', buttons: [{ type: 'CATALOG', text: 'Ver' }] })
  await template.putTemplate({ name: 'products', body: 'Olá', buttons: [{ type: 'MPM', text: 'Ver' }] })
  await template.putTemplate({
    name: 'one_product',
    header: { format: 'PRODUCT' },
    body: 'Olá',
    buttons: [{ type: 'SPM', text: 'Ver' }],
  })
  const flow = { type: 'FLOW', text: 'Responder', flow_id: '123' }
  await template.putTemplate({ name: 'flow', body: 'Olá', buttons: [{ type: 'QUICK_REPLY', text: 'Não' }, flow] })
  await template.putTemplate({ name: 'permission', body: 'Olá', others: [{ type: 'CALL_PERMISSION_REQUEST' }] })
  await template.putTemplate({ name: 'plain', body: 'Olá' })
})

const body = (...parameters: object[]) => ({ type: 'body', parameters })
const name = (text: string) => ({ type: 'text', parameter_name: 'name', text })
const urlButton = (text: string) => ({
  type: 'button',
  sub_type: 'url',
  index: '1',
  parameters: [{ type: 'text', text }],
})
const actionButton = (sub_type: string, index: string, action: object) => ({
  type: 'button',
  sub_type,
  index,
  parameters: [{ type: 'action', action }],
})
const cards = FILES.map((headerMedia, n) => ({
  headerMedia,
  bodyParameters: { name: '{{first_name}}' },
  // Only what a placeholder inserts is encoded, as in other URL buttons.
  buttonParameters: { param1: `{{full_name}}/caneca ${n}` },
}))
const productCards = FILES.map((_, n) => ({
  headerProduct: PRODUCT,
  bodyParameters: { name: 'Bia' },
  buttonParameters: { param1: String(n) },
}))

describe('POST /send-template fills', () => {
  it.each<[templateName: string, fields: object, components: object[]]>([
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards },
      [
        body(name('Ana')),
        {
          type: 'carousel',
          cards: FILES.map((link, n) => ({
            card_index: n,
            components: [
              { type: 'header', parameters: [{ type: 'image', image: { link } }] },
              body(name('Ana')),
              urlButton(`Ana%20Souza/caneca ${n}`),
            ],
          })),
        },
      ],
    ],
    [
      'carousel_products',
      { bodyParameters: { name: 'Bia' }, cards: productCards },
      [
        body(name('Bia')),
        {
          type: 'carousel',
          cards: [0, 1].map((n) => ({
            card_index: n,
            components: [
              { type: 'header', parameters: [{ type: 'product', product: ON_WIRE }] },
              body(name('Bia')),
              urlButton(String(n)),
            ],
          })),
        },
      ],
    ],
    [
      'offer',
      { offerEndsAt: ENDS },
      [
        {
          type: 'limited_time_offer',
          parameters: [{ type: 'limited_time_offer', limited_time_offer: { expiration_time_ms: Date.parse(ENDS) } }],
        },
      ],
    ],
    ['endless', {}, []],
    ['catalog', {}, [{ type: 'button', sub_type: 'catalog', index: '0' }]],
    [
      'catalog',
      { thumbnailProductId: 'mug-blue' },
      [actionButton('catalog', '0', { thumbnail_product_retailer_id: 'mug-blue' })],
    ],
    [
      'products',
      { productSections: [{ product_ids: ['mug-blue', 'mug-red'] }] },
      [
        actionButton('mpm', '0', {
          thumbnail_product_retailer_id: 'mug-blue',
          sections: [{ product_items: [{ product_retailer_id: 'mug-blue' }, { product_retailer_id: 'mug-red' }] }],
        }),
      ],
    ],
    [
      'one_product',
      { headerProduct: PRODUCT },
      [{ type: 'header', parameters: [{ type: 'product', product: ON_WIRE }] }],
    ],
    ['flow', {}, [{ type: 'button', sub_type: 'flow', index: '1' }]],
    [
      'flow',
      { flow: { token: 'visit-17', data: { shop: 'north' } } },
      [actionButton('flow', '1', { flow_token: 'visit-17', flow_action_data: { shop: 'north' } })],
    ],
    ['permission', {}, []],
  ])('%s with %j', async (templateName, fields, components) => {
    expect((await template.sent({ templateName, chatNumber, ...fields })).components).toEqual(components)
  })

  it('and shows the text in the conversation', async () => {
    const digits = await template.newContact({ full_name: 'Bia' })
    await template.sent({ templateName: 'carousel', chatNumber: digits, bodyParameters: { name: 'Bia' }, cards })
    const [message] = await template.shown(digits)
    expect(message).toMatchObject({ message: 'Olá, Bia', message_type: 'template', media_type: null })
    expect(message.content.cards).toEqual(
      FILES.map((url, n) => ({
        header_media: { type: 'image', url },
        product: null,
        body: 'Para Bia',
        buttons: [
          { type: 'quick_reply', text: 'Mais' },
          { type: 'url', text: 'Ver' },
        ],
        parameters: [
          { component: 'body', index: null, name: 'name', text: 'Bia' },
          { component: 'button', index: 1, name: null, text: `Bia/caneca ${n}` },
        ],
      })),
    )
  })

  it('and shows products, a form and the end of an offer there', async () => {
    const digits = await template.newContact()
    await template.sent({ templateName: 'one_product', chatNumber: digits, headerProduct: PRODUCT })
    await template.sent({ templateName: 'offer', chatNumber: digits, offerEndsAt: ENDS })
    const productSections = [{ product_ids: ['mug-blue', 'mug-red'] }]
    await template.sent({ templateName: 'products', chatNumber: digits, productSections })
    const flow = { token: 'visit-17', data: { shop: 'north' } }
    await template.sent({ templateName: 'flow', chatNumber: digits, flow })
    await template.sent({ templateName: 'catalog', chatNumber: digits, thumbnailProductId: 'mug-blue' })
    const shown: { content: object }[] = await template.shown(digits)
    expect(shown.map(({ content }) => content)).toMatchObject([
      { product: PRODUCT, buttons: [{ type: 'product' }] },
      { offer_ends_at: new Date(ENDS).toISOString() },
      {
        sections: [{ title: null, product_ids: ['mug-blue', 'mug-red'] }],
        thumbnail_product_id: 'mug-blue',
        buttons: [{ type: 'products' }],
      },
      { flow, buttons: [{ type: 'quick_reply' }, { type: 'flow' }] },
      { thumbnail_product_id: 'mug-blue', buttons: [{ type: 'catalog' }] },
    ])
  })
})

describe('POST /send-template refuses, and sends nothing', () => {
  const section = (count: number, title?: string) => ({ ...(title && { title }), product_ids: items(count) })

  it.each<[templateName: string, fields: object, error: string, message: string]>([
    ['carousel', { bodyParameters: { name: 'Ana' } }, 'Missing required field', 'needs cards'],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: cards.slice(1) },
      'Invalid field',
      'cards must have 2 items, as the template "carousel" (pt_BR), not 1',
    ],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: cards.map(({ headerMedia: _none, ...card }) => card) },
      'Missing required field',
      'cards[0].headerMedia is required',
    ],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: productCards },
      'Missing required field',
      'cards[0].headerMedia is required',
    ],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: cards.map((card) => ({ ...card, headerProduct: PRODUCT })) },
      'Invalid field',
      'cards[0].headerProduct is given',
    ],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: cards.map((card) => ({ ...card, bodyParameters: {} })) },
      'Missing required field',
      'cards[0]: ',
    ],
    [
      'carousel',
      { bodyParameters: { name: 'Ana' }, cards: cards.map((card) => ({ ...card, headerMedia: 'ftp://x' })) },
      'Invalid field',
      'cards[0].headerMedia must be an http or https address',
    ],
    ['carousel', { cards: items(11).map(() => cards[0]) }, 'Invalid field', 'cards must have at most 10 items'],
    ['offer', {}, 'Missing required field', 'needs offerEndsAt'],
    ['offer', { offerEndsAt: '2030-12-01T09:00:00' }, 'Invalid field', 'offerEndsAt must have a time zone'],
    [
      'offer_code',
      { offerEndsAt: ENDS, buttonParameters: { param1: 'x'.repeat(16) } },
      'Invalid field',
      'the code of an offer has at most 15 characters',
    ],
    [
      'offer',
      { offerEndsAt: '2020-12-01T09:00:00Z' },
      'Invalid field',
      'offerEndsAt 2020-12-01T09:00:00.000Z is in the past',
    ],
    ['endless', { offerEndsAt: ENDS }, 'Invalid field', 'has no part for offerEndsAt'],
    ['products', {}, 'Missing required field', 'needs productSections'],
    [
      'products',
      { productSections: [section(31)] },
      'Invalid field',
      'productSections[0].product_ids must have at most 30',
    ],
    [
      'products',
      { productSections: [section(20, 'A'), section(11, 'B')] },
      'Invalid field',
      'productSections must have at most 30 products in all sections together, not 31',
    ],
    [
      'products',
      { productSections: [section(1, 'A'), section(1)] },
      'Missing required field',
      'productSections[1].title is required',
    ],
    ['one_product', {}, 'Missing required field', 'needs headerProduct'],
    ['flow', { flow: { data: {} } }, 'Invalid field', 'flow.data must not be an empty object'],
    ['flow', { flow: { token: 'x'.repeat(513) } }, 'Invalid field', 'flow.token must have at most 512 characters'],
    ['flow', { flow: { data: { a: 'x'.repeat(16_384) } } }, 'Invalid field', 'the maximum is 16384'],
    ['plain', { cards }, 'Invalid field', 'has no part for cards'],
    ['plain', { headerProduct: PRODUCT }, 'Invalid field', 'has no part for headerProduct'],
    ['plain', { thumbnailProductId: 'x' }, 'Invalid field', 'has no part for thumbnailProductId'],
    ['plain', { flow: { token: 'x' } }, 'Invalid field', 'has no part for flow'],
  ])('%s with %j', async (templateName, fields, error, message) => {
    const digits = await template.newContact({ full_name: 'Ana' })
    const answer = await template.send({ templateName, chatNumber: digits, ...fields })
    expect(expectRefusal(answer, error)).toContain(message)
    await template.expectNothingSent(digits)
  })
})
