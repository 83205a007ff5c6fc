import { describe, expect, it } from 'vitest'
import { schemaErrors } from '../../../support/message-schema.js'
import { startSendWorld } from '../../../support/send-chat.js'
import { useStarted } from '../../../support/started.js'

const house = useStarted(startSendWorld)

type Fields = Record<string, unknown>

const PICTURES = ['https://files.example/blue.jpg', 'https://files.example/red.jpg']
const header = (link: string | undefined) => ({ type: 'image', image: { link } })
const media = (url: string | undefined) => ({ type: 'image', url })

/** One kind: the field `interactive`, the upstream's, and the text in the conversation. */
const KINDS: { given: Fields; wire: Fields; text?: string }[] = [
  {
    given: {
      type: 'cta_url',
      header: 'Mugs',
      body: 'All colours',
      footer: 'Samples Ltd',
      display_text: 'See all',
      url: 'https://shop.example/mugs?a=1',
    },
    wire: {
      type: 'cta_url',
      header: { type: 'text', text: 'Mugs' },
      body: { text: 'All colours' },
      footer: { text: 'Samples Ltd' },
      action: {
        name: 'cta_url',
        parameters: { display_text: 'See all', url: 'https://shop.example/mugs?a=1' },
      },
    },
  },
  {
    given: {
      type: 'flow',
      body: 'When?',
      flow_id: '609900000000001',
      flow_cta: 'Book',
      flow_token: 'visit-17',
      screen: 'DAY',
      data: { shop: 'north' },
    },
    wire: {
      type: 'flow',
      body: { text: 'When?' },
      action: {
        name: 'flow',
        parameters: {
          flow_message_version: '3',
          flow_id: '609900000000001',
          flow_cta: 'Book',
          flow_token: 'visit-17',
          flow_action: 'navigate',
          flow_action_payload: { screen: 'DAY', data: { shop: 'north' } },
        },
      },
    },
  },
  {
    given: {
      type: 'flow',
      body: 'When?',
      flow_name: 'visit',
      flow_cta: 'Book',
      mode: 'draft',
      flow_action: 'data_exchange',
    },
    wire: {
      type: 'flow',
      body: { text: 'When?' },
      action: {
        name: 'flow',
        parameters: {
          flow_message_version: '3',
          flow_name: 'visit',
          flow_cta: 'Book',
          mode: 'draft',
          flow_action: 'data_exchange',
        },
      },
    },
  },
  {
    given: { type: 'location_request', body: 'Where are you?' },
    wire: { type: 'location_request_message', body: { text: 'Where are you?' }, action: { name: 'send_location' } },
  },
  {
    given: { type: 'contact_request', body: 'May we have your number?' },
    wire: {
      type: 'request_contact_info',
      body: { text: 'May we have your number?' },
      action: { name: 'request_contact_info' },
    },
  },
  {
    given: {
      type: 'address',
      body: 'Where to?',
      country: 'IN',
      values: { name: 'Ana' },
      saved_addresses: [{ id: 'home', value: { city: 'Exampleton' } }],
    },
    wire: {
      type: 'address_message',
      body: { text: 'Where to?' },
      action: {
        name: 'address_message',
        parameters: {
          country: 'IN',
          values: { name: 'Ana' },
          saved_addresses: [{ id: 'home', value: { city: 'Exampleton' } }],
        },
      },
    },
  },
  {
    given: { type: 'address', body: 'Where to?', country: 'SG', values: {} },
    wire: {
      type: 'address_message',
      body: { text: 'Where to?' },
      action: { name: 'address_message', parameters: { country: 'SG' } },
    },
  },
  {
    given: { type: 'product', catalog_id: '5099', product_id: 'mug-blue', footer: 'Samples Ltd' },
    wire: {
      type: 'product',
      footer: { text: 'Samples Ltd' },
      action: { catalog_id: '5099', product_retailer_id: 'mug-blue' },
    },
    text: '',
  },
  {
    given: {
      type: 'product_list',
      header: 'Our shop',
      body: 'Which one?',
      catalog_id: '5099',
      sections: [
        { title: 'Mugs', product_ids: ['mug-blue', 'mug-red'] },
        { title: 'Tea', product_ids: ['tea-green'] },
      ],
    },
    wire: {
      type: 'product_list',
      header: { type: 'text', text: 'Our shop' },
      body: { text: 'Which one?' },
      action: {
        catalog_id: '5099',
        sections: [
          {
            title: 'Mugs',
            product_items: [{ product_retailer_id: 'mug-blue' }, { product_retailer_id: 'mug-red' }],
          },
          { title: 'Tea', product_items: [{ product_retailer_id: 'tea-green' }] },
        ],
      },
    },
  },
  {
    given: { type: 'catalog', body: 'All we have', thumbnail_product_id: 'mug-blue' },
    wire: {
      type: 'catalog_message',
      body: { text: 'All we have' },
      action: { name: 'catalog_message', parameters: { thumbnail_product_retailer_id: 'mug-blue' } },
    },
  },
  {
    given: {
      type: 'carousel',
      body: 'Which one?',
      cards: PICTURES.map((url, n) => ({
        type: 'cta_url',
        header_media: media(url),
        body: n === 0 ? 'Blue' : null,
        display_text: 'Buy',
        url: `https://shop.example/${n}`,
      })),
    },
    wire: {
      type: 'carousel',
      body: { text: 'Which one?' },
      action: {
        cards: PICTURES.map((link, n) => ({
          card_index: n,
          type: 'cta_url',
          header: header(link),
          ...(n === 0 && { body: { text: 'Blue' } }),
          action: { name: 'cta_url', parameters: { display_text: 'Buy', url: `https://shop.example/${n}` } },
        })),
      },
    },
  },
  {
    given: {
      type: 'carousel',
      body: 'Which one?',
      cards: PICTURES.map((url, n) => ({
        type: 'button',
        header_media: media(url),
        buttons: [{ id: `more-${n}`, title: 'More' }],
      })),
    },
    wire: {
      type: 'carousel',
      body: { text: 'Which one?' },
      action: {
        cards: PICTURES.map((link, n) => ({
          card_index: n,
          type: 'cta_url',
          header: header(link),
          action: { buttons: [{ type: 'quick_reply', quick_reply: { id: `more-${n}`, title: 'More' } }] },
        })),
      },
    },
  },
  {
    given: {
      type: 'carousel',
      body: 'Which one?',
      cards: ['mug-blue', 'mug-red'].map((product_id) => ({ type: 'product', catalog_id: '5099', product_id })),
    },
    wire: {
      type: 'carousel',
      body: { text: 'Which one?' },
      action: {
        cards: ['mug-blue', 'mug-red'].map((product_retailer_id, card_index) => ({
          card_index,
          type: 'product',
          action: { catalog_id: '5099', product_retailer_id },
        })),
      },
    },
  },
]

