import { beforeAll, describe, expect, it } from 'vitest'
import { ENDPOINTS, urlOf } from '../support/endpoints.js'
import { readRaw, sendRaw } from '../support/raw.js'
import { type Answer, useWorld } from '../support/world.js'

const world = useWorld()
let key: string
let organizationId: string

beforeAll(async () => {
  const organization = await world.createOrganization()
  key = organization.key
  organizationId = organization.id
})

const MEGABYTE = 1_048_576
const WITH_BODY = ENDPOINTS.filter(({ body }) => body)

/** Every endpoint with a JSON body, with its token. */
const TARGETS = [
  ...WITH_BODY.map((endpoint) => ({
    method: endpoint.method,
    path: urlOf(endpoint),
    token: () => key,
  })),
  { method: 'POST', path: '/admin/organizations', token: () => world.adminToken },
  { method: 'PATCH', path: '/admin/organizations/:id', token: () => world.adminToken },
  { method: 'PUT', path: '/admin/organizations/:id/upstream', token: () => world.adminToken },
  { method: 'POST', path: '/admin/organizations/:id/keys', token: () => world.adminToken },
].map((target) => ({ ...target, name: `${target.method} ${target.path.replace(/\?.*/, '')}` }))

function expectRefusal(answer: Answer, status: number, error: string) {
  expect([answer.status, answer.body.error]).toEqual([status, error])
  expect(answer.body).toMatchObject({ success: false, message: expect.stringMatching(/./) })
  expect(answer.headers.get('content-type')).toContain('application/json')
}

describe.each(TARGETS)('$name', ({ method, path: pattern, token }) => {
  const path = () => pattern.replace(':id', organizationId)
  const send = (body: string, headers: Record<string, string> = {}) =>
    world.request(method, path(), { key: token(), body, headers })

  it.each(['{', '{"a":1,}', '{a:1}', "{'a':1}", 'nonsense', ' ', '{} {}', '\u0000', '\uFEFF', 'undefined', 'NaN'])(
    'answers 400 Invalid JSON to %j',
    async (body) => expectRefusal(await send(body), 400, 'Invalid JSON'),
  )

  it.each(['[]', '[{}]', 'null', '5', '"text"', 'true', `${'['.repeat(100_000)}${']'.repeat(100_000)}`])(
    'answers 400 Invalid JSON to a body that is not an object: %.20s',
    async (body) => expectRefusal(await send(body), 400, 'Invalid JSON'),
  )

  it.each([
    ['objects', `{"source":${'{"a":'.repeat(99_000)}1${'}'.repeat(99_000)}}`],
    ['arrays', `{"source":${'['.repeat(99_000)}${']'.repeat(99_000)}}`],
  ])('answers 400 Invalid field to 99,000 levels of %s', async (_name, body) => {
    const answer = await send(body)
    expectRefusal(answer, 400, 'Invalid field')
    // If unknown fields are refused, that check comes first.
    expect(answer.body.message).toMatch(/32 levels|The field source is not known/)
  })

  it.each(['{"x":"\\u0000"}', '{"x":{"y":["\\ud800"]}}', '{"x":"\\udc00\\ud800"}'])(
    'answers 400 Invalid field to characters that cannot be stored: %s',
    async (body) => {
      const answer = await send(body)
      expectRefusal(answer, 400, 'Invalid field')
      expect(answer.body.message).toContain('x')
    },
  )

  it.each([
    'text/plain',
    'application/x-www-form-urlencoded',
    'multipart/form-data; boundary=x',
    'application/xml',
    'x',
  ])('answers 415 to %s', async (type) =>
    expectRefusal(await send('{}', { 'content-type': type }), 415, 'Unsupported media type'),
  )

  it('answers 415 to a body without a type', async () => {
    const head = `${method} ${path()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token()}\r\n`
    const { status, body } = readRaw(await sendRaw(world.app.url, `${head}Content-Length: 2\r\n\r\n{}`))
    expect([status, body.error, body.success]).toEqual([415, 'Unsupported media type', false])
  })

  it('answers 413 to a body that is too large, with Content-Length or in chunks', async () => {
    const head = `${method} ${path()} HTTP/1.1\r\nHost: x\r\nConnection: close\r\nAuthorization: Bearer ${token()}\r\nContent-Type: application/json\r\n`
    const text = JSON.stringify({ name: 'x'.repeat(MEGABYTE) })
    const chunked = `Transfer-Encoding: chunked\r\n\r\n${text.length.toString(16)}\r\n${text}\r\n0\r\n\r\n`
    for (const rest of [`Content-Length: ${text.length}\r\n\r\n${text}`, chunked]) {
      const { status, body } = readRaw(await sendRaw(world.app.url, `${head}${rest}`))
      expect([status, body.error, body.success]).toEqual([413, 'Payload too large', false])
      expect(body.message).toContain(String(MEGABYTE))
    }
  })

  it('ignores names that all JavaScript objects have', async () => {
    const names = ['__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'valueOf']
    const answer = await send(
      `{${names.map((name) => `"${name}":{"admin":true,"phone_number":"5511987650009"}`).join(',')}}`,
    )
    expect(answer.status).toBeLessThan(500)
    expect(({} as Record<string, unknown>).admin).toBeUndefined()
  })

  it('reads application/json in any case and with parameters', async () => {
    for (const type of ['Application/JSON', 'application/json; charset=utf-8', 'application/json;charset=UTF-8']) {
      expect((await send('{}', { 'content-type': type })).status).not.toBe(415)
    }
  })
})

describe('the query', () => {
  it.each([
    'chat_id=5511987654321&chat_id=5511987654321',
    'chat_id[]=5511987654321',
    'chat_id=%00',
    'chat_id=%',
    'chat_id=%zz',
    'chat_id=%ff%fe',
    'chat_id=%ed%a0%80',
    'chat_id=__proto__',
    '__proto__=1&constructor=2&__proto__[a]=3',
    '&&&===&=',
    'chat_id',
    '%',
    '?',
  ])('is refused with 400: ?%s', async (query) => {
    const answer = await world.request('GET', `/contact?${query}`, { key })
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ success: false, error: expect.stringMatching(/parameter/) })
  })

  it('is refused with 431 if it has 10 MB, as are 10 MB of headers', async () => {
    const big = 'x'.repeat(10 * MEGABYTE)
    for (const request of [
      `GET /contact?chat_id=${big} HTTP/1.1\r\nHost: x\r\n\r\n`,
      `GET /contact HTTP/1.1\r\nHost: x\r\nX-Big: ${big}\r\n\r\n`,
    ]) {
      const { status, body } = readRaw(await sendRaw(world.app.url, request))
      expect(status).toBe(431)
      expect(body).toMatchObject({ success: false, error: 'Request Header Fields Too Large' })
    }
  })
})

