import { readFileSync } from 'node:fs'
import { beforeAll, describe, expect, it } from 'vitest'
import { escapeJson, signBody, startSimulator } from '../../../simulator/index.js'
import { Limits } from '../../../simulator/sending/limits.js'
import type { CallbackEnvelope, MessagesValue } from '../../../src/upstream/wire.js'
import { call, phoneNumberId, startWorld, textTo, useWorld } from '../../support/simulator.js'

describe('the list of messages', () => {
  const world = useWorld({ recordLimit: 3 })

  beforeAll(async () => {
    await world.control('POST', '/settings', { statuses: false })
    for (const to of ['16505550001', '525512345678', '16505550003', '16505550004']) await world.sendText(to, `to ${to}`)
  })

  it('contains the newest, newest last, with the body as received', async () => {
    const { body } = await world.control('GET', '/messages')
    expect(body).toMatchObject({ success: true, total: 3, accepted: 4, refused: 0 })
    const messages = body.messages as Array<Record<string, unknown>>
    expect(messages.map(({ to }) => to)).toEqual(['525512345678', '16505550003', '16505550004'])
    expect(messages[0]).toEqual({
      id: expect.stringMatching(/^wamid\./),
      phone_number_id: phoneNumberId,
      to: '525512345678',
      wa_id: '5215512345678',
      type: 'text',
      payload: textTo('525512345678', 'to 525512345678'),
      accepted_at: expect.stringMatching(/^\d{4}-.*Z$/),
      statuses: [],
    })
  })

  it.each([
    ['to=%2B52%2055%201234%205678', 1, 1],
    ['to=5215512345678', 1, 1],
    ['to=16505550001', 0, 0],
    [`phone_number_id=${phoneNumberId}&limit=2`, 3, 2],
    ['phone_number_id=other', 0, 0],
  ])('is filtered by %s', async (query, total, shown) => {
    const { body } = await world.control('GET', `/messages?${query}`)
    expect([body.total, (body.messages as unknown[]).length]).toEqual([total, shown])
  })

  it('refuses an invalid limit', async () => {
    expect(await world.control('GET', '/messages?limit=many')).toMatchObject({
      status: 400,
      body: { success: false, error: 'Invalid parameter', message: expect.stringContaining('limit') },
    })
  })

  it('stays empty while recording is off', async () => {
    await world.control('POST', '/reset')
    await world.control('POST', '/settings', { record: false, statuses: false })
    await world.sendText('16505550001')
    expect((await world.control('GET', '/messages')).body).toMatchObject({ total: 0, accepted: 1 })
  })
})

describe('settings and reset', () => {
  const world = useWorld()

  it('are changed one by one and shown', async () => {
    await world.control('POST', '/settings', { delay_ms: 5, duplicate: 0.5 })
    const { body } = await world.control('GET', '/settings')
    expect(body.settings).toMatchObject({ delay_ms: 5, duplicate: 0.5, batch: 50, statuses: true, slow_ms: 30_000 })
  })

  it.each([
    [{ delay: 5 }, 'delay is not a setting'],
    [{ delay_ms: -1 }, 'delay_ms must be a whole number from 0'],
    [{ duplicate: 2 }, 'duplicate must be a number from 0 to 1'],
    [{ statuses: 'no' }, 'statuses must be true or false'],
  ])('refuse %j', async (change, message) => {
    const answer = await world.control('POST', '/settings', change)
    expect(answer).toMatchObject({
      status: 400,
      body: { error: 'Invalid field', message: expect.stringContaining(message) },
    })
  })

  it('produce the same random results for the same seed', async () => {
    const shuffles = async () => {
      await world.control('POST', '/reset')
      await world.control('POST', '/settings', { delay_ms: 0, disorder: 0.5, seed: 7 })
      for (let n = 0; n < 8; n += 1) {
        await world.sendText(`1650555000${n}`)
        await world.idle()
      }
      const { body } = await world.control('GET', '/messages')
      return (body.messages as Array<{ statuses: string[] }>).map(({ statuses }) => statuses.join(' '))
    }
    const first = await shuffles()
    expect(new Set(first).size).toBeGreaterThan(1)
    expect(await shuffles()).toEqual(first)
  })

  it('are restored by a reset, which deletes messages and pending callbacks and keeps the numbers', async () => {
    await world.control('POST', '/settings', { delay_ms: 60_000 })
    await world.sendText('16505551234')
    expect((await world.control('POST', '/idle', { timeout_ms: 0 })).body).toEqual({ success: false, pending: 3 })
    await world.control('POST', '/reset')
    expect((await world.control('POST', '/idle', { timeout_ms: 0 })).body).toEqual({ success: true, pending: 0 })
    expect((await world.control('GET', '/messages')).body).toMatchObject({ total: 0, accepted: 0 })
    expect((await world.control('GET', '/settings')).body.settings).toMatchObject({ delay_ms: 20, disorder: 0 })
    expect((await world.control('GET', '/numbers')).body.numbers).toHaveLength(1)
    await world.control('POST', '/reset', { numbers: true })
    expect((await world.control('GET', '/numbers')).body.numbers).toEqual([])
  })
})

