import { beforeEach, describe, expect, it } from 'vitest'
import { call, errorOf, phoneNumberId, registration, textTo, useWorld } from '../../support/simulator.js'

const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/reset')
  await world.control('POST', '/settings', { delay_ms: 1 })
  world.receiver.taken.length = 0
})

describe('an accepted send', () => {
  it('returns the same response as the upstream', async () => {
    const { status, body } = await world.sendText('+1 (650) 555-1234')
    expect(status).toBe(200)
    expect(body).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: '+1 (650) 555-1234', wa_id: '16505551234' }],
      messages: [{ id: expect.stringMatching(/^wamid\.[A-Za-z0-9+/]+=*$/) }],
    })
  })

  it('gives every message a separate id', async () => {
    const answers = await Promise.all(Array.from({ length: 200 }, (_, n) => world.sendText(`1650555${1000 + n}`)))
    const ids = answers.map(({ body }) => (body.messages as Array<{ id: string }>)[0]?.id)
    expect(new Set(ids).size).toBe(200)
  })

  it('gets the statuses sent, delivered, read, in this order, with the callback data and the network id', async () => {
    const { body } = await world.send({ ...textTo('5548987654321'), biz_opaque_callback_data: 'our-id-1' })
    await world.idle()
    const id = (body.messages as Array<{ id: string }>)[0]?.id
    const statuses = world.receiver.statuses()
    expect(statuses.map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
    for (const status of statuses) {
      expect(status).toMatchObject({ id, recipient_id: '554887654321', biz_opaque_callback_data: 'our-id-1' })
      expect(status.timestamp).toMatch(/^\d{10}$/)
    }
    expect(statuses[0]).toMatchObject({
      conversation: { id: expect.stringMatching(/^[0-9a-f]{32}$/), origin: { type: 'service' } },
      pricing: { pricing_model: 'PMP', category: 'service', billable: false },
    })
    expect(world.receiver.values()[0]).toMatchObject({
      messaging_product: 'whatsapp',
      metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
    })
    expect(world.receiver.envelopes()[0]).toMatchObject({
      object: 'whatsapp_business_account',
      entry: [{ id: '419561257915477' }],
    })
  })

  it.each([
    ['a Brazilian mobile from area code 31 on', '5531987654321', '553187654321'],
    ['a Brazilian mobile below area code 31', '5511987654321', '5511987654321'],
    ['a Mexican number', '525512345678', '5215512345678'],
    ['an Argentinian number', '541123456789', '5491123456789'],
    ['any other number', '447400123456', '447400123456'],
  ])('maps %s to the network id', async (_kind, to, waId) => {
    const { body } = await world.sendText(to)
    expect(body.contacts).toEqual([{ input: to, wa_id: waId }])
  })

  it('reaches a person without a number by user id', async () => {
    const recipient = 'US.13491208655302741918'
    const { status, body } = await world.send({
      messaging_product: 'whatsapp',
      recipient,
      type: 'text',
      text: { body: 'hi' },
    })
    await world.idle()
    expect(status).toBe(200)
    expect(body.contacts).toEqual([{ input: recipient, user_id: recipient }])
    const [sent] = world.receiver.statuses()
    expect(sent).toMatchObject({ recipient_user_id: recipient })
    expect(sent).not.toHaveProperty('recipient_id')
  })

  it('reaches a person without a number with any template but one for authentication', async () => {
    const components = [{ type: 'BODY', text: 'Your code is {{1}}' }]
    const account = { phone_number_id: phoneNumberId }
    for (const category of ['UTILITY', 'AUTHENTICATION']) {
      const template = { name: category.toLowerCase(), language: 'en_US', category, components }
      await world.control('PUT', '/templates', { ...account, template })
    }
    const sendTo = (recipient: object, name: string) => {
      const body = [{ type: 'body', parameters: [{ type: 'text', text: '1234' }] }]
      const template = { name, language: { code: 'en_US' }, components: body }
      return world.send({ messaging_product: 'whatsapp', ...recipient, type: 'template', template })
    }
    const hidden = { recipient: 'US.13491208655302741918' }
    expect((await sendTo(hidden, 'utility')).status).toBe(200)
    expect((await sendTo({ to: '16505550100' }, 'authentication')).status).toBe(200)
    const refused = await sendTo(hidden, 'authentication')
    expect([refused.status, errorOf(refused.body).code]).toEqual([400, 131062])
  })

  it('may be a reply, a reaction with status sent only, or a text without type', async () => {
    const reply = await world.send({ ...textTo('16505551234'), context: { message_id: 'wamid.A' } })
    const reaction = await world.send({
      messaging_product: 'whatsapp',
      to: '16505551235',
      type: 'reaction',
      reaction: { message_id: 'wamid.A', emoji: '' },
    })
    const bare = await world.send({ messaging_product: 'whatsapp', to: '16505551236', text: { body: 'x' } })
    await world.idle()
    expect([reply.status, reaction.status, bare.status]).toEqual([200, 200, 200])
    const told = world.receiver.statuses().filter(({ recipient_id }) => recipient_id === '16505551235')
    expect(told.map(({ status }) => status)).toEqual(['sent'])
  })

  it('works from an unregistered number too, without callbacks, and under any version', async () => {
    const url = `${world.simulator.url}/v24.0/999/messages`
    const { status } = await call('POST', url, textTo('16505551234'), 'any-token')
    await world.idle()
    expect(status).toBe(200)
    expect(world.receiver.taken).toEqual([])
  })

  it('may mark a message as read', async () => {
    const { status, body } = await world.send({
      messaging_product: 'whatsapp',
      status: 'read',
      message_id: 'wamid.A',
      typing_indicator: { type: 'text' },
    })
    expect([status, body]).toEqual([200, { success: true }])
  })
})