/** How the questions are called in a conversation, where their answers have the other names. */
const SHOWN_AS: Record<string, string> = { flow: 'flow_offer', address: 'address_request', product: 'product_offer' }

describe.each(KINDS)('POST /send-chat with interactive $given.type', ({ given, wire, text }) => {
  it('sends it in the format of the upstream, and shows its text and content', async () => {
    const digits = await house.newContact()
    await house.sent({ phone_number: digits, message_type: 'interactive', interactive: given })
    const [{ payload }] = await house.arrived(digits)
    expect(payload.interactive).toEqual(wire)
    expect(schemaErrors(payload)).toEqual([])
    const [message] = await house.shown(digits)
    expect(message).toMatchObject({
      message: text ?? given.body,
      message_type: 'interactive',
      media_type: 'interactive',
      message_status: 'sent',
    })
    const type = String(given.type)
    expect(message.content).toMatchObject({ ...given, type: SHOWN_AS[type] ?? type })
  })
})

describe('a button that opens an address', () => {
  it('may be below a file', async () => {
    const digits = await house.newContact()
    const interactive = {
      type: 'cta_url',
      header_media: { type: 'image', url: house.fileUrl('png') },
      body: 'All colours',
      display_text: 'See all',
      url: 'https://shop.example/',
    }
    await house.sent({ phone_number: digits, message_type: 'interactive', interactive })
    const [{ payload }] = await house.arrived(digits)
    expect(payload.interactive.header).toEqual({ type: 'image', image: { id: expect.any(String) } })
    const [message] = await house.shown(digits)
    expect(message.media_url).toContain('/media/')
    expect(message.content).toMatchObject({
      header: null,
      header_media: { type: 'image', filename: null, mime_type: 'image/png' },
    })
  })
})

