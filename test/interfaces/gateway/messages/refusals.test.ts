import { request as httpRequest } from 'node:http'
import { beforeAll, describe, expect, it } from 'vitest'
import { SENT_FILES } from '../../../../src/core/requests/file-limits.js'
import { borrow } from '../../../../src/lib/async/borrow.js'
import { startMessageWorld } from '../../../support/gateway-messages.js'
import { createInstance } from '../../../support/instances.js'
import { useStarted } from '../../../support/started.js'
import type { Answer } from '../../../support/world.js'

const on = useStarted(() => startMessageWorld({ PARLEY_RATE_LIMIT: '100' }))

beforeAll(async () => {
  await createInstance(on.world, on.other, { instanceName: 'shop', integration: 'WHATSAPP-BUSINESS' })
  await createInstance(on.world, on.organization, { instanceName: 'closed', integration: 'SANDBOX' })
})

/** The state of all simulated phones with the commands that they got. */
const phoneStates = async () => JSON.stringify((await on.world.sim('GET', '/phones')).body.phones)

/** Starts a send from the simulated phone. Returns a function that hangs up. */
function startSend(verb: string, body: object, headers: Record<string, string> = {}): () => Promise<unknown> {
  const url = `${on.world.app.url}/gateway/message/${verb}/phone`
  const sent = { apikey: on.organization.key, 'content-type': 'application/json', ...headers }
  const client = httpRequest(url, { method: 'POST', headers: sent, agent: false })
  const ended = new Promise((resolve) => client.once('close', resolve))
  client.on('error', () => undefined).end(JSON.stringify(body))
  return () => {
    client.destroy()
    return ended
  }
}

const LINK = { type: 'url', displayText: 'Buy', url: 'https://shop.example' }
const card = (fields: object = {}) => ({
  body: 'A mug',
  imageUrl: 'https://files.example/a.jpg',
  buttons: [{ displayText: 'More', id: 'more' }],
  ...fields,
})

