import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { hmacSha256Hex } from '../../src/lib/crypto/signature.js'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const number = { phoneNumberId: '10001', accessToken: 'token' }

let answer: Answering
let server: HttpServer
let client: UpstreamClient

beforeEach(async () => {
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0`)
})

afterEach(async () => {
  await client.close()
  await server.close()
})

const find = () => client.findNumber(number, PATIENCE_MS)
const refusal = (code: number) => ({ error: { message: `(#${code}) title`, type: 'OAuthException', code } })

describe('looking up a number', () => {
  it('requests a field that only numbers have', async () => {
    answer = json(200, { display_phone_number: '+1 555-000-1111', id: '10001' })
    expect(await find()).toEqual({ outcome: 'found' })
    expect(server.taken).toMatchObject([{ method: 'GET', path: '/v23.0/10001?fields=display_phone_number' }])
    expect(server.taken[0]?.headers.authorization).toBe('Bearer token')
  })

  const outcomes: [string, Answering, object][] = [
    ['a wrong token', json(401, refusal(190)), { outcome: 'refused', because: 'credentials', code: 190 }],
    ['a token without permission', json(403, refusal(10)), { outcome: 'refused', because: 'credentials', code: 10 }],
    ['an object that is not there', json(400, refusal(100)), { outcome: 'refused', because: 'number', code: 100 }],
    ['too many requests', json(400, refusal(4)), { outcome: 'failed' }],
    ['a busy upstream', json(503, refusal(2)), { outcome: 'failed' }],
    ['a broken upstream', json(500, refusal(1)), { outcome: 'failed' }],
    ['a bare 401', bare(401), { outcome: 'refused', because: 'credentials', code: 401 }],
    ['a bare 404', bare(404), { outcome: 'failed' }],
    ['a bare 502', bare(502), { outcome: 'failed' }],
    ['another number', json(200, { id: '10002' }), { outcome: 'failed' }],
    ['a success that says nothing', json(200, {}), { outcome: 'failed' }],
    ['a page that is not JSON', bare(200), { outcome: 'failed' }],
    ['a lost connection', hangUp, { outcome: 'failed' }],
  ]

  it.each(outcomes)('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await find()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
    expect(server.taken).toHaveLength(1)
  })

  it('fails if the upstream cannot be reached', async () => {
    await server.close()
    expect(await find()).toEqual({ outcome: 'failed', text: expect.stringContaining('no answer') })
  })
})

describe('the proof of a known app secret', () => {
  const proven = { ...number, appSecret: 'secret' }
  const PROOF = hmacSha256Hex('secret', 'token')
  const wrongProof: Answering = json(400, {
    error: { message: 'Invalid appsecret_proof provided in the API argument', type: 'GraphMethodException', code: 100 },
  })
  const paths = () => server.taken.map(({ path }) => path)

  it('is in the query', async () => {
    answer = json(200, { id: '10001' })
    expect(await client.findNumber(proven, PATIENCE_MS)).toEqual({ outcome: 'found' })
    expect(paths()).toEqual([`/v23.0/10001?fields=display_phone_number&appsecret_proof=${PROOF}`])
  })

  it('is left out once it was refused: the secret is that of another app, and the token works', async () => {
    answer = (request, response) =>
      request.path.includes(PROOF) ? wrongProof(request, response) : json(200, { id: '10001' })(request, response)
    for (let times = 0; times < 2; times += 1) {
      expect(await client.findNumber(proven, PATIENCE_MS)).toEqual({ outcome: 'found' })
    }
    expect(paths().map((path) => path.includes('appsecret_proof'))).toEqual([true, false, false])
  })
})
