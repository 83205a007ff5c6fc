import { describe, expect, it } from 'vitest'
import { readCallback } from '../../../../src/core/callbacks/read/read-callback.js'
import { presentContent } from '../../../../src/model/messages/shown/present-content.js'
import { callbackSamples, sample } from '../../../support/samples.js'

const NO_REFERRAL = {
  source_url: null,
  source_id: null,
  source_type: null,
  headline: null,
  body: null,
  media_type: null,
  image_url: null,
  video_url: null,
  thumbnail_url: null,
  ctwa_clid: null,
  welcome_message: null,
  ref: null,
}
const AD = {
  ...NO_REFERRAL,
  source_url: 'https://fb.example/ad',
  source_id: '80990000000001',
  source_type: 'ad',
  headline: 'Mugs for everybody',
  body: 'Ten new colours',
  welcome_message: 'Hello! What are you looking for?',
}
const NO_CARD = {
  name: null,
  first_name: null,
  last_name: null,
  phones: [],
  emails: [],
  urls: [],
  addresses: [],
  organization: { company: null, department: null, title: null },
  birthday: null,
  vcard: null,
}
const unsupported = (kind: string | null, code: number, title: string, details: string | null) => ({
  type: 'unsupported',
  kind,
  errors: [{ code, title, details }],
})
const NOT_YET = 'Message type is currently not supported.'
const CHANGED = { phone_number: '+12025550147', user_id: 'US.10990000000000000147' }
const CHANGED_TO = { phone_number: '+12025550148', user_id: 'US.10990000000000000148' }

