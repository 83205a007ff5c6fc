import fc from 'fast-check'
import { expect, it } from 'vitest'
import { toInteractive } from '../../../../src/channels/business-interactive.js'
import { readSentInteractive } from '../../../../src/core/callbacks/read/read-sent-interactive.js'
import type { JsonObject } from '../../../../src/lib/text/json.js'
import type { InteractiveContent } from '../../../../src/model/messages/interactive.js'
import { presentOffer } from '../../../../src/model/messages/shown/offers.js'

const FRAME = { body: 'Which one?', footer: 'Until Friday' }
const CHOICE = { id: 'a', title: 'The red one' }
const CHOICES = [CHOICE]
const LINK = { display_text: 'Open', url: 'https://shop.example' }
const MEDIA = { type: 'image', url: 'https://shop.example/a.png' } as const
const PRODUCT = { catalog_id: '7', product_id: 'mug' }

const SENT: InteractiveContent[] = [
  { ...FRAME, type: 'button', buttons: CHOICES },
  { ...FRAME, type: 'list', button: 'Show', sections: [{ title: 'All', rows: [{ ...CHOICE, description: null }] }] },
  { ...FRAME, type: 'cta_url', ...LINK },
  {
    ...FRAME,
    type: 'flow_offer',
    flow_id: '9',
    flow_name: null,
    flow_cta: 'Fill in',
    flow_token: 't',
    mode: 'draft',
    flow_action: 'navigate',
    screen: 'FIRST',
    data: { name: 'Ana' },
  },
  { ...FRAME, footer: null, type: 'location_request' },
  { ...FRAME, footer: null, type: 'contact_request' },
  {
    ...FRAME,
    footer: null,
    type: 'address_request',
    country: 'IN',
    values: { city: 'Pune' },
    saved_addresses: [{ id: 'home', value: { city: 'Pune' } }],
  },
  { ...FRAME, type: 'product_offer', ...PRODUCT },
  { ...FRAME, type: 'product_list', catalog_id: '7', sections: [{ title: 'Mugs', product_ids: ['mug', 'cup'] }] },
  { ...FRAME, type: 'catalog', thumbnail_product_id: 'mug' },
  {
    ...FRAME,
    footer: null,
    type: 'carousel',
    cards: [
      { type: 'cta_url', header_media: MEDIA, body: 'One', ...LINK },
      { type: 'button', header_media: MEDIA, body: null, buttons: CHOICES },
      { type: 'product', ...PRODUCT },
    ],
  },
]

it.each(SENT)('$type shows as if Parley had sent it', (content) => {
  const read = readSentInteractive(toInteractive(content, null) as unknown as JsonObject)
  expect(presentOffer(read ?? {}, content.body)).toEqual(presentOffer(content as unknown as JsonObject, content.body))
})

it('reads anything that JSON can hold', () => {
  const types = SENT.map((content) => toInteractive(content, null).type)
  const interactive = fc.record({
    type: fc.oneof(fc.constantFrom(...types), fc.jsonValue()),
    body: fc.jsonValue(),
    action: fc.oneof(
      fc.jsonValue(),
      fc.dictionary(fc.constantFrom('buttons', 'cards', 'sections', 'parameters'), fc.jsonValue()),
    ),
  })
  fc.assert(
    fc.property(interactive, (given) => {
      const read = readSentInteractive(given)
      if (read !== null) expect(() => presentOffer(read, '')).not.toThrow()
    }),
  )
})