describe('a refused send', () => {
  const base = { messaging_product: 'whatsapp', to: '16505551234' }
  const reaction = { ...base, type: 'reaction' }

  it.each<[string, object, number, string]>([
    ['no product', { to: '16505551234' }, 100, 'messaging_product is required'],
    [
      'typing of another kind',
      { ...base, status: 'read', message_id: 'wamid.A', typing_indicator: { type: 'voice' } },
      100,
      "typing_indicator['type'] must be one of {TEXT}",
    ],
    ['another product', { ...base, messaging_product: 'sms' }, 100, 'must be one of {WHATSAPP}'],
    [
      'no recipient',
      { messaging_product: 'whatsapp', type: 'text', text: { body: 'x' } },
      100,
      'parameter to is required',
    ],
    ['no text', { ...base, type: 'text' }, 100, "text['body'] is required"],
    ['an empty text', { ...base, type: 'text', text: { body: '' } }, 100, "text['body'] is required"],
    ['a text of a wrong type', { ...base, type: 'text', text: { body: 7 } }, 100, 'must be a string'],
    ['a text too long', textTo('16505551234', 'é'.repeat(4097)), 100, 'at most 4096 characters'],
    ['another kind of recipient', { ...textTo('16505551234'), recipient_type: 'list' }, 100, 'INDIVIDUAL, GROUP'],
    ['a group with an odd id', { ...textTo('no group'), recipient_type: 'group' }, 131009, 'not valid'],
    ['a reaction in a group', { ...reaction, recipient_type: 'group' }, 131051, 'Unsupported message type'],
    ['an empty context', { ...textTo('16505551234'), context: {} }, 100, "context['message_id']"],
    ['long callback data', { ...textTo('16505551234'), biz_opaque_callback_data: 'x'.repeat(513) }, 100, '512'],
    ['another status', { messaging_product: 'whatsapp', status: 'seen' }, 100, 'must be one of {READ}'],
    ['a read without message', { messaging_product: 'whatsapp', status: 'read' }, 100, 'message_id is required'],
    ['no reaction', reaction, 131008, 'Required parameter is missing'],
    ['a reaction to nothing', { ...reaction, reaction: { emoji: 'x' } }, 131008, 'Required parameter is missing'],
    [
      'a reaction without emoji',
      { ...reaction, reaction: { message_id: 'a' } },
      131008,
      'Required parameter is missing',
    ],
    ['an emoji of a wrong type', { ...reaction, reaction: { message_id: 'a', emoji: 1 } }, 131009, 'not valid'],
    [
      'a reaction as a reply',
      { ...reaction, reaction: { message_id: 'a', emoji: 'x' }, context: { message_id: 'b' } },
      100,
      'Unexpected key "context"',
    ],
    ['a malformed number', textTo('12ab'), 131009, 'not valid'],
    ['a number with a leading 0', textTo('05511987654321'), 131009, 'not valid'],
    [
      'a malformed user id',
      { messaging_product: 'whatsapp', recipient: 'nobody', text: { body: 'x' } },
      131009,
      'not valid',
    ],
    [
      'a type that is not simulated',
      { ...base, type: 'order', order: { id: '1' } },
      131051,
      'Unsupported message type',
    ],
    ['an unknown type', { ...base, type: 'constructor' }, 131051, 'Unsupported message type'],
  ])('returns the error for %s', async (_what, request, code, text) => {
    const { status, body } = await world.send(request)
    expect(status).toBe(400)
    expect(errorOf(body)).toMatchObject({ code, type: 'OAuthException', fbtrace_id: expect.any(String) })
    expect(errorOf(body).message).toContain(`(#${code}) `)
    expect(errorOf(body).message).toContain(text)
  })

  it('shows the expected form of a number', async () => {
    const { body } = await world.sendText('12')
    expect(errorOf(body).error_data).toEqual({
      messaging_product: 'whatsapp',
      details: 'The phone number is malformed: Please use the format: +1234567890.',
    })
  })

  it('counts characters, not UTF-16 units', async () => {
    expect((await world.sendText('16505551234', '😀'.repeat(4096))).status).toBe(200)
    expect((await world.sendText('16505551234', '😀'.repeat(4097))).status).toBe(400)
  })

  it('returns the error for a body that is not JSON', async () => {
    const url = `${world.simulator.upstreamUrl}/${phoneNumberId}/messages`
    const { status, body } = await call('POST', url, '{not json', 'token-of-the-test')
    expect([status, errorOf(body).code]).toEqual([400, 100])
  })

  it.each<[string, string | null, number]>([
    ['no token', null, 104],
    ['an empty token', '', 190],
    ['the token of another', 'wrong', 190],
  ])('returns the error for %s', async (_what, token, code) => {
    const { status, body } = await world.send(textTo('16505551234'), { token })
    expect([status, errorOf(body).code]).toEqual([401, code])
    expect(errorOf(body).error_data).toBeUndefined()
  })

  it('is counted and records no message', async () => {
    await world.sendText('12')
    const { body } = await world.control('GET', '/messages')
    expect(body).toMatchObject({ total: 0, accepted: 0, refused: 1, messages: [] })
  })

  it('names an unknown object', async () => {
    const { status, body } = await call('GET', `${world.simulator.upstreamUrl}/12345/nothing`, undefined, 'token')
    expect(status).toBe(400)
    expect(errorOf(body)).toMatchObject({ code: 100, error_subcode: 33 })
    expect(errorOf(body).message).toContain("Unsupported get request. Object with ID '12345' does not exist")
  })
})

