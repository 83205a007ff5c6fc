import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { errorOf, startWorld, textTo, useWorld } from '../../support/simulator.js'

const organizationId = '0190a1b2-0000-7000-8000-000000000001'
const instance = 'Loja São José / 50% off?'
const id = `${organizationId}/${instance}`
const who = { organization_id: organizationId, instance }
const number = encodeURIComponent(id)
const accessToken = 'token-of-the-phone'
const asPhone = { token: accessToken, number }

const world = useWorld()

beforeEach(async () => {
  await world.control('POST', '/settings', { delay_ms: 1 })
  world.receiver.taken.length = 0
  expect(await register()).toMatchObject({ status: 200 })
})
afterEach(async () => {
  await world.idle()
  await world.control('DELETE', `/numbers/${number}`)
  await world.control('POST', '/reset')
})

function register(fields: object = {}) {
  return world.control('PUT', `/numbers/${number}`, {
    phone: true,
    access_token: accessToken,
    app_secret: 'app-secret-of-the-test',
    callback_url: world.receiver.url,
    ...fields,
  })
}

const connect = (fields: object = {}) => world.control('POST', '/phones/connect', { ...who, ...fields })
const scan = (fields: object = {}) => world.control('POST', '/scan', { ...who, ...fields })
const phone = async () => {
  const { body } = await world.control('GET', '/phones')
  return (body.phones as Array<Record<string, unknown>>)[0]
}
const link = async () => {
  await connect()
  expect(await scan({ number: '5511912345678', name: 'Zoë' })).toMatchObject({ status: 200 })
  world.receiver.taken.length = 0
}

describe('linking', () => {
  it('starts with a code, a new one each time', async () => {
    expect(await phone()).toMatchObject({ ...who, phone_number_id: id, state: 'close', number: null, count: 0 })
    const first = await connect()
    expect(first.body).toEqual({
      success: true,
      state: 'connecting',
      code: expect.stringMatching(/^2@[^,]+,[^,]+,[^,]+$/),
      pairing_code: null,
      count: 1,
    })
    const second = await connect({ number: '5511987654321' })
    expect(second.body).toMatchObject({ pairing_code: expect.stringMatching(/^[1-9A-Z]{8}$/), count: 2 })
    expect(second.body.code).not.toBe(first.body.code)
    expect((await scan()).body).toMatchObject({ number: '5511987654321' })
  })

  it('ends with a scan, which the service is notified of', async () => {
    await connect()
    expect(await scan({ number: '+55 11 91234-5678', name: 'Zoë' })).toEqual({
      status: 200,
      body: {
        ...{ success: true, ...who, phone_number_id: id, state: 'open', number: '5511912345678', name: 'Zoë' },
        ...{ delivered: true, status: 200 },
      },
    })
    expect(world.receiver.envelopes()).toEqual([
      {
        object: 'whatsapp_business_account',
        entry: [
          {
            id,
            changes: [
              {
                field: 'connection',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: { display_phone_number: '5511912345678', phone_number_id: id },
                  connection: { state: 'open', number: '5511912345678', name: 'Zoë' },
                },
              },
            ],
          },
        ],
      },
    ])
    expect((await connect()).body).toEqual({
      ...{ success: true, state: 'open', code: null, pairing_code: null, count: 0 },
    })
  })

  it('gives the same number to the same phone by default, and never a magic one', async () => {
    const numbers = []
    for (let n = 0; n < 2; n += 1) {
      await connect()
      numbers.push((await scan()).body.number)
      await world.control('POST', '/phones/logout', who)
    }
    expect(numbers[0]).toMatch(/^15551[1-9]\d{5}$/)
    expect(numbers[1]).toBe(numbers[0])
  })

  it('can be undone on the phone, which the service is notified of, or by the service', async () => {
    await link()
    expect(await scan({ action: 'unlink' })).toMatchObject({ status: 200, body: { state: 'close', number: null } })
    expect(world.receiver.values()).toEqual([expect.objectContaining({ connection: { state: 'close', code: 401 } })])
    await link()
    expect((await world.control('POST', '/phones/logout', who)).body).toEqual({ success: true, state: 'close' })
    expect(world.receiver.taken).toEqual([])
  })

  it.each([
    ['no code', {}, { status: 409, error: 'No code to scan', message: 'connect it first' }],
    [
      'nothing to unlink',
      { action: 'unlink' },
      { status: 409, error: 'Phone not linked', message: 'its state is close' },
    ],
    ['another instance', { instance: 'other' }, { status: 404, error: 'Instance not found', message: 'other' }],
    [
      'another organization',
      { organization_id: 'other' },
      { status: 404, error: 'Instance not found', message: 'other' },
    ],
    ['no instance', { instance: undefined }, { status: 400, error: 'Missing required field', message: 'instance' }],
    ['an unknown action', { action: 'dance' }, { status: 400, error: 'Invalid field', message: 'link or unlink' }],
    ['an invalid number', { number: 'x' }, { status: 400, error: 'Invalid field', message: 'phone number' }],
  ])('is refused with %s', async (_what, fields, { status, error, message }) => {
    expect(await scan(fields)).toMatchObject({
      status,
      body: { success: false, error, message: expect.stringContaining(message) },
    })
  })

  it('is refused if the phone is already linked', async () => {
    await link()
    expect(await scan()).toMatchObject({ status: 409, body: { message: expect.stringContaining('unlink it first') } })
  })
})