describe('a header of a kind that has none', () => {
  it('is ignored, with a warning', async () => {
    const digits = await house.newContact()
    const interactive = { type: 'location_request', body: 'Where?', header: 'Hello', footer: 'Bye' }
    const { status, body } = await house.send({ phone_number: digits, message_type: 'interactive', interactive })
    expect([status, body.warnings]).toEqual([
      200,
      [expect.stringContaining('interactive.header'), expect.stringContaining('interactive.footer')],
    ])
    const [{ payload }] = await house.arrived(digits)
    expect(payload.interactive).not.toHaveProperty('header')
    expect(payload.interactive).not.toHaveProperty('footer')
  })
})

const flow = { type: 'flow', body: 'When?', flow_id: '1', flow_cta: 'Book' }
const list = { type: 'product_list', header: 'Shop', body: 'Which?', catalog_id: '1' }
const urlCard = (fields: Fields = {}) => ({
  type: 'cta_url',
  header_media: media(PICTURES[0]),
  display_text: 'Buy',
  url: 'https://shop.example/',
  ...fields,
})
const carousel = (...cards: Fields[]) => ({ type: 'carousel', body: 'Which?', cards })
const buttonCard = (...ids: string[]) => ({
  type: 'button',
  header_media: media(PICTURES[0]),
  buttons: ids.map((id) => ({ id, title: id })),
})
const productCard = (catalog_id: string) => ({ type: 'product', catalog_id, product_id: 'mug' })
const cta = { type: 'cta_url', body: 'All', display_text: 'See', url: 'https://shop.example/' }
const products = (count: number) => Array.from({ length: count }, (_, n) => `p${n}`)

