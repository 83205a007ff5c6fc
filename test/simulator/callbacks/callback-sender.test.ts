import { beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type BatchItem, envelopeOf } from '../../../simulator/callbacks/batches.js'
import { concurrency } from '../../../simulator/callbacks/callback-sender.js'
import type { BusinessNumber } from '../../../simulator/numbers/business-numbers.js'
import type { MessagesValue } from '../../../src/upstream/wire.js'
import {
  appSecret,
  phoneNumberId,
  type Receiver,
  registration,
  startReceiver,
  useWorld,
} from '../../support/simulator.js'

const world = useWorld()
let receiver: Receiver

beforeAll(async () => {
  receiver = world.receiver
})
beforeEach(async () => {
  await world.control('POST', '/reset')
  await world.control('POST', '/settings', { delay_ms: 1 })
  await world.control('PUT', `/numbers/${phoneNumberId}`, registration(receiver.url))
  Object.assign(receiver, { taken: [], posts: 0, forged: 0, answer: () => 200 })
})

/** Sends to many recipients at once and waits for all callbacks. */
async function sendMany(count: number): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, n) => world.sendText(`1650556${1000 + n}`)))
  await world.idle()
}

/** The statuses of each message, in order of arrival. */
function journeys(): string[] {
  const kinds = new Map<string, string[]>()
  for (const { id, status } of receiver.statuses()) kinds.set(id, [...(kinds.get(id) ?? []), status])
  return Array.from(kinds.values(), (row) => row.join(' '))
}

describe('status callbacks', () => {
  it('arrive in order for every message', async () => {
    await sendMany(60)
    expect(journeys()).toEqual(Array(60).fill('sent delivered read'))
    expect(receiver.forged).toBe(0)
  })

  it('are sent one by one with a batch of 1', async () => {
    await world.control('POST', '/settings', { batch: 1 })
    await sendMany(10)
    expect(receiver.posts).toBe(30)
  })

  it('are all sent twice with duplicate 1', async () => {
    await world.control('POST', '/settings', { duplicate: 1 })
    await sendMany(5)
    const counts = new Map<string, number>()
    for (const body of receiver.taken) counts.set(body, (counts.get(body) ?? 0) + 1)
    expect([...counts.values()].every((count) => count === 2)).toBe(true)
    expect(receiver.statuses()).toHaveLength(30)
  })

  it('are all reordered with disorder 1', async () => {
    await world.control('POST', '/settings', { disorder: 1 })
    await sendMany(20)
    expect(journeys()).not.toContain('sent delivered read')
    for (const row of journeys()) expect(row.split(' ').sort()).toEqual(['delivered', 'read', 'sent'])
  })

  it('are not sent when switched off', async () => {
    await world.control('POST', '/settings', { statuses: false })
    await sendMany(3)
    expect(receiver.posts).toBe(0)
  })

  it('are repeated until the service accepts them', async () => {
    const answers = [503, null, 200]
    receiver.answer = () => (answers.length > 0 ? (answers.shift() ?? null) : 200)
    await world.sendText('16505551234')
    await world.idle()
    expect(journeys()).toEqual(['sent delivered read'])
    expect(receiver.posts).toBe(5)
  })

  it('follow a number to its new URL', async () => {
    const next = await startReceiver()
    receiver.answer = () => 503
    await world.sendText('16505551234')
    await expect.poll(() => receiver.posts).toBeGreaterThan(0)
    await world.control('PUT', `/numbers/${phoneNumberId}`, registration(next.url))
    await world.idle()
    expect(next.statuses().map(({ status }) => status)).toEqual(['sent', 'delivered', 'read'])
    await next.close()
  })

  it('are dropped when the number is removed', async () => {
    receiver.answer = () => 503
    await world.sendText('16505551234')
    await expect.poll(() => receiver.posts).toBeGreaterThan(0)
    await world.control('DELETE', `/numbers/${phoneNumberId}`)
    await world.idle()
    expect(receiver.taken).toEqual([])
  })
})

