import { beforeAll, describe, expect, it } from 'vitest'
import { startSendWorld } from '../../support/send-chat.js'
import { useStarted } from '../../support/started.js'

const house = useStarted(startSendWorld)
let digits: string

beforeAll(async () => {
  digits = await house.newContact({ full_name: 'Ana' })
})

const ask = (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) =>
  house.world.request(method, path, { key: house.organization.key, headers, ...(body !== undefined && { body }) })

const BUTTON = { id: 'a', title: 'A' }

const newest = async () => (await house.arrived(digits)).at(-1).payload

describe('an optional field that is empty or null counts as not given', () => {
  it.each<[string, () => object, object]>([
    ['text', () => ({ text: 'x' }), { text: { body: 'x' } }],
    [
      'document',
      () => ({ media_url: house.fileUrl('pdf'), caption: '', filename: '' }),
      { document: { id: expect.any(String), filename: 'document.pdf' } },
    ],
    [
      'location',
      () => ({ location: { latitude: 1, longitude: 2, name: '', address: null } }),
      { location: { latitude: 1, longitude: 2 } },
    ],
    [
      'contacts',
      () => ({
        contacts: [
          { name: { formatted_name: 'Bo', first_name: '', last_name: null }, phones: [{ phone: '1', type: '' }] },
        ],
      }),
      { contacts: [{ name: { formatted_name: 'Bo', first_name: 'Bo' }, phones: [{ phone: '1' }] }] },
    ],
    [
      'interactive',
      () => ({
        interactive: { type: 'button', body: 'B', header: '', footer: null, header_media: [], buttons: [BUTTON] },
      }),
      { interactive: { type: 'button', body: { text: 'B' }, action: { buttons: [{ type: 'reply', reply: BUTTON }] } } },
    ],
    [
      'interactive',
      () => ({
        interactive: { type: 'button', body: 'B', header_media: '', header: 'H', footer: '', buttons: [BUTTON] },
      }),
      { interactive: { header: { type: 'text', text: 'H' } } },
    ],
  ])('in POST /send-chat: %s', async (message_type, fields, arrived) => {
    for (const nothing of ['', null]) {
      const common = { context_message_id: nothing, memberId: nothing, instance: nothing }
      await house.sent({ phone_number: digits, message_type, ...common, ...fields() })
      const payload = await newest()
      expect(payload).toMatchObject(arrived)
      expect(payload.context).toBeUndefined()
    }
  })

  it('in POST /send-template, where [] is an empty object as well', async () => {
    const given = { templateName: 'hello_world', chatNumber: digits }
    for (const nothing of ['', null, []]) {
      const values = { bodyParameters: nothing, headerParameters: nothing, buttonParameters: nothing }
      const texts = Array.isArray(nothing) ? {} : { language: nothing, headerMedia: nothing, memberId: nothing }
      const answer = await ask('POST', '/send-template', { ...given, ...values, ...texts })
      expect(answer.body, JSON.stringify(answer.body)).toMatchObject({ success: true })
    }
    const one = { bodyParameters: { name: null } }
    expect((await ask('POST', '/send-template', { ...given, ...one })).body).toMatchObject({ success: true })
  })

  it('in POST /broadcasts and its recipients', async () => {
    const recipient = { chatNumber: digits, name: null, bodyParameters: [], buttonParameters: '' }
    for (const nothing of ['', null]) {
      const audience = {
        tags: nothing,
        contactIds: nothing,
        audienceId: nothing,
        all: nothing,
        recipients: [recipient],
      }
      const common = { language: nothing, headerMedia: nothing, scheduled_at: nothing, bodyParameters: [] }
      const body = { name: 'News', templateName: 'hello_world', audience, ...common }
      const answer = await ask('POST', '/broadcasts', body)
      expect(answer.body.broadcast, JSON.stringify(answer.body)).toMatchObject({
        status: 'running',
        totalRecipients: 1,
      })
    }
    const empty = { name: 'News', templateName: 'hello_world', audience: { tags: null, all: '' } }
    expect((await ask('POST', '/broadcasts', empty)).body.error).toBe('Missing required field')
  })

  it('in a file of recipients', async () => {
    const lines = [
      { chatNumber: digits, name: '', bodyParameters: [], buttonParameters: null },
      { chatNumber: '16505551111', name: null, bodyParameters: { name: null } },
      { chatNumber: '' },
    ]
    const { body } = await ask('POST', '/audiences', lines.map((line) => JSON.stringify(line)).join('\n'), {
      'content-type': 'application/x-ndjson',
    })
    expect(body.audience).toMatchObject({ recipients: 2, rejected: 1, errors: [{ row: 3 }] })
  })

  it.each([
    ['empty', { full_name: '', email: '', tags: '', allow_broadcast: '', source: '' }],
    ['null', { full_name: null, email: null, tags: null, allow_broadcast: null, source: null }],
    ['empty lists of PHP', { source: [] }],
  ])('in POST /contact: %s', async (what, fields) => {
    const chat_id = `1650555${2000 + what.length}`
    const { status, body } = await ask('POST', '/contact', { ...fields, phone_number: '', chat_id })
    const contact = { full_name: null, email: null, tags: [], allow_broadcast: true, source: null, chat_id }
    expect([status, body.contact]).toMatchObject([201, contact])
  })

  it('in POST /shortlinks, /broadcast-analytics and /contact', async () => {
    expect((await ask('POST', '/shortlinks', { redirect_url: 'https://shop.example', code: '' })).status).toBe(201)
    const range = { start_date: '2026-01-01', end_date: '2026-01-02' }
    expect((await ask('POST', '/broadcast-analytics', { broadcast_id: '', ...range })).status).toBe(200)
    const nothing = { broadcast_id: null, start_date: '', end_date: null }
    expect((await ask('POST', '/broadcast-analytics', nothing)).body.error).toBe('Missing required parameter')
  })

  it.each([
    '/contact?phone_number=DIGITS&chat_id=&tenantId=',
    '/conversations?chatNumber=DIGITS&contactId=&limit=&page=&query=&orderId=&ascending=&search=&action=',
    '/conversations?action=contacts&search=&limit=&page=',
    '/conversations/export?chatNumber=DIGITS&contactId=&format=',
    '/contacts/export?format=',
    '/opt-outs?limit=&page=',
    '/broadcasts?kind=&status=&page=&limit=',
    '/broadcast-analytics?broadcast_id=&start_date=2026-01-01&end_date=2026-01-02',
    '/shortlinks?page=&limit=',
    '/audiences?tenantId=',
    '/webhook-deliveries?webhook_id=&status=&page=&limit=',
    '/events?after=&types=&limit=',
    '/templates?tenantId=',
  ])('in the query of %s', async (path) => {
    const { status, body } = await ask('GET', path.replace('DIGITS', digits))
    expect([status, body?.warnings], JSON.stringify(body)).toEqual([200, undefined])
  })
})