describe('registering', () => {
  it('restores a phone as it was, and never changes a known one', async () => {
    await world.control('DELETE', `/numbers/${number}`)
    const open = { state: 'open', number: '5511912345678', name: 'Zoë' }
    expect((await register(open)).body).toMatchObject({
      phone: open,
      number: { display_phone_number: '5511912345678' },
    })
    expect((await register({ state: 'close' })).body).toMatchObject({ phone: open })
    expect(await world.control('GET', '/numbers')).toMatchObject({
      body: { numbers: expect.arrayContaining([expect.objectContaining({ phone_number_id: id })]) },
    })
  })

  it('closes a phone that showed a code, since the code is lost', async () => {
    await world.control('DELETE', `/numbers/${number}`)
    expect((await register({ state: 'connecting', number: null })).body).toMatchObject({ phone: { state: 'close' } })
  })

  it('survives a reset, unless numbers are reset too', async () => {
    await link()
    await world.control('POST', '/phones/command', { ...who, command: { verb: 'set_presence' } })
    await world.control('POST', '/reset')
    expect(await phone()).toMatchObject({ state: 'open', number: '5511912345678', commands: [] })
    const other = await startWorld()
    await other.control('PUT', `/numbers/${number}`, { phone: true, app_secret: 'x', callback_url: world.receiver.url })
    await other.control('POST', '/reset', { numbers: true })
    expect((await other.control('GET', '/phones')).body.phones).toEqual([])
    await other.close()
  })

  it.each([
    [{ phone: 'yes' }, 'phone must be true or false'],
    [{ state: 'shut' }, 'state must be one of close, connecting, open'],
    [{ number: '12' }, 'number must be a phone number'],
    [{ name: 7 }, 'name must be a string'],
  ])('refuses %j', async (fields, message) => {
    expect(await register(fields)).toMatchObject({ status: 400, body: { message: expect.stringContaining(message) } })
  })

  it('refuses an id without an instance name', async () => {
    const body = { phone: true, app_secret: 'x', callback_url: world.receiver.url }
    expect(await world.control('PUT', '/numbers/12345', body)).toMatchObject({
      status: 400,
      body: { message: expect.stringContaining('<organization_id>/<instance>') },
    })
  })
})

describe('a phone that is not linked', () => {
  it('sends nothing, uploads nothing, and receives nothing', async () => {
    for (const answer of [
      await world.send(textTo('16505551234'), asPhone),
      await world.upload(new Uint8Array([1]), 'image/png', asPhone),
    ]) {
      expect(answer.status).toBe(400)
      expect(errorOf(answer.body)).toMatchObject({
        code: 133010,
        error_data: { details: 'The phone is not linked: its state is close, not open.' },
      })
    }
    const inbound = { from: '16505551234', type: 'text', text: 'hi' }
    for (const named of [who, { phone_number_id: id }]) {
      expect(await world.control('POST', '/inbound', { ...named, ...inbound })).toMatchObject({
        status: 409,
        body: { error: 'Phone not linked' },
      })
    }
  })

  it.each(['command', 'check'])('refuses %s', async (path) => {
    const fields = { command: { verb: 'set_presence' }, numbers: [] }
    expect((await world.control('POST', `/phones/${path}`, { ...who, ...fields })).status).toBe(409)
  })
})