describe('invalid HTTP', () => {
  it.each(['nonsense\r\n\r\n', 'GET / HTTP/9.9\r\n\r\n', '\u0016\u0003\u0001', 'GET /a b HTTP/1.1\r\nHost: x\r\n\r\n'])(
    'is answered with 400: %j',
    async (bytes) => {
      const { status, body } = readRaw(await sendRaw(world.app.url, bytes))
      expect([status, body.success, body.error]).toEqual([400, false, 'Bad Request'])
    },
  )
})

describe('the path', () => {
  it.each(['/nothing', '/contacts', '/contact/x', '/contact/', '/CONTACT', '/admin', '/admin/nothing', '//contact'])(
    'is answered with 404 for %s, with every method',
    async (path) => {
      for (const method of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']) {
        const body = method === 'GET' ? undefined : '{'
        const answer = await world.request(method, path, { key, body })
        expectRefusal(answer, 404, 'Not found')
      }
    },
  )

  it.each(['/%', '/%zz', '/contact%', '/admin/organizations/%ff', '/contact%00', '/..%2f..%2fetc/passwd'])(
    'is answered with 404: %s',
    async (path) => expectRefusal(await world.request('GET', path, { key }), 404, 'Not found'),
  )
})

describe('the method', () => {
  it.each([
    ['/', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/contact', 'GET, HEAD, POST, PATCH, DELETE', ['PUT', 'OPTIONS']],
    ['/conversations', 'GET, HEAD', ['POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/send-chat', 'POST', ['GET', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/admin/organizations', 'POST, GET, HEAD', ['PUT', 'PATCH', 'DELETE', 'OPTIONS']],
    ['/admin/keys/5b6d5d5e-0000-4000-8000-000000000000', 'DELETE', ['GET', 'POST', 'PUT', 'PATCH', 'OPTIONS']],
    ['/healthz', 'GET, HEAD', ['POST', 'DELETE', 'OPTIONS']],
    ['/openapi.json', 'GET, HEAD', ['POST']],
    ['/hooks/upstream', 'GET, HEAD, POST', ['PUT', 'DELETE']],
  ])('is answered with 405 and Allow for %s, for any body, with or without a key', async (path, allow, methods) => {
    for (const method of methods) {
      for (const options of [
        { key },
        {},
        ...(method === 'GET' ? [] : [{ body: '{' }, { body: 'x', headers: { 'content-type': 'text/plain' } }]),
      ]) {
        const answer = await world.request(method, path, options)
        expectRefusal(answer, 405, 'Method not allowed')
        expect(answer.headers.get('allow')).toBe(allow)
      }
    }
  })

  it('TRACE, which fetch does not send, is answered with 405', async () => {
    const answer = await sendRaw(world.app.url, 'TRACE /contact HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')
    expect(readRaw(answer)).toMatchObject({ status: 405, body: { success: false, error: 'Method not allowed' } })
  })

  it('HEAD is answered like GET, without a body', async () => {
    const found = await world.request('HEAD', '/healthz')
    expect([found.status, found.body]).toEqual([200, ''])
    expect((await world.request('HEAD', '/contact?chat_id=5511987654321', { key })).status).toBe(404)
    expect((await world.request('HEAD', '/contact?chat_id=5511987654321')).status).toBe(401)
  })

  it('DELETE needs no body, for any Content-Type', async () => {
    const headers = { 'content-type': 'application/json' }
    const answer = await world.request('DELETE', '/contact?chat_id=5511987654321', { key, headers })
    expect(answer.body.error).toBe('Contact not found')
  })
})