describe('an empty value that means something keeps its meaning', () => {
  it('of a reaction: it takes the reaction back, while null is the default', async () => {
    const message_id = await house.sent({ phone_number: digits, message_type: 'text', text: 'x' })
    for (const [emoji, sent] of [
      ['', ''],
      [null, '👍'],
    ]) {
      await house.sent({ phone_number: digits, message_type: 'reaction', reaction: { message_id, emoji } })
      expect((await newest()).reaction.emoji).toBe(sent)
    }
  })

  it('of a contact: null clears, and an empty text changes nothing', async () => {
    const read = async () => (await ask('GET', `/contact?chat_id=${digits}`)).body.contact
    await ask('PATCH', `/contact?chat_id=${digits}&phone_number=`, { full_name: '', email: '', tags: null })
    expect((await read()).full_name).toBe('Ana')
    await ask('PATCH', `/contact?chat_id=${digits}`, { full_name: null })
    expect((await read()).full_name).toBeNull()
  })
})

describe('a required field that is empty is missing', () => {
  it.each<[string, object, string]>([
    ['/send-chat', { phone_number: '', message_type: 'text', text: 'x' }, 'phone_number'],
    ['/send-chat', { phone_number: '1', message_type: '', text: 'x' }, 'message_type'],
    ['/send-chat', { phone_number: '1', message_type: 'text', text: null }, 'text'],
    ['/send-chat', { phone_number: '1', message_type: 'location', location: [] }, 'location.latitude'],
    ['/broadcasts', { name: '', templateName: 'x', audience: { all: true } }, 'name'],
    ['/broadcasts', { name: 'x', templateName: 'hello_world', audience: [] }, 'audience'],
    ['/shortlinks', { redirect_url: null }, 'redirect_url'],
    ['/set-webhooks', { url: '', events: ['*'] }, 'url'],
  ])('%s %j', async (path, body, field) => {
    const answer = await ask('POST', path, body)
    expect([answer.status, answer.body.error]).toEqual([400, 'Missing required field'])
    expect(answer.body.message).toContain(field)
  })
})