describe('POST /send-chat refuses before anything is sent', () => {
  it.each<[what: string, interactive: Fields, error: string, message: string]>([
    [
      'a long label',
      { ...cta, display_text: 'x'.repeat(21) },
      'Invalid field',
      'interactive.display_text must have at most 20 characters',
    ],
    ['no label', { ...cta, display_text: '' }, 'Missing required field', 'interactive.display_text is required'],
    [
      'another scheme',
      { ...cta, url: 'javascript:alert(1)' },
      'Invalid field',
      'interactive.url must be an http or https address',
    ],
    [
      'an address without a host',
      { ...cta, url: 'https://?' },
      'Invalid field',
      'interactive.url must be an http or https address',
    ],
    [
      'a header and a file',
      { ...cta, header: 'x', header_media: media(PICTURES[0]) },
      'Invalid field',
      'exclude each other',
    ],
    [
      'a long header',
      { ...cta, header: 'x'.repeat(61) },
      'Invalid field',
      'interactive.header must have at most 60 characters',
    ],
    ['no form', { ...flow, flow_id: null }, 'Missing required field', 'interactive.flow_id'],
    ['two forms', { ...flow, flow_name: 'visit' }, 'Invalid field', 'exclude each other'],
    [
      'a long label of a form',
      { ...flow, flow_cta: 'x'.repeat(31) },
      'Invalid field',
      'interactive.flow_cta must have at most 30 characters',
    ],
    ['another mode', { ...flow, mode: 'test' }, 'Invalid field', 'interactive.mode'],
    ['data without a screen', { ...flow, data: { a: 1 } }, 'Missing required field', 'interactive.screen is required'],
    ['empty data', { ...flow, screen: 'A', data: {} }, 'Invalid field', 'interactive.data must not be an empty object'],
    ['large data', { ...flow, screen: 'A', data: { a: 'x'.repeat(16_384) } }, 'Invalid field', 'the maximum is 16384'],
    [
      'a screen of an endpoint',
      { ...flow, screen: 'A', flow_action: 'data_exchange' },
      'Invalid field',
      'interactive.screen',
    ],
    [
      'a long question',
      { type: 'location_request', body: 'x'.repeat(1025) },
      'Invalid field',
      'interactive.body must have at most 1024 characters',
    ],
    ['no question', { type: 'contact_request' }, 'Missing required field', 'interactive.body is required'],
    [
      'a country by name',
      { type: 'address', body: 'x', country: 'India' },
      'Invalid field',
      'interactive.country must be a country code',
    ],
    [
      'the same address twice',
      { type: 'address', body: 'x', country: 'IN', saved_addresses: ['a', 'a'].map((id) => ({ id, value: {} })) },
      'Invalid field',
      'interactive.saved_addresses[1].id',
    ],
    [
      'no product',
      { type: 'product', catalog_id: '1' },
      'Missing required field',
      'interactive.product_id is required',
    ],
    [
      'a list without header',
      { ...list, header: null, sections: [{ product_ids: ['a'] }] },
      'Missing required field',
      'interactive.header',
    ],
    [
      '31 products',
      { ...list, sections: [{ product_ids: products(31) }] },
      'Invalid field',
      'interactive.sections[0].product_ids must have at most 30 items',
    ],
    [
      '31 products in two sections',
      {
        ...list,
        sections: [
          { title: 'A', product_ids: products(30) },
          { title: 'B', product_ids: ['x'] },
        ],
      },
      'Invalid field',
      'interactive.sections must have at most 30 products in all sections together, not 31',
    ],
    [
      'a section without title',
      { ...list, sections: [{ title: 'A', product_ids: ['a'] }, { product_ids: ['b'] }] },
      'Missing required field',
      'interactive.sections[1].title is required',
    ],
    [
      '11 sections',
      { ...list, sections: products(11).map((title) => ({ title, product_ids: ['a'] })) },
      'Invalid field',
      'interactive.sections must have at most 10 items',
    ],
    ['one card', carousel(urlCard()), 'Invalid field', 'interactive.cards must have at least 2 items'],
    [
      '11 cards',
      carousel(...products(11).map(() => urlCard())),
      'Invalid field',
      'interactive.cards must have at most 10 items',
    ],
    [
      'a card of another kind',
      carousel(urlCard(), productCard('1')),
      'Invalid field',
      'interactive.cards[1].type must be cta_url',
    ],
    ['a card of an unknown kind', carousel(urlCard(), { type: 'flow' }), 'Invalid field', 'interactive.cards[1].type'],
    [
      'a card with more buttons',
      carousel(buttonCard('a'), buttonCard('b', 'c')),
      'Invalid field',
      'interactive.cards[1].buttons must have 1 items',
    ],
    [
      'a card with a button twice',
      carousel(buttonCard('a', 'a'), buttonCard('b', 'c')),
      'Invalid field',
      'interactive.cards[0].buttons[1].id',
    ],
    [
      'a card of another catalogue',
      carousel(productCard('1'), productCard('2')),
      'Invalid field',
      'interactive.cards[1].catalog_id must be 1',
    ],
    [
      'a card with a long text',
      carousel(urlCard(), urlCard({ body: 'x'.repeat(161) })),
      'Invalid field',
      'interactive.cards[1].body must have at most 160 characters',
    ],
    [
      'a card with three line breaks',
      carousel(urlCard(), urlCard({ body: 'a\nb\nc\nd' })),
      'Invalid field',
      'interactive.cards[1].body must have at most 2 line breaks',
    ],
    [
      'a card with a document',
      carousel(urlCard(), urlCard({ header_media: { type: 'document', url: PICTURES[0] } })),
      'Invalid field',
      'interactive.cards[1].header_media.type',
    ],
  ])('%s', async (_what, interactive, error, message) => {
    const digits = await house.newContact()
    const answer = await house.send({ phone_number: digits, message_type: 'interactive', interactive })
    expect([answer.status, answer.body.error]).toEqual([400, error])
    expect(answer.body.message).toContain(message)
    expect(await house.arrived(digits)).toEqual([])
    expect(await house.shown(digits)).toEqual([])
  })
})

it('the limits themselves are accepted, by the simulator too', async () => {
  const digits = await house.newContact()
  const text = (length: number) => '🍵'.repeat(length)
  const kinds: Fields[] = [
    { ...cta, header: text(60), body: text(1024), footer: text(60), display_text: text(20) },
    { ...flow, flow_cta: text(30) },
    { ...list, sections: [{ title: text(24), product_ids: products(30) }] },
    carousel(...products(10).map(() => urlCard({ body: `${text(78)}\n${text(80)}\n`, display_text: text(20) }))),
    carousel(buttonCard('a', 'b', 'c'), buttonCard('a', 'b', 'c')),
  ]
  for (const interactive of kinds) {
    await house.sent({ phone_number: digits, message_type: 'interactive', interactive })
  }
  expect(await house.arrived(digits)).toHaveLength(kinds.length)
})

it("another organization's key does not reach the contact", async () => {
  const { world } = house
  const digits = await house.newContact()
  const { key } = await world.createOrganization()
  const body = { phone_number: digits, message_type: 'interactive', interactive: cta }
  const answer = await world.request('POST', '/send-chat', { key, body })
  expect([answer.status, answer.body.error]).toEqual([404, 'Contact not found'])
  expect(await house.arrived(digits)).toEqual([])
})
