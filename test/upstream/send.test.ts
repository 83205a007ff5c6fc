import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import type { OutboundMessage } from '../../src/upstream/wire.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const number = { phoneNumberId: '10001', accessToken: 'token' }
const message: OutboundMessage = {
  messaging_product: 'whatsapp',
  recipient_type: 'individual',
  to: '16505550001',
  biz_opaque_callback_data: 'ours',
  type: 'text',
  text: { body: 'Olá' },
}

let answer: Answering
let server: HttpServer
let client: UpstreamClient

beforeEach(async () => {
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0/`)
})

afterEach(async () => {
  await client.close()
  await server.close()
})

const send = () => client.send(number, message, PATIENCE_MS)

function refusal(code: number) {
  return { error: { message: 'title', code, error_data: { details: `details of ${code}` } } }
}

describe('sending', () => {
  it('resolves to the user id of the recipient if the answer contains one', async () => {
    answer = json(200, { contacts: [{ input: 'US.1', user_id: 'US.1' }], messages: [{ id: 'wamid.2' }] })
    expect(await send()).toMatchObject({ outcome: 'accepted', waId: null, userId: 'US.1' })
  })

  it('posts the message and resolves to its id', async () => {
    const body = { contacts: [{ input: '16505550001', wa_id: '16505550001' }], messages: [{ id: 'wamid.1' }] }
    answer = json(200, body)
    const accepted = { outcome: 'accepted', upstreamId: 'wamid.1', waId: '16505550001', userId: null, answer: body }
    expect(await send()).toEqual({ ...accepted, http: { status: 200, requestId: null } })
    expect(server.taken).toMatchObject([
      { method: 'POST', path: '/v23.0/10001/messages', headers: { authorization: 'Bearer token' } },
    ])
    expect(JSON.parse(String(server.taken[0]?.body))).toEqual(message)
  })

  const outcomes: [string, Answering, object][] = [
    ['a bad number', json(400, refusal(131026)), { outcome: 'refused', because: 'message', code: 131026 }],
    ['a wrong token', json(401, refusal(190)), { outcome: 'refused', because: 'credentials', code: 190 }],
    ['a busy upstream', json(500, refusal(131016)), { outcome: 'not_accepted', limit: null, mayRetry: true }],
    [
      'too many to one person',
      json(400, refusal(131056), { 'retry-after': '6' }),
      { outcome: 'not_accepted', limit: 'pair', retryAfterMs: 6_000, mayRetry: true },
    ],
    ['too many in all', json(429, refusal(130429)), { outcome: 'not_accepted', limit: 'number', mayRetry: true }],
    ['a broken upstream', json(500, refusal(1)), { outcome: 'unknown', text: 'HTTP 500: details of 1' }],
    ['a bare 502', bare(502), { outcome: 'unknown' }],
    ['a bare 429', bare(429), { outcome: 'not_accepted', limit: 'number', mayRetry: false }],
    ['a bare 403', bare(403), { outcome: 'refused', because: 'credentials', code: 403 }],
    ['a bare 404', bare(404), { outcome: 'refused', because: 'message', code: 404 }],
    ['a success without an id', json(200, {}), { outcome: 'unknown' }],
    ['a lost connection', hangUp, { outcome: 'unknown' }],
  ]

  it.each(outcomes)('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await send()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
  })

  it('reports that the upstream cannot be reached', async () => {
    await server.close()
    expect(await send()).toMatchObject({ outcome: 'not_accepted', limit: null, code: null, mayRetry: true })
  })
})