describe('a magic recipient', () => {
  it.each([
    ['000001', 131026, '(#131026) Message undeliverable'],
    ['000002', 131047, '(#131047) Re-engagement message'],
  ])('ending in %s is always refused', async (ending, code, message) => {
    for (const _attempt of [1, 2]) {
      const { status, body } = await world.sendText(`15550${ending}`)
      expect(status).toBe(400)
      expect(errorOf(body)).toMatchObject({ code, message })
    }
  })

  it('ending in 000003 is throttled once, and once again after a reset', async () => {
    const first = await world.sendText('15550000003')
    expect(first.status).toBe(400)
    expect(errorOf(first.body)).toMatchObject({
      code: 130429,
      message: '(#130429) Rate limit hit',
      error_data: { details: 'Cloud API message throughput has been reached.' },
    })
    expect((await world.sendText('15550000003')).status).toBe(200)
    expect((await world.sendText('15550000003')).status).toBe(200)
    expect((await world.sendText('15551000003')).status).toBe(400)
    await world.control('POST', '/reset')
    expect((await world.sendText('15550000003')).status).toBe(400)
  })

  it('ending in 000004 is accepted at once and answered late, with its callbacks', async () => {
    await world.control('POST', '/settings', { slow_ms: 60_000 })
    const cut = new AbortController()
    const url = `${world.simulator.upstreamUrl}/${phoneNumberId}/messages`
    const answer = fetch(url, {
      method: 'POST',
      headers: { authorization: 'Bearer token-of-the-test' },
      body: JSON.stringify(textTo('15550000004')),
      signal: cut.signal,
    })
    await expect.poll(async () => (await world.control('GET', '/messages')).body.total).toBe(1)
    const { body } = await world.control('POST', '/idle', { timeout_ms: 0 })
    expect(body).toEqual({ success: false, pending: 3 })
    cut.abort()
    await expect(answer).rejects.toThrow()

    await world.control('POST', '/reset')
    await world.control('POST', '/settings', { slow_ms: 20, delay_ms: 1 })
    expect((await world.sendText('15550000004')).status).toBe(200)
    await world.idle()
    expect(world.receiver.statuses().map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
  })

  it('ending in 000005 is accepted without an answer, and its callbacks are sent', async () => {
    await expect(world.sendText('15550000005')).rejects.toThrow('fetch failed')
    await world.idle()
    const { body } = await world.control('GET', '/messages?to=15550000005')
    expect(body).toMatchObject({ total: 1, messages: [{ statuses: ['sent', 'delivered', 'read'] }] })
    expect(world.receiver.statuses()).toHaveLength(3)
  })

  it('ending in 000006 is delivered and never read', async () => {
    await world.sendText('15550000006')
    await world.idle()
    expect(world.receiver.statuses().map(({ status }) => status)).toEqual(['sent', 'delivered'])
  })
})

describe('with limits on', () => {
  const limited = useWorld({ limits: true })

  beforeEach(async () => {
    await limited.control('POST', '/reset')
    await limited.control('POST', '/settings', { statuses: false })
  })

  const writes = (from: string, extra: object = {}) =>
    limited.control('POST', '/inbound', { phone_number_id: phoneNumberId, from, type: 'text', text: 'hi', ...extra })

  it('a free-form message requires one from the recipient within 24 hours', async () => {
    const closed = await limited.sendText('525512345678')
    expect(errorOf(closed.body).code).toBe(131047)
    await writes('5215512345678', { timestamp: String(Math.floor(Date.now() / 1000) - 86_401) })
    expect(errorOf((await limited.sendText('525512345678')).body).code).toBe(131047)
    await writes('5215512345678')
    expect((await limited.sendText('525512345678')).status).toBe(200)
  })

  it('a recipient can receive a burst of 45', async () => {
    await writes('16505551234')
    const answers = []
    for (let n = 0; n < 46; n += 1) answers.push(await limited.sendText('16505551234'))
    expect(answers.slice(0, 45).every(({ status }) => status === 200)).toBe(true)
    expect(errorOf(answers[45]?.body ?? {}).code).toBe(131056)
  })

  it('magic recipients keep their outcomes', async () => {
    expect(errorOf((await limited.sendText('15550000001')).body).code).toBe(131026)
  })
})

describe('the registration of a number', () => {
  it('is listed without secrets', async () => {
    const { body } = await world.control('GET', '/numbers')
    expect(body.numbers).toEqual([
      {
        phone_number_id: phoneNumberId,
        display_phone_number: '15550783881',
        business_account_id: '419561257915477',
        callback_url: world.receiver.url,
      },
    ])
  })

  it('accepts any token if none is given, and ids with a slash', async () => {
    const id = encodeURIComponent(`${crypto.randomUUID()}/front desk`)
    const put = await world.control('PUT', `/numbers/${id}`, { app_secret: 's', callback_url: world.receiver.url })
    expect(put).toMatchObject({ status: 200, body: { number: { phone_number_id: decodeURIComponent(id) } } })
    expect((await world.send(textTo('16505551234'), { token: 'whatever', number: id })).status).toBe(200)
    expect((await world.control('DELETE', `/numbers/${id}`)).status).toBe(200)
    expect((await world.control('DELETE', `/numbers/${id}`)).status).toBe(404)
  })

  it.each([
    [{ callback_url: 'http://127.0.0.1:1/' }, 'app_secret is required'],
    [{ app_secret: 's' }, 'callback_url is required'],
    [{ app_secret: 's', callback_url: 'file:///etc' }, 'callback_url must be an http or https URL'],
    [{ ...registration('http://127.0.0.1:1/'), access_token: 7 }, 'access_token must be a string'],
  ])('refuses %j', async (body, message) => {
    const answer = await world.control('PUT', '/numbers/1', body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, message: expect.stringContaining(message) })
  })
})

