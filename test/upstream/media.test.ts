import { randomBytes } from 'node:crypto'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import {
  type Answering,
  bare,
  type HttpServer,
  hangUp,
  json,
  readForm,
  startHttpServer,
} from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const number = { phoneNumberId: '10001', accessToken: 'token' }
const content = randomBytes(300_000)

let folder: string
let answer: Answering
let server: HttpServer
let client: UpstreamClient

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'parley-upload-'))
  await writeFile(join(folder, 'spooled'), content)
  server = await startHttpServer((request, response) => answer(request, response))
  client = createUpstreamClient(`${server.url}/v23.0`)
})

afterEach(async () => {
  await client.close()
  await server.close()
  await rm(folder, { recursive: true })
})

function refusal(code: number, details = `details of ${code}`) {
  return { error: { message: `(#${code}) title`, type: 'OAuthException', code, error_data: { details } } }
}

describe('uploading a file', () => {
  const upload = (size = content.length) =>
    client.uploadMedia(
      number,
      { path: join(folder, 'spooled'), size, mimeType: 'image/jpeg', extension: 'jpg' },
      PATIENCE_MS,
    )

  it("sends it in the upstream's form, with a known length", async () => {
    answer = json(200, { id: '4490709327384033' })
    expect(await upload()).toEqual({ outcome: 'uploaded', mediaId: '4490709327384033' })
    const [request] = server.taken
    expect(request).toMatchObject({ method: 'POST', path: '/v23.0/10001/media' })
    expect(request?.headers).toMatchObject({
      authorization: 'Bearer token',
      'content-length': String(request?.body.length),
    })
    expect(request?.headers['transfer-encoding']).toBeUndefined()
    const { file, ...fields } = await readForm(request as NonNullable<typeof request>)
    expect(fields).toEqual({ messaging_product: 'whatsapp', type: 'image/jpeg' })
    expect(file).toMatchObject({ name: 'file.jpg', type: 'image/jpeg' })
    expect(Buffer.from(await (file as File).arrayBuffer()).equals(content)).toBe(true)
  })

  const outcomes: [string, Answering, object][] = [
    ['a wrong file', json(400, refusal(100)), { outcome: 'refused', because: 'message', code: 100 }],
    ['a wrong token', json(401, refusal(190)), { outcome: 'refused', because: 'credentials', code: 190 }],
    ['a busy upstream', json(400, refusal(131016)), { outcome: 'failed', code: 131016, mayRetry: true }],
    [
      'too many requests',
      json(400, refusal(130429), { 'retry-after': '7' }),
      { outcome: 'failed', code: 130429, mayRetry: true, retryAfterMs: 7_000 },
    ],
    ['a broken upstream', json(500, refusal(1)), { outcome: 'failed', code: 1, mayRetry: true }],
    ['a bare 502', bare(502), { outcome: 'failed', code: null, mayRetry: true }],
    ['a bare 429', bare(429, { 'retry-after': '3' }), { outcome: 'failed', mayRetry: false, retryAfterMs: 3_000 }],
    ['a bare 403', bare(403), { outcome: 'refused', because: 'credentials', code: 403 }],
    ['a bare 413', bare(413), { outcome: 'refused', because: 'message', code: 413 }],
    ['a success without an id', json(200, { id: 7 }), { outcome: 'failed', code: null, mayRetry: false }],
    ['an id that cannot be stored', json(200, { id: 'a\0b' }), { outcome: 'failed', mayRetry: false }],
    ['a lost connection', hangUp, { outcome: 'failed', code: null, mayRetry: true }],
  ]

  it.each(outcomes)('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await upload()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
    expect(server.taken).toHaveLength(1)
  })

  it('fails if the file has another length, or is missing', async () => {
    answer = json(200, { id: '1' })
    expect(await upload(content.length - 1)).toMatchObject({ outcome: 'failed' })
    await rm(join(folder, 'spooled'))
    expect(await upload()).toMatchObject({ outcome: 'failed' })
  })

  it('fails if the upstream cannot be reached', async () => {
    await server.close()
    expect(await upload()).toMatchObject({ outcome: 'failed', code: null, mayRetry: true })
  })
})

describe('looking up a file', () => {
  const find = (id = '1003383421387256') => client.findMedia(number, id, PATIENCE_MS)
  const url = 'https://lookaside.example/file?asset_id=1'

  it('uses the number and its token', async () => {
    answer = json(200, { url, mime_type: 'audio/ogg; codecs=opus', file_size: '4711', id: '1003383421387256' })
    expect(await find()).toEqual({ outcome: 'found', url, mimeType: 'audio/ogg; codecs=opus', size: 4711 })
    expect(server.taken).toMatchObject([
      {
        method: 'GET',
        path: '/v23.0/1003383421387256?phone_number_id=10001',
        headers: { authorization: 'Bearer token' },
      },
    ])
  })

  it('requests no other path, for any id', async () => {
    answer = json(200, { url })
    expect(await find('../x?y#z')).toMatchObject({ outcome: 'found' })
    expect(server.taken[0]?.path).toBe('/v23.0/..%2Fx%3Fy%23z?phone_number_id=10001')
  })

  it.each([
    [4711, 4711],
    [undefined, null],
    ['', null],
    ['many', null],
    [-1, null],
  ])('reads the size %j', async (file_size, size) => {
    answer = json(200, { url, file_size })
    expect(await find()).toEqual({ outcome: 'found', url, mimeType: null, size })
  })

  const outcomes: [string, Answering, object][] = [
    ['a file that is not there', json(400, refusal(100)), { outcome: 'gone', text: 'details of 100' }],
    ['a 404', bare(404), { outcome: 'gone' }],
    ['a busy upstream', json(500, refusal(131016)), { outcome: 'failed', text: 'details of 131016' }],
    ['a wrong token', json(401, refusal(190)), { outcome: 'failed', text: 'details of 190' }],
    ['a bare 502', bare(502), { outcome: 'failed' }],
    ['a success without an address', json(200, { id: '1' }), { outcome: 'failed' }],
    ['a lost connection', hangUp, { outcome: 'failed' }],
  ]

  it.each(outcomes)('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await find()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
  })
})