describe('a linked phone', () => {
  beforeEach(link)

  it('sends, and reports statuses', async () => {
    expect((await world.send(textTo('16505551234'), asPhone)).status).toBe(200)
    await world.idle()
    expect(world.receiver.statuses().map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
    expect(world.receiver.values()[0]?.metadata).toEqual({
      display_phone_number: '5511912345678',
      phone_number_id: id,
    })
    expect((await world.control('GET', `/messages?phone_number_id=${number}`)).body.total).toBe(1)
  })

  it('requires its own token', async () => {
    expect((await world.send(textTo('16505551234'), { number })).status).toBe(401)
  })

  it.each(['120363041234567890@g.us', '5511987654321-1400000000@g.us', '98765432101234@lid'])(
    'can write to %s',
    async (recipient) => {
      const answer = await world.send(toRecipient(recipient), asPhone)
      expect(answer.body).toMatchObject({ contacts: [{ input: recipient, user_id: recipient }] })
      await world.idle()
      expect(world.receiver.statuses()[0]).toMatchObject({ recipient_user_id: recipient })
      expect((await world.send(toRecipient(recipient))).status).toBe(400)
    },
  )

  it('can mention people', async () => {
    const message = { ...textTo('16505551234'), mentions: ['5511987654321@s.whatsapp.net'] }
    expect((await world.send(message, asPhone)).status).toBe(200)
    expect(errorOf((await world.send({ ...message, mentions: 'all' }, asPhone)).body).code).toBe(131009)
  })

  it('can send polls, unlike an ordinary number', async () => {
    expect((await world.send(poll({}), asPhone)).status).toBe(200)
    expect(errorOf((await world.send(poll({}))).body).code).toBe(131051)
  })

  it.each([
    ['without a name', { name: '' }, 131008],
    ['with one option', { options: ['a'] }, 131009],
    ['with 13 options', { options: Array.from({ length: 13 }, (_, n) => `${n}`) }, 131009],
    ['with an option twice', { options: ['a', 'a'] }, 131009],
    ['with an empty option', { options: ['a', ''] }, 131008],
    ['with more choices than options', { selectable_count: 3 }, 131009],
  ])('cannot send a poll %s', async (_what, fields, code) => {
    expect(errorOf((await world.send(poll(fields), asPhone)).body).code).toBe(code)
  })

  it('cannot send templates', async () => {
    const template = { name: 'hello_world', language: { code: 'en_US' } }
    const message = { messaging_product: 'whatsapp', to: '16505551234', type: 'template', template }
    expect(errorOf((await world.send(message, asPhone)).body).code).toBe(131051)
    expect((await world.send(message)).status).toBe(200)
  })

  it('sends stickers and voice notes', async () => {
    const files = { sticker: 'image/webp', audio: 'audio/ogg' }
    for (const [type, mimeType] of Object.entries(files)) {
      const { body } = await world.upload(new Uint8Array([1, 2, 3]), mimeType, asPhone)
      const payload = { id: body.id, ...(type === 'audio' ? { voice: true } : {}) }
      const message = { messaging_product: 'whatsapp', to: '16505551234', type, [type]: payload }
      expect((await world.send(message, asPhone)).status).toBe(200)
    }
  })

  it('treats magic recipients like other numbers do', async () => {
    expect(errorOf((await world.send(textTo('5511900000001'), asPhone)).body).code).toBe(131026)
  })

  it('receives messages, named by its instance', async () => {
    const answer = await world.control('POST', '/inbound', { ...who, from: '16505551234', type: 'text', text: 'Olá' })
    expect(answer).toMatchObject({ status: 200, body: { delivered: true } })
    expect(world.receiver.messages()).toEqual([
      {
        id: answer.body.message_id,
        from: '16505551234',
        type: 'text',
        timestamp: expect.any(String),
        text: { body: 'Olá' },
      },
    ])
  })

  it('reports which numbers have an account', async () => {
    await world.control('PUT', '/recipients/16505550002', { code: 131026 })
    const numbers = ['5531987654321', '5511900000001', '16505550002', 'nobody']
    expect((await world.control('POST', '/phones/check', { ...who, numbers })).body).toEqual({
      success: true,
      numbers: [
        { number: '5531987654321', exists: true, wa_id: '553187654321' },
        { number: '5511900000001', exists: false, wa_id: '5511900000001' },
        { number: '16505550002', exists: false, wa_id: '16505550002' },
        { number: 'nobody', exists: false, wa_id: null },
      ],
    })
    expect((await world.control('POST', '/phones/check', { ...who, numbers: 'all' })).status).toBe(400)
  })

  it('records the commands that it receives', async () => {
    const command = { verb: 'show_presence', jid: '1@lid', presence: 'composing' }
    expect((await world.control('POST', '/phones/command', { ...who, command })).body).toEqual({ success: true })
    expect(await phone()).toMatchObject({ commands: [{ at: expect.stringMatching(/Z$/), command }] })
    expect((await world.control('POST', '/phones/command', { ...who, command: 'sing' })).status).toBe(400)
    expect((await world.control('POST', '/phones/command', who)).status).toBe(400)
  })

  it('becomes an ordinary number if its id is registered as one', async () => {
    await register({ phone: false })
    expect((await world.control('GET', '/phones')).body.phones).toEqual([])
  })
})

it('a phone has none of the upstream’s limits', async () => {
  const limited = await startWorld({ limits: true })
  const registered = {
    phone: true,
    state: 'open',
    app_secret: 'app-secret-of-the-test',
    callback_url: limited.receiver.url,
  }
  await limited.control('PUT', `/numbers/${number}`, registered)
  expect((await limited.send(textTo('16505551234'), { number, token: 'any' })).status).toBe(200)
  expect(errorOf((await limited.sendText('16505551234')).body).code).toBe(131047)
  await limited.close()
})

function toRecipient(recipient: string): object {
  return { messaging_product: 'whatsapp', recipient_type: 'individual', recipient, type: 'text', text: { body: 'hi' } }
}

function poll(fields: object): object {
  const asked = { name: 'Which?', options: ['a', 'b'], selectable_count: 1, ...fields }
  return { messaging_product: 'whatsapp', to: '16505551234', type: 'poll', poll: asked }
}