describe('an invalid request', () => {
  it.each([
    ['sendText', { text: '' }, 'text'],
    ['sendText', { text: '  ' }, 'text'],
    ['sendText', { text: 5 }, 'text'],
    ['sendText', { textMessage: {} }, 'text'],
    ['sendText', { text: 'x'.repeat(4097) }, '4096'],
    ['sendText', { text: 'x'.repeat(900_000) }, 'text is too long'],
    ['sendMedia', { mediatype: 'image', media: 'https://x', caption: 'x'.repeat(900_000) }, 'caption is too long'],
    ['sendText', { text: 'a', textMessage: { text: 'b' } }, 'text is given twice'],
    ['sendText', { text: 'a', delay: 1, options: { delay: 2 } }, 'delay is given twice'],
    ['sendText', { text: 'a', delay: 'soon' }, 'delay'],
    ['sendText', { text: 'a', delay: '60001' }, '60000'],
    ['sendText', { text: 'a', linkPreview: 'yes' }, 'linkPreview'],
    ['sendText', { text: 'a', quoted: 'x' }, 'quoted'],
    ['sendText', { text: 'a', quoted: { key: 'x' } }, 'quoted.key'],
    ['sendText', { text: 'a', quoted: { key: { id: 5 } } }, 'quoted.key.id'],
    ['sendText', { text: null }, 'text is required'],
    ['sendMedia', { mediatype: 'image', media: {} }, 'media is required'],
    ['sendMedia', { mediatype: 'image', media: ['https://x'] }, 'media must be a string'],
    ['sendMedia', { mediatype: 'image', media: { data: 'x' } }, 'media must be a string'],
    ['sendReaction', { key: { id: 'x', remoteJid: '16505550001' }, reaction: null }, 'reaction is required'],
    ['sendText', { text: 'x', delay: -1 }, 'delay'],
    ['sendText', { text: 'x', delay: 60_001 }, '60000'],
    ['sendText', { text: 'x', mentioned: ['Ana'] }, 'mentioned[0]'],
    ['sendText', { text: 'x', number: 'nobody' }, 'number "nobody"'],
    ['sendText', { text: 'x', number: 1.5 }, 'number'],
    ['sendMedia', { mediatype: 'image' }, 'media'],
    ['sendMedia', { mediatype: 'sound', media: 'https://example.com/a' }, 'mediatype'],
    ['sendMedia', { mediatype: 'image', media: 'https://x', caption: 'x'.repeat(1025) }, '1024'],
    ['sendLocation', { latitude: 91, longitude: 0 }, 'latitude'],
    ['sendLocation', { latitude: '1', longitude: 0 }, 'latitude'],
    ['sendContact', { contact: [] }, 'contact'],
    ['sendContact', { contact: [{ fullName: 'Ana' }] }, 'contact[0].phoneNumber'],
    ['sendReaction', { key: { id: 'x', remoteJid: '16505550001' } }, 'or an empty text'],
    ['sendReaction', { key: { id: 'x', remoteJid: '16505550001' }, reaction: 'no' }, 'single emoji'],
    ['sendReaction', { key: { id: 'x', remoteJid: '16505550001' }, reaction: '👍👍' }, 'single emoji'],
    ['sendPoll', { name: 'a', selectableCount: 1, values: ['a'] }, 'values'],
    ['sendPoll', { name: 'a', selectableCount: 1, values: ['a', 'a'] }, 'twice'],
    ['sendPoll', { name: 'a', selectableCount: 3, values: ['a', 'b'] }, 'selectableCount'],
    ['sendList', { title: 'a', buttonText: 'b', sections: [] }, 'sections'],
    ['sendButtons', { title: 'a', buttons: [{ displayText: 'x'.repeat(21), id: '1' }] }, '20'],
    ['sendButtons', { title: 'a', buttons: Array(4).fill({ displayText: 'x', id: '1' }) }, 'buttons'],
    ['sendButtons', { title: 'a', buttons: [{ type: 'url', displayText: 'x' }] }, 'buttons[0].url'],
    ['sendButtons', { title: 'a', buttons: [{ type: 'url', displayText: 'x', url: 'ftp://x' }] }, 'http or https'],
    ['sendButtons', { title: 'a', buttons: Array(2).fill({ displayText: 'x', id: '1' }) }, 'twice'],
    ['sendTemplate', { name: 'a' }, 'language'],
    ['sendCarousel', { body: 'a', cards: [card()] }, 'cards must have at least 2 items'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ imageUrl: undefined })] }, 'cards[1].imageUrl'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ imageUrl: 'ftp://x' })] }, 'cards[1].imageUrl'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ body: 'x'.repeat(161) })] }, '160'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ title: 'x'.repeat(160) })] }, 'together'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ body: 'a\nb\nc\nd' })] }, 'at most 3 lines together'],
    [
      'sendCarousel',
      { body: 'a', cards: [card({ title: 'x', body: 'a\nb', footer: 'y' }), card()] },
      'cards[0]: title',
    ],
    ['sendCarousel', { body: 'a', cards: [card(), card({ buttons: [] })] }, 'cards[1].buttons'],
    ['sendCarousel', { body: 'a', cards: [card(), card({ buttons: [LINK] })] }, 'cards[1].buttons'],
  ])('%s %#: returns 400 in the form of this interface', async (verb, body, said) => {
    const { status, body: answer } = await on.send(verb, 'shop', { number: on.newNumber(), ...body })
    expect([status, answer.status, answer.error]).toEqual([400, 400, 'Bad Request'])
    expect(JSON.stringify(answer.response.message).replaceAll('\\"', '"')).toContain(said)
    expect(answer.response.message).toEqual([[expect.any(String)]])
  })

  it.each(['{"number":', '[]', 'null', '"text"', '{"number": "1\n2"}'])('returns 400 for the body %s', async (body) => {
    const { status, body: answer } = await on.send('sendText', 'shop', body)
    expect([status, answer.status]).toEqual([400, 400])
  })

  it('returns 415 for another Content-Type', async () => {
    const answer = await on.send('sendText', 'shop', 'number=1', {
      'content-type': 'application/x-www-form-urlencoded',
    })
    expect([answer.status, answer.body.status]).toEqual([415, 415])
  })
})

