import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from './http-server.js'

const account = { businessAccountId: '20001', accessToken: 'token' }
const hello = { id: '1', name: 'hello', language: 'en', status: 'APPROVED', category: 'UTILITY', components: [] }

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

const list = (totalTimeoutMs = 10_000) => client.listTemplates(account, { callTimeoutMs: 5_000, totalTimeoutMs })
const queryOf = (index: number) => new URL(server.taken[index]?.path ?? '', server.url).searchParams

/** Answers with pages of one template each, named by number; every page except the last links to the next. */
function pages(count: number): Answering {
  return (request, response) => {
    const after = Number(new URL(request.path, server.url).searchParams.get('after') ?? 0)
    const next = after + 1 < count ? { next: 'https://elsewhere.example/' } : {}
    const paging = { cursors: { before: 'b', after: String(after + 1) }, ...next }
    json(200, { data: [{ ...hello, name: `t${after}` }], paging })(request, response)
  }
}

describe('listing templates', () => {
  it('requests the fields, and reads the needed parts', async () => {
    const components = [{ type: 'BODY', text: 'a\u0000b' }, 'no component']
    const item = { id: 7, name: 'x', language: 'pt_BR', status: 'paused', category: 'marketing', components }
    answer = json(200, { data: [hello, { ...item, parameter_format: 'NAMED' }] })
    expect(await list()).toEqual({
      outcome: 'listed',
      templates: [
        {
          upstreamId: '1',
          name: 'hello',
          language: 'en',
          status: 'APPROVED',
          category: 'UTILITY',
          parameterFormat: null,
          components: [],
        },
        {
          upstreamId: null,
          name: 'x',
          language: 'pt_BR',
          status: 'PAUSED',
          category: 'MARKETING',
          parameterFormat: 'NAMED',
          components: [{ type: 'BODY', text: 'a\ufffdb' }],
        },
      ],
    })
    const [request] = server.taken
    expect(request).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer token' } })
    expect(request?.path).toMatch(/^\/v23\.0\/20001\/message_templates\?/)
    expect(queryOf(0).get('fields')).toBe('id,name,language,status,category,parameter_format,components')
  })

  it('reads page after page by cursor', async () => {
    answer = pages(3)
    const listed = await list()
    expect(listed.outcome === 'listed' && listed.templates.map(({ name }) => name)).toEqual(['t0', 't1', 't2'])
    expect([0, 1, 2].map((index) => queryOf(index).get('after'))).toEqual([null, '1', '2'])
  })

  it('leaves out templates that cannot be sent', async () => {
    answer = json(200, { data: [null, {}, { ...hello, name: '' }, { ...hello, language: 'x'.repeat(600) }, hello] })
    expect(await list()).toMatchObject({ outcome: 'listed', templates: [{ name: 'hello' }] })
  })

  it('requests fewer templates if a page is too large to read', async () => {
    answer = (request, response) => {
      const limit = Number(new URL(request.path, server.url).searchParams.get('limit'))
      const data = Array.from({ length: limit }, (_, n) => ({ ...hello, name: `t${n}`, filler: 'x'.repeat(50_000) }))
      json(200, { data })(request, response)
    }
    const listed = await list()
    expect(listed.outcome === 'listed' && listed.templates.length).toBe(20)
    expect(server.taken.map((_, index) => queryOf(index).get('limit'))).toEqual(['100', '20'])
  })

  it('gives up if a single template is too large', async () => {
    answer = json(200, { data: [{ ...hello, filler: 'x'.repeat(1_100_000) }] })
    expect(await list()).toMatchObject({ outcome: 'failed', text: expect.stringContaining('too large') })
  })

  it('gives up if the list never ends', async () => {
    answer = pages(1_000)
    expect(await list(60_000)).toMatchObject({ outcome: 'failed', text: expect.stringContaining('400 pages') })
  })

  it('gives up if all pages together take too long', async () => {
    answer = pages(1_000)
    expect(await list(0)).toMatchObject({ outcome: 'failed' })
  })

  const refusal = (code: number) => ({ error: { message: 'no', code } })
  it.each<[string, Answering, object]>([
    ['a wrong token', json(401, refusal(190)), { outcome: 'refused', because: 'credentials', code: 190 }],
    ['an unknown account', json(400, refusal(100)), { outcome: 'refused', because: 'request', code: 100 }],
    [
      'a limit',
      json(400, refusal(80007), { 'retry-after': '9' }),
      { outcome: 'limited', code: 80007, retryAfterMs: 9_000 },
    ],
    ['a busy upstream', json(500, refusal(2)), { outcome: 'failed' }],
    ['a bare 403', bare(403), { outcome: 'refused', because: 'credentials', code: 403 }],
    ['a bare 429', bare(429), { outcome: 'limited', code: 429 }],
    ['a bare 502', bare(502), { outcome: 'failed' }],
    ['a success without a list', json(200, {}), { outcome: 'failed' }],
    [
      'a next page without a cursor',
      json(200, { data: [], paging: { next: 'https://elsewhere.example/' } }),
      { outcome: 'failed' },
    ],
    ['a lost connection', hangUp, { outcome: 'failed' }],
  ])('reports %s', async (_name, answering, expected) => {
    answer = answering
    expect(await list()).toMatchObject({ ...expected, text: expect.stringMatching(/./) })
  })
})
