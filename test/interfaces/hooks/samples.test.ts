import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { postBody } from '../../support/callbacks.js'
import { contact } from '../../support/contacts.js'
import { conversation } from '../../support/conversations.js'
import { type TestOrganization, useWorld } from '../../support/world.js'

const FOLDER = new URL('../../samples/', import.meta.url)
const BUSINESS_NUMBER = '106540352242922'
const CUSTOMER = '16505551234'

/** The fields that GET /conversations returns for each sample, besides those that all share. */
const EXPECTED: Record<string, object[]> = {
  'wh-openapi-text.json': [
    { message: 'Does it come in another color?', message_type: 'text', created_at: '2025-06-08T20:59:43.000Z' },
  ],
  'wh-openapi-text-ctwa-ad.json': [
    {
      message: 'Hello! Can I get more info on this?',
      message_type: 'text',
      created_at: '2025-06-18T19:46:32.000Z',
      content: {
        type: 'text',
        referral: {
          source_url: 'https://fb.me/3cr4Wqqkv',
          source_id: '120226305854810726',
          source_type: 'ad',
          headline: 'Chat with us',
          body: 'Summer Succulents are here!',
          media_type: 'image',
          image_url: 'https://scontent.xx.fbcdn.net/v/t45.1...',
          video_url: null,
          thumbnail_url: null,
          ctwa_clid: expect.stringMatching(/^Aff-n8ZTOD/),
          welcome_message: 'Hi there! Let us know how we can help!',
          ref: null,
        },
      },
    },
  ],
  'wh-openapi-text-product-inquiry.json': [
    {
      message: 'Is this still available?',
      message_type: 'text',
      created_at: '2025-06-15T19:46:40.000Z',
      context_message_id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGA9wcm9kdWN0X2lucXVpcnkA',
      content: { type: 'text', referred_product: { catalog_id: '194836987003835', product_id: 'di9ozbzfi4' } },
    },
  ],
  'wh-openapi-image.json': [
    {
      message: 'Taj Mahal',
      message_type: 'image',
      media_type: 'image',
      content: { type: 'image', caption: 'Taj Mahal', mime_type: 'image/jpeg' },
      created_at: '2025-04-11T04:08:16.000Z',
      // The simulator does not have the file.
      error: { code: 'media_unavailable', text: expect.any(String) },
    },
  ],
  'wh-openapi-location.json': [
    {
      message: 'Philz Coffee, 101 Forest Ave, Palo Alto, CA 94301 (37.44221496582, -122.16165924072)',
      message_type: 'location',
      content: {
        type: 'location',
        latitude: 37.44221496582,
        longitude: -122.16165924072,
        name: 'Philz Coffee',
        address: '101 Forest Ave, Palo Alto, CA 94301',
        url: 'https://philzcoffee.com/',
      },
      created_at: '2025-04-11T04:08:16.000Z',
    },
  ],
  'wh-openapi-contacts.json': [
    {
      message: 'Lucía Gómez',
      message_type: 'contacts',
      created_at: '2025-04-11T04:08:16.000Z',
      content: {
        type: 'contacts',
        origin: null,
        contacts: [
          {
            name: 'Lucía Gómez',
            first_name: 'Lucía',
            last_name: 'Gómez',
            phones: [{ phone: '+1 (983) 555-2319', type: 'MOBILE', wa_id: '19835552319' }],
            emails: [],
            urls: [],
            addresses: [],
            organization: { company: 'Google', department: null, title: null },
            birthday: null,
            vcard: null,
          },
        ],
      },
    },
  ],
  'wh-openapi-button.json': [
    {
      message: 'Unsubscribe',
      message_type: 'button',
      content: { type: 'button', payload: 'Unsubscribe', title: 'Unsubscribe' },
      created_at: '2025-06-16T16:24:05.000Z',
      context_message_id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJFNjk2OTMwNEZCQjhGMzUyQUYA',
    },
  ],
  'wh-openapi-button-reply.json': [
    {
      message: 'Cancel',
      message_type: 'interactive',
      content: { type: 'button_reply', id: 'cancel-button', title: 'Cancel' },
      media_type: 'interactive',
      created_at: '2025-06-15T22:05:36.000Z',
      context_message_id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBI3MEM2RUJFNkI0RENGQTVDRjUA',
    },
  ],
  'wh-openapi-list-reply.json': [
    {
      message: 'Priority Mail Express',
      message_type: 'interactive',
      content: {
        type: 'list_reply',
        id: 'priority_express',
        title: 'Priority Mail Express',
        description: 'Next Day to 2 Days',
      },
      media_type: 'interactive',
      created_at: '2025-06-13T22:42:55.000Z',
      context_message_id: 'wamid.HBgLMTY1MDM4Nzk0MzkVAgARGBJGMzEyNzhENTZDMzNGODlDRDgA',
    },
  ],
  'wh-openapi-order.json': [
    {
      message: '2 × di9ozbzfi4 (30 USD), 1 × nqryix03ez (25 USD)',
      message_type: 'order',
      content: {
        type: 'order',
        catalog_id: '194836987003835',
        text: null,
        items: [
          { product_id: 'di9ozbzfi4', quantity: 2, price: 30, currency: 'USD' },
          { product_id: 'nqryix03ez', quantity: 1, price: 25, currency: 'USD' },
        ],
        total: 85,
      },
      created_at: '2025-06-16T17:52:05.000Z',
    },
  ],
  'wh-openapi-unsupported.json': [
    {
      message: '[unsupported]',
      message_type: 'unsupported',
      created_at: '2025-06-16T16:18:22.000Z',
      content: {
        type: 'unsupported',
        kind: null,
        errors: [{ code: 131051, title: 'Message type unknown', details: 'Message type is currently not supported.' }],
      },
    },
  ],
  'wh-openapi-system.json': [
    {
      message: 'User Sheena Nelson changed from 16505551234 to 12195555358',
      message_type: 'system',
      sender_type: 'system',
      content: {
        type: 'system',
        event: 'number_changed',
        previous: { phone_number: '+16505551234', user_id: null },
        current: { phone_number: '+12195555358', user_id: null },
      },
      created_at: '2025-06-18T17:55:42.000Z',
    },
  ],
  // A reaction is shown only on its message, which this organization does not have.
  'wh-openapi-reaction.json': [],
}

