import { connect } from 'node:net'
import { beforeAll, describe, expect, it } from 'vitest'
import { createInstance } from '../support/instances.js'
import { useOrganization, useWorld } from '../support/world.js'

const MEBIBYTE = 1_048_576
const INSTANCE = 'bodies'

const world = useWorld()
const organization = useOrganization(world)
const other = useOrganization(world)

beforeAll(async () => {
  await createInstance(world, organization, { instanceName: INSTANCE, integration: 'SANDBOX' })
})

/** Posts a body as it is. */
async function post(path: string, body: string | Buffer, headers: Record<string, string> = {}, key = organization.key) {
  const response = await fetch(world.app.url + path, {
    method: 'POST',
    headers: { authorization: `Bearer ${key}`, 'content-type': 'application/json', ...headers },
    body,
  })
  // biome-ignore lint/suspicious/noExplicitAny: answers of every interface
  return { status: response.status, headers: response.headers, body: (await response.json()) as any }
}

const keyFor = (path: string) => (path.startsWith('/admin') ? world.adminToken : organization.key)
/** What the answer says, in the form of every interface. */
const textOf = (body: unknown) => JSON.stringify(body)

/** An endpoint of each interface that takes JSON, and one whose body is read as a stream. */
const EVERYWHERE = [
  '/contact',
  '/send-chat',
  '/broadcasts',
  '/admin/organizations',
  '/console/api/session',
  `/gateway/chat/findMessages/${INSTANCE}`,
  `/gateway/chat/getBase64FromMediaMessage/${INSTANCE}`,
  `/gateway/message/sendText/${INSTANCE}`,
  `/gateway/message/sendMedia/${INSTANCE}`,
]

describe.each(EVERYWHERE)('the bytes of POST %s', (path) => {
  const text = '{"full_name":"João","text":"Atenção: já chegou 😀"}'

  it.each([
    ['Latin-1', Buffer.from('{"text":"Aten\xe7\xe3o: Jo\xe3o, j\xe1 chegou"}', 'latin1')],
    ['UTF-16', Buffer.from(`\ufeff${text}`, 'utf16le')],
    ['half a character', Buffer.from('{"text":"Jo\xc3"}', 'latin1')],
    ['a surrogate in UTF-8', Buffer.concat([Buffer.from('{"text":"'), Buffer.of(0xed, 0xa0, 0x80), Buffer.from('"}')])],
  ])('are refused if they are not UTF-8: %s', async (_what, body) => {
    const { status, body: answer } = await post(path, body, {}, keyFor(path))
    expect(status).toBe(400)
    expect(textOf(answer)).toContain('is not UTF-8')
  })

  it.each(['ISO-8859-1', 'windows-1252', '"utf-16"', 'utf-16le'])('are refused as %s', async (charset) => {
    const type = { 'content-type': `application/json; charset=${charset}` }
    const { status, body } = await post(path, '{}', type, keyFor(path))
    expect(status).toBe(415)
    expect(textOf(body)).toContain(charset.replaceAll('"', ''))
  })

  it('may begin with a byte order mark, and may name UTF-8', async () => {
    const plain = await post(path, text, {}, keyFor(path))
    expect(textOf(plain.body)).not.toContain('JSON')
    for (const charset of ['utf-8', 'UTF-8', '"utf8"', 'us-ascii']) {
      const type = { 'content-type': `application/json;charset=${charset}` }
      const marked = await post(path, `\ufeff${text}`, type, keyFor(path))
      expect(marked).toMatchObject({ status: plain.status, body: plain.body })
    }
  })
})

it('what is stored has the characters that were sent', async () => {
  const number = '+5511960000001'
  const made = await post('/contact', Buffer.from(`\ufeff{"phone_number":"${number}","full_name":"João 😀 \\u00e7"}`))
  expect(made.body).toMatchObject({ contact: { full_name: 'João 😀 ç' } })
  const refused = Buffer.from(`{"phone_number":"+5511960000002","full_name":"Jo\xe3o"}`, 'latin1')
  expect((await post('/contact', refused)).body).toMatchObject({ error: 'Invalid JSON' })
  const found = await world.request('GET', '/contact?phone_number=%2B5511960000002', { key: organization.key })
  expect(found.status).toBe(404)
})

const fill = (size: number, before: string, item: string, after: string) =>
  before + item.repeat(Math.floor((size - before.length - after.length) / item.length)) + after

describe.each(['/contact', `/gateway/message/sendText/${INSTANCE}`])('POST %s of 1 MB', (path) => {
  it.each([
    ['opening brackets', 413, fill(MEBIBYTE, '', '[', '')],
    ['nested objects', 413, fill(MEBIBYTE, '', '{"a":', '')],
    ['empty lists', 413, fill(MEBIBYTE, '{"phone_number":[', '[],', '1]}')],
    ['empty objects', 413, fill(MEBIBYTE, '{"phone_number":[', '{},', '1]}')],
    ['numbers', 413, fill(MEBIBYTE, '{"phone_number":[', '1,', '1]}')],
    ['escapes', 400, fill(MEBIBYTE, '{"name":"', '\\u0041', '"}')],
    ['escaped quotes and what counts outside strings', 400, fill(MEBIBYTE, '{"name":"', '\\",[{', '"}')],
    ['astral characters', 400, fill(MEBIBYTE / 2, '{"name":"', '😀', '"}')],
    ['zeros', 400, fill(MEBIBYTE, '{"a":', '0', '}')],
    ['white space', 400, fill(MEBIBYTE, '', ' ', '')],
  ])('that holds %s is answered with %i', async (_what, status, text) => {
    const answer = await post(path, text, { 'idempotency-key': 'one' })
    expect(answer.status).toBe(status)
    expect(textOf(answer.body).length).toBeLessThan(1_000)
  })
})