/** The content of the message in each sample; null: plain text. */
const CONTENT: Record<string, unknown> = {
  'doc-text': null,
  'doc-text-reply': null,
  'doc-text-without-number': null,
  'doc-text-user-id-as-number': null,
  'doc-text-ad': {
    type: 'text',
    referral: {
      ...AD,
      media_type: 'image',
      image_url: 'https://scontent.example/ad.jpg',
      ctwa_clid: 'AfDocClickId0001',
    },
  },
  'doc-text-post': {
    type: 'text',
    referral: {
      ...NO_REFERRAL,
      source_url: 'https://fb.example/post',
      source_id: '80990000000002',
      source_type: 'post',
      headline: 'Spring',
      body: 'We are open',
      ref: 'spring',
    },
  },
  'doc-text-forwarded': { type: 'text', forwarded: 'once' },
  'doc-text-frequently-forwarded': { type: 'text', forwarded: 'often' },
  'doc-text-product-question': {
    type: 'text',
    referred_product: { catalog_id: '509900000000001', product_id: 'mug-blue' },
  },
  'doc-image': { type: 'image', caption: 'My garden', mime_type: 'image/jpeg' },
  'doc-image-ad': {
    type: 'image',
    caption: 'Like this one?',
    mime_type: 'image/jpeg',
    referral: {
      ...AD,
      media_type: 'video',
      video_url: 'https://scontent.example/ad.mp4',
      thumbnail_url: 'https://scontent.example/ad-small.jpg',
    },
  },
  'doc-video': { type: 'video', caption: 'It makes a noise', mime_type: 'video/mp4', animated: false },
  'doc-audio': { type: 'audio', voice: false, mime_type: 'audio/mpeg' },
  'doc-voice-note': { type: 'audio', voice: true, mime_type: 'audio/ogg; codecs=opus' },
  'doc-voice-older-kind': { type: 'audio', voice: true, mime_type: 'audio/ogg; codecs=opus' },
  'doc-document': { type: 'document', caption: 'The bill', filename: 'bill.pdf', mime_type: 'application/pdf' },
  'doc-sticker': { type: 'sticker', animated: false, mime_type: 'image/webp' },
  'doc-sticker-animated': { type: 'sticker', animated: true, mime_type: 'image/webp' },
  'doc-location': {
    type: 'location',
    latitude: 51.5007,
    longitude: -0.1246,
    name: 'Clock tower',
    address: '1 Example Square',
    url: 'https://tower.example',
  },
  'doc-location-asked-for': {
    type: 'location',
    latitude: 51.501,
    longitude: -0.125,
    name: null,
    address: null,
    url: null,
  },
  'doc-contacts': {
    type: 'contacts',
    origin: null,
    contacts: [
      {
        ...NO_CARD,
        name: 'Cleo Sample',
        first_name: 'Cleo',
        last_name: 'Sample',
        phones: [{ phone: '+1 202-555-0162', type: 'CELL', wa_id: '12025550162' }],
        emails: [{ email: 'cleo@example.com', type: 'WORK' }],
        urls: [{ url: 'https://example.com', type: 'WORK' }],
        addresses: [
          {
            street: '1 Example Road',
            city: 'Exampleton',
            state: 'CA',
            zip: '90000',
            country: 'United States',
            country_code: 'us',
            type: 'HOME',
          },
        ],
        organization: { company: 'Samples Ltd', department: 'Sales', title: 'Clerk' },
        birthday: '1990-02-03',
      },
    ],
  },
  'doc-contacts-shared-number': {
    type: 'contacts',
    origin: 'contact_request',
    contacts: [
      {
        ...NO_CARD,
        name: 'Ana Example',
        first_name: 'Ana',
        phones: [{ phone: '+1 202-555-0147', type: 'CELL', wa_id: '12025550147' }],
        vcard: expect.stringContaining('FN:Ana Example'),
      },
    ],
  },
  'doc-contacts-shared-number-earlier': {
    type: 'contacts',
    origin: 'contact_request',
    contacts: [
      {
        ...NO_CARD,
        phones: [{ phone: '+12025550147', type: null, wa_id: null }],
        vcard: expect.stringContaining('FN:Ana Example'),
      },
    ],
  },
  'doc-button-reply': { type: 'button_reply', id: 'size-large', title: 'Large' },
  'doc-list-reply': { type: 'list_reply', id: 'ship-express', title: 'Express', description: 'Tomorrow' },
  'doc-flow-reply': {
    type: 'flow',
    name: 'flow',
    body: 'Sent',
    flow: { flow_token: 'visit-17', day: '2026-12-01', guests: 2, agrees: true },
    token: 'visit-17',
  },
  'doc-address-reply': {
    type: 'address',
    body: 'Ana Example\n1 Example Road, 400001',
    values: { name: 'Ana Example', in_pin_code: '400001', address: '1 Example Road', city: 'Exampleton' },
    saved_address_id: 'home',
  },
  'doc-call-permission-reply': {
    type: 'call_permission',
    response: 'accept',
    is_permanent: false,
    expires_at: '2026-11-25T11:06:40.000Z',
    source: 'user_action',
  },
  'doc-call-permission-refused': {
    type: 'call_permission',
    response: 'reject',
    is_permanent: null,
    expires_at: null,
    source: 'user_action',
  },
  'doc-product': { type: 'product', catalog_id: '509900000000001', product_id: 'mug-blue' },
  'doc-interactive-error': unsupported('interactive', 131052, 'Media download error', 'The answer could not be read.'),
  'doc-interactive-unknown': {
    type: 'other',
    name: 'future_reply',
    raw: { type: 'future_reply', future_reply: { id: 'x' } },
  },
  'doc-button': { type: 'button', payload: 'offer-42-yes', title: 'Yes, please' },
  'doc-button-without-context': { type: 'button', payload: 'Yes, please', title: 'Yes, please' },
  'doc-order': {
    type: 'order',
    catalog_id: '509900000000001',
    text: 'Please wrap it',
    items: [
      { product_id: 'mug-blue', quantity: 2, price: 7.99, currency: 'USD' },
      { product_id: 'tea-green', quantity: 1, price: 12, currency: 'USD' },
    ],
    total: 27.98,
  },
  'doc-request-welcome': { type: 'request_welcome' },
  'doc-unsupported-poll': unsupported('poll_creation', 131051, 'Message type unknown', NOT_YET),
  'doc-unsupported-edit': unsupported('edit', 131051, 'Message type unknown', NOT_YET),
  'doc-unsupported-bare': unsupported(null, 130501, 'Unsupported message type', null),
  'doc-group-unsupported': unsupported(null, 130501, 'Unsupported message type', null),
  'doc-unknown-older-kind': unsupported(
    null,
    501,
    'Unsupported message type',
    'Message type is not currently supported',
  ),
  'doc-unsupported-unavailable': unsupported(
    'unknown',
    131060,
    'This message is unavailable.',
    'This message is currently unavailable.',
  ),
  'doc-system-changed-number': { type: 'system', event: 'number_changed', previous: CHANGED, current: CHANGED_TO },
  'doc-system-changed-number-2025': {
    type: 'system',
    event: 'number_changed',
    previous: { ...CHANGED, user_id: null },
    current: { ...CHANGED_TO, user_id: null },
  },
  'doc-system-changed-user-id': {
    type: 'system',
    event: 'user_id_changed',
    previous: { ...CHANGED, phone_number: null },
    current: { ...CHANGED_TO, phone_number: null },
  },
  'doc-system-identity-changed': {
    type: 'system',
    event: 'identity_changed',
    previous: { phone_number: null, user_id: null },
    current: { phone_number: null, user_id: null },
  },
  'doc-call-terminate-answered': { type: 'call', direction: 'inbound', outcome: 'answered', seconds: 120 },
  'doc-handover-passed': {
    type: 'handover',
    holder: 'us',
    previous_role: 'ai_agent',
    new_role: 'escalation',
    note: 'asks for a person',
    summary: 'The customer asked twice about a late parcel.',
  },
  'doc-future-kind': { type: 'other', name: 'hologram', raw: { id: '7099000000000099', seconds: 3 } },
}

/** The contents of the messages in a callback, as the API shows them. */
function contentsOf(name: string): unknown[] {
  return readCallback(sample(name)).flatMap((item) => {
    if (item.kind !== 'message') return []
    const { isSystem, contextUpstreamId: context_upstream_id, ...message } = item
    return [presentContent({ ...message, sender_type: isSystem ? 'system' : 'user-chat', context_upstream_id })]
  })
}

describe('the content of the samples', () => {
  it.each(Object.keys(CONTENT))('%s', (name) => {
    expect(contentsOf(name)).toEqual([CONTENT[name]])
  })

  it('stands beside a text, but for files, which may have none', () => {
    const messages = callbackSamples().flatMap((name) => readCallback(sample(name)))
    const empty = messages.flatMap((item) => (item.kind === 'message' && item.text === '' ? [item.message_type] : []))
    expect(new Set(empty)).toEqual(new Set(['audio', 'image']))
  })

  it('never has what only the upstream can use', () => {
    const contents = callbackSamples().flatMap(contentsOf)
    expect(contents.length).toBeGreaterThan(Object.keys(CONTENT).length)
    const known = contents.filter((content) => (content as { type?: string } | null)?.type !== 'other')
    expect(JSON.stringify(known)).not.toMatch(/sha256|lookaside|"7099/)
  })
})