describe('inbound messages', () => {
  const inbound = (body: object) => world.control('POST', '/inbound', { phone_number_id: phoneNumberId, ...body })

  it('reach the service in the upstream’s form before the control answers', async () => {
    const { status, body } = await inbound({ from: '+1 650 555 1234', name: 'Zoë', type: 'text', text: 'Olá / 😀' })
    expect([status, body]).toEqual([
      200,
      { success: true, message_id: expect.stringMatching(/^wamid\./), delivered: true, status: 200 },
    ])
    expect(receiver.envelopes()).toEqual([
      {
        object: 'whatsapp_business_account',
        entry: [
          {
            id: '419561257915477',
            changes: [
              {
                field: 'messages',
                value: {
                  messaging_product: 'whatsapp',
                  metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
                  contacts: [{ profile: { name: 'Zoë' }, wa_id: '16505551234' }],
                  messages: [
                    {
                      from: '16505551234',
                      id: body.message_id,
                      timestamp: expect.stringMatching(/^\d{10}$/),
                      type: 'text',
                      text: { body: 'Olá / 😀' },
                    },
                  ],
                },
              },
            ],
          },
        ],
      },
    ])
  })

  it('are escaped before they are signed', async () => {
    await inbound({ from: '16505551234', type: 'text', text: 'Olá / 😀' })
    expect(receiver.taken[0]).toContain('"Ol\\u00e1 \\/ \\ud83d\\ude00"')
    expect(receiver.forged).toBe(0)
  })

  it('keep the given id, time, context and payload', async () => {
    const message = {
      from: '16505551234',
      id: 'wamid.given',
      timestamp: '1750025136',
      type: 'interactive',
      context: { from: '15550783881', id: 'wamid.asked' },
      interactive: { type: 'button_reply', button_reply: { id: 'cancel-button', title: 'Cancel' } },
    }
    await inbound(message)
    expect(receiver.messages()).toEqual([message])
  })

  it('come from people without a number, with one or with both', async () => {
    const user = 'US.13491208655302741918'
    await inbound({ user_id: user, username: 'ann', type: 'text', text: { body: 'a' } })
    await inbound({ user_id: user, from: '16505551234', type: 'text', text: { body: 'b' } })
    const [hidden, both] = receiver.values()
    expect(hidden?.contacts).toEqual([{ profile: { username: 'ann' }, user_id: user }])
    expect(hidden?.messages?.[0]).not.toHaveProperty('from')
    expect(hidden?.messages?.[0]).toMatchObject({ from_user_id: user })
    expect(both?.contacts).toEqual([{ wa_id: '16505551234', user_id: user }])
    expect(both?.messages?.[0]).toMatchObject({ from: '16505551234', from_user_id: user })
  })

  it('of a group contain its id and the sender', async () => {
    await inbound({ from: '16505551234', name: 'Ann', group_id: 'Y2FwaV9ncm91cDox', type: 'text', text: 'hi' })
    const [value] = receiver.values()
    expect(value?.contacts).toEqual([{ profile: { name: 'Ann' }, wa_id: '16505551234' }])
    expect(value?.messages).toMatchObject([{ from: '16505551234', group_id: 'Y2FwaV9ncm91cDox', text: { body: 'hi' } }])
  })

  it.each([
    ['user_changed_user_id', { from: 'US.1111111111', system: { user_id: 'US.2222222222' } }],
    ['user_id_update', { system: { previous: 'US.1111111111', current: 'US.2222222222' } }],
    ['user_changed_number', { from: '16505551234', system: { wa_id: '12195555358' } }],
    ['customer_identity_changed', { from: '16505551234', system: { identity: 'hash', customer: '16505551234' } }],
  ])('carry %s as given, with a sender or without one', async (type, { system, ...sender }) => {
    const notice = { ...sender, type: 'system', system: { ...system, type, body: 'changed' } }
    expect((await inbound(notice)).status).toBe(200)
    const [value] = receiver.values()
    expect(value).not.toHaveProperty('contacts')
    expect(value?.messages).toEqual([{ ...notice, id: expect.any(String), timestamp: expect.any(String) }])
  })

  it('link a user id to a number, and later sends return both ids', async () => {
    await inbound({ user_id: 'US.3333333333', from: '5531987654321', type: 'text', text: 'oi' })
    // The network's id of this number has no 9 after the area code.
    const { body } = await world.sendText('5531987654321')
    expect(body.contacts).toEqual([{ input: '5531987654321', wa_id: '553187654321', user_id: 'US.3333333333' }])
  })

  it('of kind system have no contacts, those of kind unsupported have their error', async () => {
    await inbound({ from: '16505551234', type: 'system', system: { body: 'x', wa_id: '12195555358' } })
    await inbound({ from: '16505551234', type: 'unsupported' })
    const [system, unsupported] = receiver.values()
    expect(system).not.toHaveProperty('contacts')
    expect(unsupported?.messages?.[0]?.errors?.[0]?.code).toBe(131051)
  })

  it('are repeated if the service refuses them, and the answer says so', async () => {
    receiver.answer = () => (receiver.posts === 1 ? 503 : 200)
    const { body } = await inbound({ from: '16505551234', type: 'text', text: 'x' })
    expect(body).toMatchObject({ success: true, delivered: false, status: 503 })
    await world.idle()
    expect(receiver.messages()).toHaveLength(1)
  })

  it('are not repeated on request', async () => {
    receiver.answer = () => null
    const { body } = await inbound({ from: '16505551234', type: 'text', text: 'x', repeat: false })
    expect(body).toMatchObject({ delivered: false, status: null })
    await world.idle()
    expect(receiver.posts).toBe(1)
  })

  it.each<[object, string]>([
    [{ type: 'text', text: 'x' }, 'from is required'],
    [{ from: '16505551234', text: 'x' }, 'type is required'],
    [{ from: '16505551234', type: 'text' }, 'text is required'],
    [{ from: '16505551234', type: 'text', text: {} }, 'text.body is required'],
    [{ from: '16505551234', type: 'image', image: 'x' }, 'image must be an object'],
    [{ from: '16505551234', type: 'contacts', contacts: {} }, 'contacts must be an array'],
    [{ from: 'me', type: 'text', text: 'x' }, 'from must be a phone number'],
    [{ from: '16505551234', type: 'text', text: 'x', timestamp: 'now' }, 'timestamp must be Unix seconds'],
  ])('are refused if they are %j', async (body, message) => {
    const answer = await inbound(body)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, message: expect.stringContaining(message) })
  })

  it('report a template button click as the upstream does', async () => {
    const template = { name: 'oferta_da_semana', language: { code: 'pt_BR' } }
    const parameters = ['name', 'discount'].map((name) => ({ type: 'text', text: 'x', parameter_name: name }))
    const url = { type: 'button', sub_type: 'url', index: 2, parameters: [{ type: 'text', text: 'abc' }] }
    const { body } = await world.send({
      messaging_product: 'whatsapp',
      to: '16505551234',
      type: 'template',
      template: { ...template, components: [{ type: 'body', parameters }, url] },
    })
    const [{ id }] = body.messages as [{ id: string }]
    await world.idle()
    receiver.taken.length = 0
    const press = {
      from: '16505551234',
      type: 'button',
      button: { payload: 'Parar', text: 'Parar' },
      context: { from: '15550783881', id },
    }
    expect((await inbound({ ...press, name: 'Ana' })).body).toMatchObject({ success: true, delivered: true })
    expect(receiver.values()).toMatchObject([{ contacts: [{ profile: { name: 'Ana' }, wa_id: '16505551234' }] }])
    expect(receiver.messages()).toEqual([
      { ...press, id: expect.stringMatching(/^wamid\./), timestamp: expect.stringMatching(/^\d+$/) },
    ])
    const { context: _context, ...bare } = press
    expect((await inbound(bare)).body).toMatchObject({ delivered: true })
    expect(await inbound({ from: '16505551234', type: 'button' })).toMatchObject({
      status: 400,
      body: { message: 'button is required' },
    })
  })

  it('need a registered number', async () => {
    const missing = await world.control('POST', '/inbound', { from: '16505551234', type: 'text', text: 'x' })
    const unknown = await inbound({ phone_number_id: '404', from: '16505551234', type: 'text', text: 'x' })
    expect(missing.body).toMatchObject({ success: false, message: 'phone_number_id is required' })
    expect([unknown.status, unknown.body.error]).toEqual([404, 'Number not found'])
  })
})

