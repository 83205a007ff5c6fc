import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { createUpstreamClient, type TemplateCursor, type UpstreamClient } from '../../src/upstream/client.js'
import { type Answering, bare, type HttpServer, hangUp, json, startHttpServer } from '../support/http-server.js'
import { PATIENCE_MS } from '../support/patience.js'

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

const list = (cursor: TemplateCursor | null = null) => client.listTemplates(account, cursor, PATIENCE_MS)
const queryOf = (index: number) => new URL(server.taken[index]?.path ?? '', server.url).searchParams

describe('listing templates', () => {
  it('requests the fields, and reads the needed parts', async () => {
    const components = [{ type: 'BODY', text: 'a\u0000b' }, 'no component']
    const item = { id: 7, name: 'x', language: 'pt_BR', status: 'paused', category: 'marketing', components }
    const reported = { rejected_reason: 'INVALID_FORMAT', quality_score: { score: 'GREEN', date: 1 } }
    answer = json(200, {
      data: [
        { ...hello, rejected_reason: 'NONE' },
        { ...item, ...reported, parameter_format: 'NAMED' },
      ],
    })
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
          rejectedReason: null,
          quality: null,
        },
        {
          upstreamId: null,
          name: 'x',
          language: 'pt_BR',
          status: 'PAUSED',
          category: 'MARKETING',
          parameterFormat: 'NAMED',
          components: [{ type: 'BODY', text: 'a\ufffdb' }],
          rejectedReason: 'INVALID_FORMAT',
          quality: 'GREEN',
        },
      ],
      next: null,
    })
    const [request] = server.taken
    expect(request).toMatchObject({ method: 'GET', headers: { authorization: 'Bearer token' } })
    expect(request?.path).toMatch(/^\/v23\.0\/20001\/message_templates\?/)
    expect(queryOf(0).get('fields')).toBe(
      'id,name,language,status,category,parameter_format,components,rejected_reason,quality_score',
    )
  })

  it('continues by cursor', async () => {
    answer = json(200, { data: [hello], paging: { cursors: { after: 'x' }, next: 'https://elsewhere.example/' } })
    const first = await list()
    expect(first).toMatchObject({ outcome: 'listed', next: { after: 'x', limit: 100 } })
    answer = json(200, { data: [hello], paging: { cursors: { after: 'y' } } })
    expect(first.outcome === 'listed' && (await list(first.next))).toMatchObject({ next: null })
    expect([0, 1].map((index) => queryOf(index).get('after'))).toEqual([null, 'x'])
  })

  it('shows a template of a page once', async () => {
    answer = json(200, { data: [hello, { ...hello, status: 'PAUSED' }] })
    expect(await list()).toMatchObject({ templates: [{ name: 'hello', status: 'PAUSED' }] })
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
    const first = await list()
    expect(first).toMatchObject({ outcome: 'listed', templates: [], next: { after: null, limit: 20 } })
    const second = first.outcome === 'listed' && (await list(first.next))
    expect(second && second.outcome === 'listed' && second.templates.length).toBe(20)
    expect(server.taken.map((_, index) => queryOf(index).get('limit'))).toEqual(['100', '20'])
  })

  it('gives up if a single template is too large', async () => {
    answer = json(200, { data: [{ ...hello, filler: 'x'.repeat(1_100_000) }] })
    expect(await list({ after: 'x', limit: 1 })).toMatchObject({
      outcome: 'failed',
      text: expect.stringContaining('too large'),
    })
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
