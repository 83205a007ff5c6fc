import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

const account = { businessAccountId: '20001', accessToken: 'token' }

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

const create = () => client.createTemplate(account, { name: 'promo' }, PATIENCE_MS)
const refused = {
  message: 'Invalid parameter',
  code: 100,
  error_subcode: 2388299,
  error_user_title: 'No',
  error_user_msg: 'Why',
}

describe('creating a template', () => {
  it('reads id, status and category', async () => {
    answer = json(200, { id: 17, status: 'pending', category: 'utility' })
    const created = { outcome: 'created', upstreamId: null, status: 'PENDING', category: 'UTILITY' }
    expect(await create()).toMatchObject({ outcome: 'unknown' })
    answer = json(200, { id: '17', status: 'pending', category: 'utility' })
    expect(await create()).toEqual({ ...created, upstreamId: '17' })
    expect(server.taken[0]).toMatchObject({ method: 'POST', path: '/v23.0/20001/message_templates' })
  })

  it.each([
    [
      'a refusal with words for people',
      json(400, { error: refused }),
      {
        outcome: 'refused',
        because: 'request',
        code: 100,
        subcode: 2388299,
        text: 'No: Why',
      },
    ],
    [
      'refused credentials',
      json(401, { error: { message: 'Expired', code: 190 } }),
      {
        outcome: 'refused',
        because: 'credentials',
        code: 190,
      },
    ],
    ['a rate limit', json(400, { error: { message: 'Too many', code: 80007 } }), { outcome: 'limited', code: 80007 }],
    ['a busy server', json(500, { error: { message: 'Busy', code: 2 } }), { outcome: 'failed', text: 'Busy' }],
    ['an error of the server', json(500, { error: { message: 'Oops', code: 1 } }), { outcome: 'unknown' }],
    ['a proxy in between', bare(502), { outcome: 'unknown' }],
    ['an answer without an id', json(200, {}), { outcome: 'unknown' }],
    ['a connection that breaks', hangUp, { outcome: 'unknown' }],
  ])('reports %s', async (_, given, expected) => {
    answer = given
    expect(await create()).toMatchObject(expected)
  })

  it('reports that nothing was sent if there is no connection', async () => {
    await server.close()
    expect(await create()).toMatchObject({ outcome: 'failed' })
  })
})

describe('uploading an example', () => {
  it('begins a session of the token’s app, and sends the bytes to it', async () => {
    const folder = await mkdtemp(join(tmpdir(), 'parley-example-'))
    const path = join(folder, 'file')
    await writeFile(path, 'bytes')
    answer = (request, response) => {
      if (request.path.endsWith('/app')) return json(200, { id: '9' })(request, response)
      if (request.path.includes('/uploads?')) return json(200, { id: 'upload:abc?sig=x' })(request, response)
      return json(200, { h: '4::handle' })(request, response)
    }
    const file = { path, size: 5, mimeType: 'image/png', extension: 'png' }
    expect(await client.uploadExample(account, file, PATIENCE_MS)).toEqual({ outcome: 'uploaded', handle: '4::handle' })
    expect(server.taken.map((taken) => taken.path)).toEqual([
      '/v23.0/app',
      '/v23.0/9/uploads?file_name=example.png&file_length=5&file_type=image%2Fpng',
      '/v23.0/upload:abc?sig=x',
    ])
    await rm(folder, { recursive: true })
  })

  it('refuses a session that is none', async () => {
    answer = json(200, { id: 'upload:a b' })
    const file = { path: '/nowhere', size: 5, mimeType: 'image/png', extension: 'png' }
    expect(await client.uploadExample(account, file, PATIENCE_MS)).toMatchObject({ outcome: 'unknown' })
  })
})