describe('callbacks of any content', () => {
  const callback = (body: object) => world.control('POST', '/callback', { phone_number_id: phoneNumberId, ...body })

  it('carry a value, completed with the number’s metadata', async () => {
    const failed = { id: 'wamid.A', status: 'failed', timestamp: '1750025136', errors: [{ code: 131026 }] }
    const { body } = await callback({ value: { statuses: [failed] } })
    expect(body).toEqual({ success: true, delivered: true, status: 200 })
    expect(receiver.values()).toEqual([
      {
        messaging_product: 'whatsapp',
        metadata: { display_phone_number: '15550783881', phone_number_id: phoneNumberId },
        statuses: [failed],
      },
    ])
  })

  it('carry a value of another field unchanged', async () => {
    const value = { event: 'APPROVED', message_template_name: 'hello' }
    await callback({ field: 'message_template_status_update', value })
    expect(receiver.envelopes()[0]?.entry[0]?.changes).toEqual([{ field: 'message_template_status_update', value }])
  })

  it('carry a complete body, even one that is not JSON', async () => {
    const body = {
      object: 'x',
      entry: [
        { id: '1', changes: [] },
        { id: 'é', changes: [] },
      ],
    }
    await callback({ body })
    await callback({ body: 'not json' })
    expect(JSON.parse(receiver.taken[0] ?? '')).toEqual(body)
    expect(receiver.taken[1]).toBe('not json')
  })

  it('need a value or a body', async () => {
    expect(await callback({})).toMatchObject({ status: 400, body: { error: 'Missing required field' } })
  })
})