const SHARED = {
  sender_type: 'user-chat',
  message_status: 'delivered',
  media_type: null,
  media_url: null,
  content: null,
  assignee: null,
  voice_note_transcription: null,
  reactions: [],
  context_message_id: null,
  error: null,
  outcome: null,
  // The state of the number is not known.
  business_number: { phone_number_id: BUSINESS_NUMBER, phone_number: null },
}

const world = useWorld()

/** An organization that owns the number of the samples, until it is deleted. */
async function withOwner(work: (owner: TestOrganization) => Promise<void>): Promise<void> {
  const owner = await world.createOrganization()
  const settings = {
    phone_number_id: BUSINESS_NUMBER,
    business_account_id: `owner-${owner.id}`,
    access_token: 'token',
    app_secret: owner.appSecret,
    verify_token: owner.verifyToken,
  }
  expect((await world.admin('PUT', `/organizations/${owner.id}/upstream`, settings)).status).toBe(200)
  try {
    await work(owner)
  } finally {
    expect((await world.admin('DELETE', `/organizations/${owner.id}`)).status).toBe(200)
  }
}

function read(file: string): string {
  return readFileSync(new URL(file, FOLDER), 'utf8')
}

/** Samples whose whole text asks to stop broadcasts. */
const OPT_OUTS = ['wh-openapi-button.json']

describe('a callback as the upstream publishes it', () => {
  it('has an expectation for every sample', () => {
    const files = readdirSync(FOLDER).filter((file) => /^wh-.*\.json$/.test(file))
    expect(files.sort()).toEqual(Object.keys(EXPECTED).sort())
  })

  it.each(Object.keys(EXPECTED))('%s appears in the conversation', async (file) => {
    await withOwner(async (owner) => {
      const body = read(file)
      expect((await postBody(world, body, owner.appSecret)).status).toBe(200)
      await world.drain()

      const expected = EXPECTED[file] ?? []
      const shown = await conversation(world, owner, `+${CUSTOMER}`)
      expect(shown.status).toBe(200)
      const [message] = JSON.parse(body).entry[0].changes[0].value.messages
      expect(shown.body.messages).toEqual(
        expected.map((fields) => ({ ...SHARED, id: expect.any(String), message_id: message.id, ...fields })),
      )
      expect(shown.body).toMatchObject({
        success: true,
        count: expected.length,
        stored: expected.length > 0,
        searchTerms: null,
        filtered: false,
      })
    })
  })

  it.each(Object.keys(EXPECTED).filter((file) => file !== 'wh-openapi-system.json'))(
    '%s makes its sender a contact',
    async (file) => {
      await withOwner(async (owner) => {
        await postBody(world, read(file), owner.appSecret)
        await world.drain()
        const { body } = await contact(world, owner, CUSTOMER)
        expect(body.contact).toMatchObject({
          chat_id: CUSTOMER,
          phone_number: `+${CUSTOMER}`,
          full_name: 'Sheena Nelson',
          has_unread_messages: file !== 'wh-openapi-reaction.json',
          bot_status: null,
          allow_broadcast: !OPT_OUTS.includes(file),
          tags: [],
          source: { type: 'inbound_message' },
        })
      })
    },
  )

  it('moves the contact to a changed number, and finds it by both numbers', async () => {
    await withOwner(async (owner) => {
      await postBody(world, read('wh-openapi-text.json'), owner.appSecret)
      await postBody(world, read('wh-openapi-system.json'), owner.appSecret)
      await world.drain()
      const moved = await contact(world, owner, '12195555358')
      expect(moved.body.contact).toMatchObject({
        chat_id: '12195555358',
        phone_number: '+12195555358',
        full_name: 'Sheena Nelson',
      })
      expect((await contact(world, owner, CUSTOMER)).body.contact.id).toBe(moved.body.contact.id)
      expect((await conversation(world, owner, '12195555358')).body.count).toBe(2)
    })
  })

  it('counts once if it is sent twice', async () => {
    await withOwner(async (owner) => {
      for (let time = 0; time < 2; time++) await postBody(world, read('wh-openapi-text.json'), owner.appSecret)
      await world.drain()
      expect((await conversation(world, owner, CUSTOMER)).body.count).toBe(1)
    })
  })
})
