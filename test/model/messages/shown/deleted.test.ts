import { describe, expect, it } from 'vitest'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'

const DELETED = { deleted_at: '2025-06-15T15:07:00.000Z' }
const row = (message_type: string, content: unknown, extras: unknown = null) => ({
  message_type,
  sender_type: 'user-chat',
  text: '',
  content,
  extras,
  context_upstream_id: null,
})

describe('a row without text and without a mark', () => {
  it.each([
    ['contacts', [{ name: { formatted_name: 'Eve' } }], { contacts: [] }],
    ['location', { latitude: 1, longitude: 2, name: 'Home' }, { latitude: null, longitude: null, name: null }],
    ['button', { payload: 'yes', text: 'Yes' }, { payload: null, title: null }],
    ['order', { catalog_id: 'c', product_items: [{ product_retailer_id: 'mug' }] }, { catalog_id: null, items: [] }],
    ['poll', { name: 'Lunch?', options: ['Yes'] }, { name: null, options: [] }],
    ['interactive', { button_reply: { id: 'y', title: 'Yes' } }, { type: 'button_reply', id: null, title: null }],
  ])('was deleted, if it would have been recorded with a text: %s', (type, content, shown) => {
    expect(presentContent(row(type, content))).toMatchObject({ type, ...shown })
  })

  it.each([
    ['image', { mime_type: 'image/png' }, { mime_type: 'image/png' }],
    ['order', { catalog_id: 'c' }, { catalog_id: 'c' }],
    ['interactive', { product: { product_retailer_id: 'mug' } }, { type: 'product', product_id: 'mug' }],
  ])('was not, if the kind may have none: %s', (type, content, shown) => {
    expect(presentContent(row(type, content))).toMatchObject({ type, ...shown })
  })

  it('was not, if an edit emptied it', () => {
    const content = { name: 'Lunch?', options: ['Yes'] }
    const shown = presentContent(row('poll', content, { edited_at: DELETED.deleted_at }))
    expect(shown).toMatchObject({ name: 'Lunch?', options: ['Yes'] })
  })
})

it.each([
  ['audio', { voice: true, mime_type: 'audio/ogg' }, { voice: true, mime_type: null }],
  ['unsupported', { type: 'poll_creation' }, { kind: 'poll_creation' }],
  ['interactive', { list_reply: { id: 'r', title: 'Row' } }, { type: 'list_reply', id: null, title: null }],
  [
    'interactive',
    { nfm_reply: { name: 'address_message', response_json: '{"values":{"city":"Pune"}}' } },
    { type: 'address', values: {} },
  ],
  ['interactive', { type: 'button', buttons: [{ id: 'y', title: 'Yes' }] }, { type: 'other' }],
])('a deleted message keeps only its kind: %s %j', (type, content, shown) => {
  expect(presentContent(row(type, content, DELETED))).toMatchObject({ type, ...shown, ...DELETED })
})