describe('callbacks due at once', () => {
  it('share a body, with an entry for each number of the same service and secret', async () => {
    await world.control('PUT', '/numbers/222', { app_secret: appSecret, callback_url: receiver.url })
    let open: (status: number) => void = () => {}
    const gate = new Promise<number>((resolve) => {
      open = resolve
    })
    receiver.answer = () => gate
    const calls: Promise<unknown>[] = []
    const tell = (id: string) =>
      calls.push(world.control('POST', '/callback', { phone_number_id: id, value: { statuses: [] } }))
    for (let n = 1; n <= concurrency; n += 1) {
      tell(phoneNumberId)
      await expect.poll(() => receiver.posts).toBe(n)
    }
    for (const id of [phoneNumberId, '222', phoneNumberId]) tell(id)
    await expect
      .poll(() => world.control('POST', '/idle', { timeout_ms: 0 }))
      .toMatchObject({ body: { pending: concurrency + 3 } })
    open(200)
    await Promise.all(calls)
    expect(receiver.posts).toBe(concurrency + 1)
    const shared = receiver.envelopes().at(-1)?.entry ?? []
    expect(Object.fromEntries(shared.map(({ id, changes }) => [id, changes.length]))).toEqual({
      '419561257915477': 2,
      '222': 1,
    })
    await world.control('DELETE', '/numbers/222')
  })

  it('combine neighbouring statuses of a number in one change', () => {
    const status = (id: string): BatchItem => ({
      number: numberOf('1'),
      content: { kind: 'status', status: { id, status: 'sent', timestamp: '1750025136' } },
    })
    const change: BatchItem = { number: numberOf('1'), content: { kind: 'change', change: { field: 'x', value: 1 } } }
    const { entry } = envelopeOf([status('a'), status('b'), change, status('c')])
    const shape = entry[0]?.changes.map(({ field, value }) => [field, (value as MessagesValue).statuses?.length])
    expect(shape).toEqual([
      ['messages', 2],
      ['x', undefined],
      ['messages', 1],
    ])
  })
})

function numberOf(id: string): BusinessNumber {
  return {
    phone_number_id: id,
    display_phone_number: id,
    business_account_id: id,
    access_token: undefined,
    app_secret: 'secret',
    callback_url: 'http://127.0.0.1:1/',
  }
}