describe('the size of a body', () => {
  const sized = (bytes: number) => fill(bytes, '{"name":"', 'x', '"}')

  it.each([
    ['/contact', MEBIBYTE],
    ['/broadcasts', MEBIBYTE],
    ['/admin/organizations', MEBIBYTE],
    [`/gateway/chat/findMessages/${INSTANCE}`, MEBIBYTE],
    ['/console/api/session', 8_192],
    ['/console/api/session/link', 8_192],
  ])('of POST %s has a maximum of %i bytes, announced or not', async (path, most) => {
    expect((await post(path, sized(most), {}, keyFor(path))).status).not.toBe(413)
    const more = await post(path, sized(most + 1), {}, keyFor(path))
    expect(more.status).toBe(413)
    expect(textOf(more.body)).toContain(`larger than ${most} bytes`)
    expect((await postChunked(path, sized(most + 1), keyFor(path))).split(' ')[1]).toBe('413')
  })

  it.each(['/broadcasts', '/broadcasts of many values'])(
    'of POST %s: the answer names POST /audiences',
    async (what) => {
      const body = what === '/broadcasts' ? sized(MEBIBYTE + 1) : fill(MEBIBYTE, '{"audience":[', '{},', '1]}')
      const { status, body: answer } = await post('/broadcasts', body)
      expect([status, answer.error]).toEqual([413, 'Payload too large'])
      expect(answer.message).toContain('POST /audiences')
    },
  )
})

/** Posts a body without announcing its size; resolves to the status line. */
function postChunked(path: string, body: string, key: string): Promise<string> {
  const { hostname, port } = new URL(world.app.url)
  const head = `POST ${path} HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\n`
  return new Promise((resolve, reject) => {
    const socket = connect(Number(port), hostname)
    socket.on('error', reject).once('data', (bytes) => {
      socket.destroy()
      resolve(bytes.toString().split('\r\n')[0] as string)
    })
    socket.write(`${head}Transfer-Encoding: chunked\r\n\r\n${body.length.toString(16)}\r\n${body}\r\n0\r\n\r\n`)
  })
}

describe('long lists', () => {
  const broadcast = (audience: object) => JSON.stringify({ name: 'Sale', templateName: 'oferta', audience })
  const recipients = (count: number) =>
    Array.from({ length: count }, (_, index) => ({ chatNumber: `+55119${60_000_000 + index}` }))

  it('are checked to the last item, and the error has the path of the wrong one', async () => {
    const wrong = [...recipients(20_345), { chatNumber: 7 }, ...recipients(300)]
    const named = await post('/broadcasts', broadcast({ recipients: wrong }))
    expect([named.status, named.body.message]).toEqual([400, 'audience.recipients[20345].chatNumber must be string'])
  })

  it('are refused if they are too long, with the maximum and the number given', async () => {
    const tags = Array.from({ length: 1_001 }, (_, index) => `t${index}`)
    const { status, body } = await post('/broadcasts', broadcast({ tags }))
    expect([status, body.message]).toEqual([400, 'audience.tags must have at most 100 items, not 1001'])
  })

  it('are refused with a character that cannot be stored', async () => {
    const text = broadcast({ recipients: [...recipients(2_000), { chatNumber: 'x\u0000' }] })
    const { status, body } = await post('/broadcasts', text)
    expect(status).toBe(400)
    expect(body.message).toContain('audience.recipients[2000].chatNumber holds a character that cannot be stored')
  })

  it('count by meaning for an Idempotency-Key', async () => {
    const body = { destination: 'x', list: recipients(3_000), more: { a: 1, b: [null, 'é'] } }
    const turned = { more: { b: [null, 'é'], a: 1 }, list: recipients(3_000), destination: 'x' }
    const send = (extra: object, redirect_url = 'https://shop.example/') =>
      post('/shortlinks', JSON.stringify({ ...extra, redirect_url }), { 'idempotency-key': 'long' })
    const first = await send(body)
    expect(first.status).toBe(201)
    const again = await send(turned)
    expect([again.status, again.headers.get('idempotent-replayed')]).toEqual([201, 'true'])
    expect((await send({ ...turned, list: recipients(2_999) })).status).toBe(422)
  })
})

describe('many bodies at the same time', () => {
  const large = fill(MEBIBYTE, '{"phone_number":"', '1', '"}')

  it('of one organization are answered one after the other, and beyond its part of the memory refused', async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => post('/contact', large)))
    for (const { status, headers } of answers) {
      expect([400, 429]).toContain(status)
      expect(headers.get('retry-after')).toBe(status === 429 ? '2' : null)
    }
    expect(answers.some(({ status }) => status === 400)).toBe(true)
    expect((await post('/contact', large)).status).toBe(400)
  })

  it('that stall hold no place: neither of the same organization, nor of another', async () => {
    const { hostname, port } = new URL(world.app.url)
    const head = `POST /contact HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer ${organization.key}\r\nContent-Type: application/json\r\n`
    const stalled = Array.from({ length: 20 }, () => {
      const socket = connect(Number(port), hostname)
      socket.write(`${head}Content-Length: ${MEBIBYTE}\r\n\r\n${large.slice(0, MEBIBYTE - 1)}`)
      return {
        socket,
        refused: new Promise<string>((resolve) => socket.once('data', (bytes) => resolve(String(bytes)))),
      }
    })
    // The oldest gave way, which shows that the others have arrived.
    expect(await Promise.race(stalled.map(({ refused }) => refused))).toContain('HTTP/1.1 429')
    expect((await post('/contact', large)).status).toBe(400)
    expect((await post('/contact', large, {}, other.key)).status).toBe(400)
    for (const { socket } of stalled) socket.destroy()
  })
})