describe('what a kind of instance does not support', () => {
  it.each([
    ['shop', 'sendPoll', { name: 'a', selectableCount: 1, values: ['a', 'b'] }],
    ['shop', 'sendPtv', { video: 'https://example.com/a.mp4' }],
    ['phone', 'sendTemplate', { name: 'a', language: 'en' }],
    ['shop', 'sendButtons', { title: 'a', buttons: [{ type: 'copy', displayText: 'x', copyCode: 'A1' }] }],
    [
      'shop',
      'sendButtons',
      { title: 'a', buttons: Array(2).fill({ type: 'url', displayText: 'x', url: 'https://example.com' }) },
    ],
  ])('%s %s: returns 501 with a reason', async (instance, verb, body) => {
    const number = on.newNumber()
    const answer = await on.send(verb, instance, { number, ...body })
    expect([answer.status, answer.body.error]).toEqual([501, 'Not Implemented'])
    expect(answer.body.response.message).toEqual([expect.any(String)])
    expect(await on.arrived(number)).toEqual([])
  })

  it('returns 501 for people who hide their number from a business number, until the number is known', async () => {
    const lid = '123456789012345@lid'
    const send = (instance: string) => on.send('sendText', instance, { number: lid, text: 'x' })
    const refuse = async () => {
      const { status, body } = await send('shop')
      expect([status, body.response.message[0]]).toEqual([501, expect.stringContaining(lid)])
    }
    await refuse()
    const { pool } = on.world.database
    expect((await pool.query('SELECT FROM contacts WHERE network_id = $1', [lid])).rowCount).toBe(0)
    expect((await send('phone')).status).toBe(201)
    await refuse()
    const number = on.newNumber()
    await pool.query(
      `UPDATE contacts SET phone_number = $2, chat_id = $3 WHERE organization_id = $1 AND network_id = $4`,
      [on.organization.id, `+${number}`, number, lid],
    )
    expect((await send('shop')).status).toBe(201)
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it('returns Connection Closed if the instance is not open', async () => {
    const { status, body } = await on.send('sendText', 'closed', { number: on.newNumber(), text: 'x' })
    expect([status, body.response.message]).toEqual([500, 'Connection Closed'])
  })
})

describe('the recipient', () => {
  /** Creates a contact with these fields; resolves to its number. */
  async function newContact(fields: object): Promise<string> {
    const number = on.newNumber()
    const made = { key: on.organization.key, body: { phone_number: `+${number}` } }
    expect((await on.world.request('POST', '/contact', made)).status).toBe(201)
    const change = { key: on.organization.key, body: fields }
    expect((await on.world.request('PATCH', `/contact?chat_id=${number}`, change)).status).toBe(200)
    return number
  }

  /** Creates an instance with a number of its own. */
  async function createNumber(instanceName: string, number: string, businessId: string): Promise<void> {
    const accessToken = `access-token-of-${number}`
    const settings = { access_token: accessToken, app_secret: 'secret', business_account_id: businessId }
    const callback_url = `${on.world.app.url}/hooks/upstream`
    const made = await on.world.sim('PUT', `/numbers/${number}`, { ...settings, callback_url })
    expect(made.status, JSON.stringify(made.body)).toBe(200)
    const kind = { instanceName, integration: 'WHATSAPP-BUSINESS' }
    await createInstance(on.world, on.organization, { ...kind, number, accessToken, businessId })
  }

  it.each(['shop', 'phone'])('%s: is checked before the delay', async (instance) => {
    const blocked = await newContact({ blocked: true })
    const refused = await on.send('sendText', instance, { number: blocked, text: 'x', delay: 60_000 })
    expect([refused.status, refused.body.response.message[0]]).toEqual([400, expect.stringContaining('blocked')])
    for (const number of [await newContact({}), on.newNumber()]) {
      const body = { number, text: 'x', delay: 60_000, quoted: { key: { id: 'unknown' } } }
      const { status, body: answer } = await on.send('sendText', instance, body)
      expect([status, answer.response.message[0]]).toEqual([404, expect.stringContaining('quoted.key.id "unknown"')])
      expect(await phoneStates()).not.toContain(number)
    }
  })

  it.each(['shop', 'phone'])('%s: is checked before the file is fetched', async (instance) => {
    const fetched = on.files.taken.length
    const number = await newContact({ blocked: true })
    const quoted = { key: { id: 'unknown' } }
    const asked = [
      { verb: 'sendAudio', status: 400, body: { number, audio: on.fileUrl('ogg') } },
      { verb: 'sendSticker', status: 400, body: { number, sticker: on.fileUrl('png') } },
      { verb: 'sendAudio', status: 404, body: { number: await newContact({}), audio: on.fileUrl('ogg'), quoted } },
    ]
    for (const { verb, status, body } of asked) expect((await on.send(verb, instance, body)).status).toBe(status)
    expect(on.files.taken).toHaveLength(fetched)
  })

  it('gets no marketing templates, and none of unknown category, after opting out', async () => {
    const number = await newContact({ allow_broadcast: false })
    const { phoneNumberId: phone_number_id, businessAccountId } = on.organization
    const send = (name: string, instance = 'shop') =>
      on.send('sendTemplate', instance, { number, name, language: 'pt_BR' })
    for (const category of ['MARKETING', 'UTILITY']) {
      const name = category.toLowerCase()
      const components = [{ type: 'BODY', text: 'Hello' }]
      const template = { name, components, category, language: 'pt_BR', status: 'APPROVED' }
      const made = await on.world.sim('PUT', '/templates', { phone_number_id, template })
      expect(made.status, JSON.stringify(made.body)).toBe(200)
    }
    for (const name of ['marketing', 'unheard_of']) {
      const { status, body } = await send(name)
      expect([status, body.response.message[0]]).toEqual([400, expect.stringContaining('does not want broadcasts')])
    }
    expect((await send('utility')).status).toBe(201)
    // Instances with numbers of their own, one in the organization's account and one in another.
    await createNumber('same_account', '310000001', businessAccountId)
    await createNumber('other_account', '310000002', '310000003')
    expect((await send('utility', 'same_account')).status).toBe(201)
    expect((await send('utility', 'other_account')).status).toBe(400)
    expect(await on.arrived(number)).toHaveLength(2)
    const willing = await newContact({ allow_broadcast: true })
    const taken = await on.send('sendTemplate', 'shop', { number: willing, name: 'marketing', language: 'pt_BR' })
    expect(taken.status).toBe(201)
  })
})

describe('errors of the upstream', () => {
  it('returns 400, not 201, for a number that is not on WhatsApp', async () => {
    const { status, body } = await on.send('sendText', 'shop', { number: '16505000001', text: 'x' })
    expect(status).toBe(400)
    expect(body.response.message).toEqual([{ jid: '16505000001@s.whatsapp.net', exists: false, number: '16505000001' }])
  })

  it("returns the text of a refused message's error", async () => {
    const { status, body } = await on.send('sendText', 'shop', { number: '16505000002', text: 'x' })
    expect([status, body.response.upstream_code]).toEqual([400, 131047])
    expect(body.response.message).toEqual([expect.stringMatching(/./)])
  })

  it('replays a final refusal for the same Idempotency-Key', async () => {
    const send = () =>
      on.send('sendText', 'shop', { number: '16506000002', text: 'x' }, { 'idempotency-key': 'refused' })
    const first = await send()
    const again = await send()
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([400, 400, 'true'])
    expect(again.body).toEqual(first.body)
  })

  it('retries if the upstream is busy', async () => {
    expect((await on.send('sendText', 'shop', { number: '16505000003', text: 'x' })).status).toBe(201)
    expect(await on.arrived('16505000003')).toHaveLength(1)
  })

  it('replays success for the Idempotency-Key if a status arrives after an unknown outcome', async () => {
    const number = '16506000005'
    const send = () => on.send('sendText', 'shop', { number, text: 'x' }, { 'idempotency-key': 'settled' })
    const { status, body } = await send()
    expect([status, body.response.retryable]).toEqual([500, false])
    const [{ id }] = await on.arrived(number)
    await on.world.sim('POST', '/callback', {
      phone_number_id: on.organization.phoneNumberId,
      value: {
        statuses: [
          {
            id,
            status: 'sent',
            timestamp: '1750000000',
            recipient_id: number,
            biz_opaque_callback_data: body.response.id,
          },
        ],
      },
    })
    await on.world.settle()
    const settled = await send()
    expect([settled.status, settled.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect(settled.body).toMatchObject({ key: { id, remoteJid: `${number}@s.whatsapp.net` }, error: false })
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it('replays an unknown outcome if no status arrives', async () => {
    const send = () =>
      on.send('sendText', 'shop', { number: '16505000005', text: 'x' }, { 'idempotency-key': 'silence' })
    const { status, body } = await send()
    expect([status, body.status]).toEqual([500, 500])
    expect(body.response).toMatchObject({ id: expect.any(String), retryable: false })
    expect((await send()).body).toEqual(body)
    expect(await on.arrived('16505000005')).toHaveLength(1)
  })
})

describe('access', () => {
  it("returns the same 404 for another organization's instance as for an unknown one", async () => {
    const { key } = on.other
    const body = { number: on.newNumber(), text: 'x' }
    const foreign = await on.world.request('POST', '/gateway/message/sendText/phone', { key, body })
    const unknown = await on.world.request('POST', '/gateway/message/sendText/none', { key, body })
    expect([foreign.status, foreign.body.response.message]).toEqual([404, ['The "phone" instance does not exist']])
    expect([unknown.status, unknown.body.response.message]).toEqual([404, ['The "none" instance does not exist']])
  })

  it("refuses replies and reactions to another organization's message", async () => {
    const number = on.newNumber()
    const sent = await on.send('sendText', 'shop', { number, text: 'x' })
    const body = { number, text: 'y', quoted: { key: { id: sent.body.key.id } } }
    const foreign = await on.world.request('POST', '/gateway/message/sendText/shop', { key: on.other.key, body })
    expect(foreign.status).toBe(404)
    const reaction = { key: sent.body.key, reaction: '👍' }
    const reacted = await on.world.request('POST', '/gateway/message/sendReaction/shop', {
      key: on.other.key,
      body: reaction,
    })
    expect(reacted.status).toBe(404)
  })

  it("accepts an instance's token for this instance only", async () => {
    const { token } = await createInstance(on.world, on.organization, { instanceName: 'till', integration: 'SANDBOX' })
    const send = (instance: string) =>
      on.world.request('POST', `/gateway/message/sendText/${instance}`, {
        headers: { apikey: token },
        body: { number: on.newNumber(), text: 'x' },
      })
    const own = await send('till')
    expect([own.status, own.body.response.message]).toEqual([500, 'Connection Closed'])
    for (const instance of ['shop', 'none']) {
      const other = await send(instance)
      expect([other.status, other.body.response.message]).toEqual([404, [`The "${instance}" instance does not exist`]])
    }
  })

  it('needs a key', async () => {
    const answer = await on.world.request('POST', '/gateway/message/sendText/shop', { body: {} })
    expect([answer.status, answer.body.response.message]).toEqual([401, 'Unauthorized'])
  })
})

describe('a repeated request', () => {
  const key = { 'idempotency-key': 'once' }

  it('is sent once, also in another form of the body', async () => {
    const number = on.newNumber()
    const first = await on.send('sendText', 'shop', { number, text: 'x' }, key)
    const again = await on.send('sendText', 'shop', { number, textMessage: { text: 'x' } }, key)
    expect([first.status, again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 201, 'true'])
    expect(again.body).toEqual(first.body)
    expect(await on.arrived(number)).toHaveLength(1)
  })

  it('returns 422 with another body', async () => {
    const answer = await on.send('sendText', 'shop', { number: on.newNumber(), text: 'y' }, key)
    expect([answer.status, answer.body.status]).toEqual([422, 422])
  })

  it('is a different request at another instance or organization', async () => {
    const number = on.newNumber()
    const body = { number, text: 'x' }
    const headers = { 'idempotency-key': 'of each' }
    const path = '/gateway/message/sendText/shop'
    const answers = [
      await on.send('sendText', 'shop', body, headers),
      await on.send('sendText', 'phone', body, headers),
      await on.world.request('POST', path, { key: on.other.key, body, headers }),
    ]
    for (const answer of answers) {
      expect([answer.status, answer.headers.get('idempotent-replayed')]).toEqual([201, null])
    }
    expect(await on.arrived(number)).toHaveLength(3)
  })

  it('runs again if it failed before anything was sent', async () => {
    const headers = { 'idempotency-key': 'closed' }
    const body = { number: on.newNumber(), text: 'x' }
    for (let attempt = 0; attempt < 2; attempt++)
      expect((await on.send('sendText', 'closed', body, headers)).status).toBe(500)
  })

  it('is not sent if the client hangs up during the delay', async () => {
    const number = on.newNumber()
    const hangUp = startSend('sendText', { number, text: 'x', delay: 60_000 }, { 'idempotency-key': 'gone' })
    await expect.poll(phoneStates).toContain(number)
    await hangUp()
    // The key is released as soon as the request has ended.
    const held = async () =>
      (await on.world.database.pool.query(`SELECT FROM idempotency_keys WHERE key = 'gone'`)).rowCount
    await expect.poll(held).toBe(0)
    expect(await on.arrived(number)).toEqual([])
  })
})

describe('limits', () => {
  function expectLimited({ status, headers, body }: Answer): void {
    expect(body).toEqual({
      status: 429,
      error: 'Too Many Requests',
      response: { message: [expect.stringContaining('try again')], retry_after: expect.any(Number) },
    })
    expect([status, headers.get('retry-after')]).toEqual([429, String(body.response.retry_after)])
  }

  /** Takes all of the organization's concurrent files. Resolves to a function that releases them. */
  async function occupyFiles(): Promise<() => Promise<unknown>> {
    const { sentFiles } = on.world.app.ctx.limits
    const passed = Array.from({ length: SENT_FILES.ofOneKey }, () =>
      borrow<void>((use) => sentFiles.pass(on.organization.id, () => use())),
    )
    const held = await Promise.all(passed)
    return () => Promise.all(held.map(({ release }) => release()))
  }

  it('count a file to be fetched only after the delay', async () => {
    const number = on.newNumber()
    const releaseFiles = await occupyFiles()
    const hangUp = startSend('sendAudio', { number, audio: on.fileUrl('ogg'), delay: 60_000 })
    try {
      await expect.poll(phoneStates).toContain(number)
    } finally {
      await hangUp()
      await releaseFiles()
    }
  })

  it('return 429 for a send with a file if too many are in progress, but not for one without', async () => {
    const number = on.newNumber()
    const releaseFiles = await occupyFiles()
    const media = (length: number) => ({ number, mediatype: 'image', media: 'A'.repeat(length) })
    try {
      for (const length of [100, 100_000]) expectLimited(await on.send('sendMedia', 'phone', media(length)))
      expect((await on.send('sendText', 'phone', { number, text: 'x' })).status).toBe(201)
    } finally {
      await releaseFiles()
    }
  })

  /** Must be the last test, since no further request is accepted for a while. */
  it('return 429 for too many requests, before the body is read', async () => {
    await on.world.database.pool.query('UPDATE rate_limits SET tokens = -100000')
    // Tokens that the process has already reserved are used up first.
    await expect.poll(async () => (await on.send('sendText', 'shop', '{')).status).toBe(429)
    for (const verb of ['sendText', 'sendMedia']) {
      const answer = await on.send(verb, 'shop', '{')
      expectLimited(answer)
      expect(answer.headers.get('ratelimit-remaining')).toBe('0')
    }
  })
})