describe('a group', () => {
  const GROUP = 'Y2FwaV9ncm91cDp0ZXN0'
  const toGroup = { ...textTo(GROUP), recipient_type: 'group' }
  const group = (fields: object) =>
    world.control('POST', '/group', { phone_number_id: phoneNumberId, group_id: GROUP, ...fields })

  it('gets texts, and each member has statuses of its own', async () => {
    await group({ event: 'joined', people: [{ from: '16505551111' }, { user_id: 'US.1' }, { from: '16505552222' }] })
    await group({ event: 'left', people: [{ from: '16505552222' }] })
    await world.idle()
    const { status, body } = await world.send(toGroup)
    expect(status).toBe(200)
    expect(body).toEqual({
      messaging_product: 'whatsapp',
      contacts: [{ input: GROUP, wa_id: GROUP }],
      messages: [{ id: expect.any(String), group_id: GROUP }],
    })
    await world.idle()
    const statuses = world.receiver
      .statuses()
      .map(({ status: kind, ...rest }) => [kind, rest.recipient_participant_id ?? rest.recipient_participant_user_id])
    expect(statuses).toEqual([
      ['sent', undefined],
      ['delivered', '16505551111'],
      ['delivered', 'US.1'],
      ['read', '16505551111'],
      ['read', 'US.1'],
    ])
    expect(world.receiver.statuses()[0]).toMatchObject({ recipient_id: GROUP, recipient_type: 'group' })
  })

  it.each([
    ['no group', { group_id: undefined, event: 'created' }, 'group_id'],
    ['another event', { event: 'painted' }, 'event must be one of'],
    ['a name of a wrong type', { event: 'created', subject: 5 }, 'subject must be a string'],
    ['nobody', { event: 'joined', people: [] }, 'people must be a list'],
    ['somebody without an address', { event: 'joined', people: [{ username: 'ana' }] }, 'from (a phone number)'],
  ])('is not changed by a request with %s', async (_name, fields, text) => {
    const { status, body } = await group(fields)
    expect(status).toBe(400)
    expect(body.message).toContain(text)
  })
})
