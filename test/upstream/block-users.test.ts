import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const number = { phoneNumberId: '10001', accessToken: 'token' }
const person = { user: '16505550001' }
const failed = (errors: unknown) => ({
  messaging_product: 'whatsapp',
  block_users: { added_users: [], failed_users: [{ input: person.user, errors }] },
})
const whole = { error: { code: 139100, message: 'Failed', error_data: { details: 'see the list' } } }
const error = (code: number) => ({ error: { code, message: 'title' } })
const reason = { code: 131047, message: 'Re-engagement required', error_data: { details: 'not in 24 hours' } }

let answer: Answering
let server: HttpServer
let client: UpstreamClient

beforeEach(async () => {
  answer = json(200, { messaging_product: 'whatsapp', block_users: { added_users: [{ input: person.user }] } })
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0`)
})

afterEach(async () => {
  await client.close()
  await server.close()
})

const block = (isBlocked = true) => client.blockUser(number, { person, isBlocked }, PATIENCE_MS)

describe('blocking', () => {
  it.each([
    [true, 'POST'],
    [false, 'DELETE'],
  ])('of a person: %s', async (isBlocked, method) => {
    expect(await block(isBlocked)).toEqual({ outcome: 'done' })
    expect(server.taken).toMatchObject([
      { method, path: '/v23.0/10001/block_users', headers: { authorization: 'Bearer token' } },
    ])
    const [{ body } = { body: '' }] = server.taken
    expect(JSON.parse(String(body))).toEqual({ messaging_product: 'whatsapp', block_users: [person] })
  })

  it.each<[string, Answering, object]>([
    ['in part', json(400, { ...failed([reason]), ...whole }), { code: 131047, text: 'not in 24 hours' }],
    ['in part, with 200', json(200, failed([reason])), { code: 131047, text: 'not in 24 hours' }],
    ['without a reason', json(400, { ...failed('?'), ...whole }), { code: 139100, text: 'see the list' }],
  ])('is refused %s', async (_what, answering, expected) => {
    answer = answering
    expect(await block()).toEqual({ outcome: 'refused', because: 'request', ...expected })
  })

  it('may have no answer', async () => {
    answer = hangUp
    expect(await block()).toMatchObject({ outcome: 'failed', code: null, text: expect.stringContaining('no answer') })
  })

  it('may find nobody', async () => {
    await server.close()
    expect(await block()).toMatchObject({ outcome: 'failed', code: null, text: expect.stringContaining('no answer') })
  })

  it.each<[string, Answering, object]>([
    ['a wrong token', json(401, error(190)), { outcome: 'refused', because: 'credentials', code: 190 }],
    ['a wrong token, by a proxy', bare(401), { outcome: 'refused', because: 'credentials', code: 401 }],
    [
      'a rate limit',
      json(400, error(130429), { 'retry-after': '7' }),
      { outcome: 'failed', isLimited: true, code: 130429, retryAfterMs: 7_000 },
    ],
    [
      "a person's rate limit",
      json(200, failed([{ code: 80007, message: 'limit' }])),
      { outcome: 'failed', isLimited: true, code: 80007, text: 'limit' },
    ],
    ['a rate limit, by a proxy', bare(429), { outcome: 'failed', isLimited: true, code: 429 }],
    ['a pause', json(400, error(131016)), { outcome: 'failed', isLimited: false, code: 131016 }],
    ['an error of the server', json(500, error(131000)), { outcome: 'failed', isLimited: false, code: 131000 }],
    ['an error of a proxy', bare(502), { outcome: 'failed', isLimited: false, code: 502 }],
    ['a proxy that knows no such path', bare(404), { outcome: 'refused', because: 'request', code: 404 }],
  ])('reports %s', async (_what, answering, expected) => {
    answer = answering
    expect(await block()).toMatchObject(expected)
  })
})
