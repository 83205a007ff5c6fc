import { expect, it } from 'vitest'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'

const FRAME = { header: null, body: 'Look', footer: null }
const file = { type: 'image', url: 'https://shop.example/a.jpg' }

/** What is stored of sent interactive messages, and what is shown beyond their texts. */
const OFFERS: [stored: { type: string; [field: string]: unknown }, shown: object][] = [
  [
    { type: 'button', buttons: [{ id: 'y', title: 'Yes' }] },
    { type: 'buttons', buttons: [{ id: 'y', title: 'Yes' }] },
  ],
  [
    { type: 'cta_url', display_text: 'Open', url: 'https://shop.example' },
    { type: 'cta_url', display_text: 'Open', url: 'https://shop.example' },
  ],
  [
    { type: 'flow_offer', flow_id: '7', flow_cta: 'Book', flow_token: 'visit-17', data: { a: [1] } },
    {
      type: 'flow_offer',
      flow_id: '7',
      flow_name: null,
      flow_cta: 'Book',
      flow_token: 'visit-17',
      mode: null,
      flow_action: null,
      screen: null,
      data: { a: [1] },
    },
  ],
  [{ type: 'location_request' }, { type: 'location_request' }],
  [{ type: 'contact_request' }, { type: 'contact_request' }],
  [
    {
      type: 'address_request',
      country: 'IN',
      values: null,
      saved_addresses: [{ id: 'home', value: { city: 'Pune' } }],
    },
    { type: 'address_request', country: 'IN', values: {}, saved_addresses: [{ id: 'home', value: { city: 'Pune' } }] },
  ],
  [
    { type: 'product_offer', catalog_id: 'c', product_id: 'mug' },
    { type: 'product_offer', catalog_id: 'c', product_id: 'mug' },
  ],
  [
    { type: 'product_list', catalog_id: 'c', sections: [{ title: 'Mugs', product_ids: ['a', 'b'] }] },
    { type: 'product_list', catalog_id: 'c', sections: [{ title: 'Mugs', product_ids: ['a', 'b'] }] },
  ],
  [
    { type: 'catalog', thumbnail_product_id: 'mug' },
    { type: 'catalog', thumbnail_product_id: 'mug' },
  ],
  [
    {
      type: 'carousel',
      cards: [
        { type: 'cta_url', header_media: file, body: 'One', display_text: 'Open', url: 'https://shop.example' },
        { type: 'button', header_media: file, body: null, buttons: [{ id: 'y', title: 'Yes' }] },
        { type: 'product', catalog_id: 'c', product_id: 'mug' },
      ],
    },
    {
      type: 'carousel',
      cards: [
        { type: 'cta_url', header_media: file, body: 'One', display_text: 'Open', url: 'https://shop.example' },
        { type: 'button', header_media: file, body: null, buttons: [{ id: 'y', title: 'Yes' }] },
        { type: 'product', catalog_id: 'c', product_id: 'mug' },
      ],
    },
  ],
]

const row = (content: object, sender_type: string) => ({
  message_type: 'interactive',
  sender_type,
  text: 'Look',
  content: { body: 'Look', footer: null, ...content },
  extras: null,
  context_upstream_id: null,
})

it.each(OFFERS)('a sent message shows what it offers: %j', (stored, shown) => {
  expect(presentContent(row(stored, 'bot-chat'))).toEqual({ ...FRAME, ...shown })
})

it.each(OFFERS)('a received message that looks like one is not taken for it: %j', (stored) => {
  expect(presentContent(row(stored, 'user-chat'))).toMatchObject({ type: 'other', name: stored.type })
})