describe('access', () => {
  it('requires the control token if there is one, and not for the upstream’s API', async () => {
    const world = await startWorld({ controlToken: 'control-token' })
    const url = `${world.simulator.url}/_sim/settings`
    expect(await call('GET', url)).toMatchObject({
      status: 401,
      body: { success: false, error: 'Authorization required' },
    })
    expect(await call('GET', url, undefined, 'wrong')).toMatchObject({ status: 401, body: { error: 'Invalid token' } })
    expect((await call('GET', `${world.simulator.url}/_sim/nothing`)).status).toBe(401)
    expect((await call('GET', url, undefined, 'control-token')).status).toBe(200)
    expect((await world.sendText('16505551234')).status).toBe(200)
    await world.close()
  })

  it('returns errors for unknown routes, and for broken and oversized bodies', async () => {
    const world = await startWorld()
    expect(await world.control('GET', '/nothing')).toMatchObject({ status: 404, body: { error: 'Not found' } })
    const url = `${world.simulator.url}/_sim/inbound`
    expect(await call('POST', url, '[1]')).toMatchObject({ status: 400, body: { error: 'Invalid JSON' } })
    const large = `"${'x'.repeat(4 * 1024 * 1024)}"`
    expect(await call('POST', url, large)).toMatchObject({ status: 413, body: { error: 'Payload too large' } })
    await world.close()
  })

  it.each(['0.0.0.0', '::', '192.0.2.1', 'example.com'])('refuses to listen on %s', async (host) => {
    await expect(startSimulator({ host })).rejects.toThrow(`loopback only, and ${host} is not`)
  })

  it('listens on a public address if allowed', async () => {
    const simulator = await startSimulator({ host: '0.0.0.0', public: true })
    expect(simulator.upstreamUrl).toBe(`${simulator.url}/v23.0`)
    await simulator.close()
  })

  it('closes while answers and callbacks are pending', async () => {
    const world = await startWorld()
    await world.control('POST', '/settings', { delay_ms: 60_000 })
    await world.sendText('16505551234')
    const slow = world.sendText('15550000004').then(
      () => 'answered',
      () => 'broken off',
    )
    await expect.poll(async () => (await world.control('GET', '/messages')).body.total).toBe(2)
    await world.close()
    expect(await slow).toBe('broken off')
  })
})

describe('limits over time', () => {
  const now = 1_750_000_000_000
  const codeOf = (limits: Limits, recipient: string, at: number) =>
    limits.check('1', recipient, { isTemplate: false, now: at })?.body.error.code ?? 'passed'

  it('allow 80 messages in any second of a business number', () => {
    const limits = new Limits()
    for (let n = 0; n <= 80; n += 1) limits.recordInbound('1', `${n}`, now)
    for (let n = 0; n < 80; n += 1) expect(codeOf(limits, `${n}`, now + n)).toBe('passed')
    expect(codeOf(limits, '80', now + 999)).toBe(130429)
    expect(codeOf(limits, '80', now + 1_000)).toBe('passed')
  })

  it('allow a pair one more message every 6 seconds after its burst', () => {
    const limits = new Limits()
    limits.recordInbound('1', 'a', now)
    for (let n = 0; n < 45; n += 1) expect(codeOf(limits, 'a', now)).toBe('passed')
    expect(codeOf(limits, 'a', now + 5_999)).toBe(131056)
    expect(codeOf(limits, 'a', now + 6_000)).toBe('passed')
    expect(codeOf(limits, 'a', now + 6_000)).toBe(131056)
  })

  it('close the window 24 hours after the last message', () => {
    const limits = new Limits()
    limits.recordInbound('1', 'a', now)
    expect(codeOf(limits, 'a', now + 86_399_999)).toBe('passed')
    expect(codeOf(limits, 'a', now + 86_400_000)).toBe(131047)
  })
})

describe('the signature', () => {
  it('covers the escaped form', () => {
    const bytes = escapeJson({ a: 'äöå/😀' })
    expect(bytes).toBe('{"a":"\\u00e4\\u00f6\\u00e5\\/\\ud83d\\ude00"}')
    expect(JSON.parse(bytes)).toEqual({ a: 'äöå/😀' })
  })

  it('is the HMAC-SHA256 of the bytes (RFC 4231, test case 2)', () => {
    expect(signBody('Jefe', 'what do ya want for nothing?')).toBe(
      'sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843',
    )
  })
})

describe('published samples', () => {
  const kinds = [
    'text',
    'image',
    'location',
    'contacts',
    'reaction',
    'order',
    'button',
    'list-reply',
    'unsupported',
    'system',
  ]

  it.each(kinds)('include wh-openapi-%s.json, which the control sends unchanged', async (kind) => {
    const sample = JSON.parse(
      readFileSync(new URL(`../../samples/wh-openapi-${kind}.json`, import.meta.url), 'utf8'),
    ) as CallbackEnvelope
    const value = sample.entry[0]?.changes[0]?.value as MessagesValue
    const world = await startWorld()
    await world.control('POST', '/inbound', {
      phone_number_id: phoneNumberId,
      name: value.contacts?.[0]?.profile?.name,
      ...value.messages?.[0],
    })
    expect(world.receiver.values()).toEqual([value])
    await world.close()
  })
})
