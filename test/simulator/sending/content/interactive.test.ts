import { describe, expect, it } from 'vitest'
import { errorOf, useWorld } from '../../../support/simulator.js'

const world = useWorld()

type Fields = Record<string, unknown>

const body = { text: 'Which one?' }
const link = 'https://files.example/a.jpg'
const urlAction = { name: 'cta_url', parameters: { display_text: 'See', url: 'https://shop.example/' } }
const flowAction = (parameters: Fields = {}) => ({
  name: 'flow',
  parameters: { flow_message_version: '3', flow_id: '1', flow_cta: 'Book', ...parameters },
})
const addressAction = (parameters: Fields = {}) => ({
  name: 'address_message',
  parameters: { country: 'IN', ...parameters },
})
const product = { catalog_id: '5', product_retailer_id: 'mug' }
const items = (count: number) => Array.from({ length: count }, (_, n) => ({ product_retailer_id: `p${n}` }))
const productList = (...sections: Fields[]) => ({
  type: 'product_list',
  header: { type: 'text', text: 'Shop' },
  body,
  action: { catalog_id: '5', sections },
})
const card = (card_index: number, fields: Fields = {}) => ({
  card_index,
  type: 'cta_url',
  header: { type: 'image', image: { link } },
  action: urlAction,
  ...fields,
})
const replies = (...ids: string[]) => ({
  buttons: ids.map((id) => ({ type: 'quick_reply', quick_reply: { id, title: id } })),
})
const carousel = (...cards: Fields[]) => ({ type: 'carousel', body, action: { cards } })

function send(interactive: Fields) {
  return world.send({ messaging_product: 'whatsapp', to: '16505551234', type: 'interactive', interactive })
}

describe('the simulator accepts', () => {
  it.each<Fields>([
    { type: 'cta_url', body, action: urlAction },
    { type: 'cta_url', header: { type: 'image', image: { link } }, body, footer: { text: 'x' }, action: urlAction },
    { type: 'flow', body, action: flowAction() },
    { type: 'flow', body, action: flowAction({ flow_id: undefined, flow_name: 'visit', mode: 'draft' }) },
    {
      type: 'flow',
      body,
      action: flowAction({ flow_action: 'navigate', flow_action_payload: { screen: 'A', data: { a: 1 } } }),
    },
    { type: 'location_request_message', body, action: { name: 'send_location' } },
    { type: 'request_contact_info', body, action: { name: 'request_contact_info' } },
    { type: 'address_message', body, action: addressAction({ values: { name: 'Ana' } }) },
    { type: 'product', action: product },
    { type: 'product', body, footer: { text: 'x' }, action: product },
    productList({ product_items: items(30) }),
    { type: 'catalog_message', body, action: { name: 'catalog_message' } },
    carousel(card(0), card(1, { body: { text: 'a\nb\nc' } })),
    carousel(card(0, { action: replies('a', 'b') }), card(1, { action: replies('a', 'b') })),
    carousel({ card_index: 0, type: 'product', action: product }, { card_index: 1, type: 'product', action: product }),
  ])('%j', async (interactive) => {
    expect((await send(interactive)).status).toBe(200)
  })
})

describe('the simulator refuses', () => {
  it.each<[what: string, interactive: Fields, code: number, text: string]>([
    ['no action', { type: 'cta_url', body }, 131008, 'action: name is required'],
    ['another action', { type: 'cta_url', body, action: { name: 'flow' } }, 131009, 'action: name must be cta_url'],
    ['no parameters', { type: 'cta_url', body, action: { name: 'cta_url' } }, 131008, 'action: parameters is required'],
    [
      'a long label',
      { type: 'cta_url', body, action: { name: 'cta_url', parameters: { display_text: 'x'.repeat(21), url: link } } },
      131009,
      'Max length is 20',
    ],
    [
      'an address that is none',
      { type: 'cta_url', body, action: { name: 'cta_url', parameters: { display_text: 'x', url: 'shop' } } },
      131009,
      'not a valid URL',
    ],
    [
      'a form without id',
      { type: 'flow', body, action: flowAction({ flow_id: undefined }) },
      131008,
      'flow_id or flow_name',
    ],
    ['a form with both', { type: 'flow', body, action: flowAction({ flow_name: 'x' }) }, 131009, 'cannot be used with'],
    ['another version', { type: 'flow', body, action: flowAction({ flow_message_version: '4' }) }, 131009, 'must be 3'],
    [
      'a long label of a form',
      { type: 'flow', body, action: flowAction({ flow_cta: 'x'.repeat(31) }) },
      131009,
      'is 30',
    ],
    [
      'empty data',
      { type: 'flow', body, action: flowAction({ flow_action_payload: { screen: 'A', data: {} } }) },
      131009,
      'not empty',
    ],
    [
      'a footer below a question',
      { type: 'location_request_message', body, footer: { text: 'x' }, action: { name: 'send_location' } },
      131009,
      'Footer is not supported',
    ],
    [
      'a header above a question',
      {
        type: 'request_contact_info',
        header: { type: 'text', text: 'x' },
        body,
        action: { name: 'request_contact_info' },
      },
      131009,
      'Header is not supported',
    ],
    ['no country', { type: 'address_message', body, action: addressAction({ country: undefined }) }, 131008, 'country'],
    [
      'a country by name',
      { type: 'address_message', body, action: addressAction({ country: 'India' }) },
      131009,
      'country',
    ],
    [
      'values that are no texts',
      { type: 'address_message', body, action: addressAction({ values: { name: 1 } }) },
      131009,
      'values must be an object of strings',
    ],
    ['a product without id', { type: 'product', action: { catalog_id: '5' } }, 131008, 'product_retailer_id'],
    [
      'a list without header',
      { ...productList({ product_items: items(1) }), header: undefined },
      131008,
      'Header text',
    ],
    ['31 products', productList({ product_items: items(31) }), 131009, 'max allowed count: 30'],
    ['no products', productList({ product_items: [] }), 131009, 'at least one product'],
    [
      'untitled sections',
      productList({ product_items: items(1) }, { product_items: items(1) }),
      131008,
      'Section title',
    ],
    ['one card', carousel(card(0)), 131009, 'Invalid cards count. Min allowed cards: 2'],
    ['cards out of order', carousel(card(1), card(0)), 131009, 'card_index must be 0'],
    ['a card without header', carousel(card(0), card(1, { header: undefined })), 131008, 'Card header is required'],
    [
      'a card with an uploaded file',
      carousel(card(0), card(1, { header: { type: 'image', image: { id: '1' } } })),
      131008,
      'link is required',
    ],
    ['a long card', carousel(card(0), card(1, { body: { text: 'x'.repeat(161) } })), 131009, 'Max length is 160'],
    ['line breaks', carousel(card(0), card(1, { body: { text: 'a\nb\nc\nd' } })), 131009, 'too many line breaks'],
    ['different cards', carousel(card(0), card(1, { action: replies('a') })), 131009, 'must all have the same buttons'],
  ])('%s', async (_what, interactive, code, text) => {
    const { status, body: answer } = await send(interactive)
    expect([status, errorOf(answer).code]).toEqual([400, code])
    expect(errorOf(answer).error_data?.details).toContain(text)
  })
})
