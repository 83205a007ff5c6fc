import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { createContact } from '../../../support/contacts.js'
import { conversation } from '../../../support/conversations.js'
import { eventsOf } from '../../../support/rows/events.js'
import { useOrganization, useWorld } from '../../../support/world.js'

type Reply = (request: IncomingMessage, response: ServerResponse) => void

let upstream: Server
let url: string
let calls = 0
let reply: Reply
let people = 0

beforeAll(async () => {
  upstream = createServer((request, response) => {
    calls++
    request.resume().on('end', () => reply(request, response))
    request.on('error', () => undefined)
  })
  await new Promise<void>((resolve) => upstream.listen(0, '127.0.0.1', resolve))
  const address = upstream.address()
  url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : 0}`
})

afterEach(() => {
  calls = 0
})

afterAll(() => {
  upstream.closeAllConnections()
  upstream.close()
})

const world = useWorld(() => ({ PARLEY_UPSTREAM_URL: `${url}/v23.0`, PARLEY_UPSTREAM_TIMEOUT_MS: '1000' }))
const organization = useOrganization(world)

function answering(status: number, body: unknown, headers: Record<string, string> = {}): Reply {
  return (_request, response) => {
    response.writeHead(status, { 'content-type': 'application/json', ...headers })
    response.end(typeof body === 'string' ? body : JSON.stringify(body))
  }
}

function accepting(id: unknown, rest: object = {}): Reply {
  return answering(200, { messaging_product: 'whatsapp', contacts: [{ input: 'x' }], messages: [{ id }], ...rest })
}

function refusing(code: unknown, status = 400, rest: object = {}): Reply {
  return answering(status, { error: { message: `(#${code}) no`, code, ...rest } })
}

/** Sends to a new contact while the upstream answers in this way; resolves to the answer and the stored message. */
async function sendAgainst(howToReply: Reply) {
  reply = howToReply
  const digits = `1650555${String(++people).padStart(4, '0')}`
  await createContact(world, organization, `+${digits}`)
  const body = { phone_number: digits, message_type: 'text', text: 'hello' }
  const answer = await world.request('POST', '/send-chat', { key: organization.key, body })
  const shown = await conversation(world, organization, digits)
  expect(shown.body.count).toBe(1)
  return { answer, message: shown.body.messages[0], digits }
}

describe('an upstream with an unclear answer', () => {
  it.each<[string, Reply]>([
    ['500 without a body', answering(500, '')],
    ['502 with HTML', answering(502, '<html>Bad Gateway</html>', { 'content-type': 'text/html' })],
    ['503 with other JSON', answering(503, { message: 'no healthy upstream' })],
    ['504', answering(504, '')],
    ['500 with a code that says nothing', refusing(131000, 500)],
    ['500 with a final code', refusing(131009, 500)],
    ['408', answering(408, '')],
    ['200 with HTML', answering(200, '<html>Welcome</html>', { 'content-type': 'text/html' })],
    ['200 without a body', answering(200, '')],
    ['200 with an empty object', answering(200, {})],
    ['200 with an array', answering(200, [])],
    ['200 without messages', answering(200, { messages: [] })],
    ['200 with messages of another type', answering(200, { messages: { id: 'x' } })],
    ['200 with a number as id', accepting(5)],
    ['200 with an empty id', accepting('')],
    ['200 with an id that cannot be stored', accepting('wamid.\0')],
    ['200 with an endless id', accepting('w'.repeat(5_000))],
    [
      '200 with a body that breaks off',
      (_request, response) => {
        response.writeHead(200, { 'content-length': '100' })
        response.write('{"messages"')
        setImmediate(() => response.destroy())
      },
    ],
    [
      '200 with an endless body',
      (_request, response) => {
        response.writeHead(200)
        response.on('error', () => undefined)
        response.end('x'.repeat(2 * 1_048_576))
      },
    ],
    ['a connection closed before any answer', (request) => request.socket.destroy()],
    ['no HTTP at all', (request) => request.socket.end('SSH-2.0-OpenSSH_9.2\r\n')],
  ])('leads to an unknown outcome without a retry: %s', async (_name, howToReply) => {
    const { answer, message } = await sendAgainst(howToReply)
    expect(answer.status).toBe(500)
    expect(answer.body).toMatchObject({ error: 'Outcome unknown', retryable: false, id: message.id })
    expect(message).toMatchObject({ message_status: 'sent', outcome: 'unknown', error: null })
    expect(calls).toBe(1)
  })

  it('after the deadline leads to an unknown outcome', async () => {
    const { answer, message } = await sendAgainst(() => undefined)
    expect(answer.body).toMatchObject({ error: 'Outcome unknown', id: message.id })
    expect(calls).toBe(1)
  })
})

/** The message for an answer without an error body. */
const bare = (status: number) =>
  `HTTP ${status} without an error body: the server at PARLEY_UPSTREAM_URL may not be the upstream's API`

describe('a refusal of the upstream', () => {
  it.each<[string, Reply, number, string]>([
    ['a final code with 400', refusing(131009), 131009, '(#131009) no'],
    ['a final code with 200', refusing(131051, 200), 131051, '(#131051) no'],
    ['details go before the message', refusing(100, 400, { error_data: { details: 'Bad to' } }), 100, 'Bad to'],
    ['400 with HTML', answering(400, '<html>'), 400, bare(400)],
    ['404 without a body', answering(404, ''), 404, bare(404)],
    ['400 with a code of another type', refusing('100'), 400, bare(400)],
    ['400 with a fractional code', refusing(1.5), 400, bare(400)],
    ['a redirect, which is not followed', answering(302, '', { location: 'http://127.0.0.1:1/' }), 302, bare(302)],
    ['text that cannot be stored', refusing(131009, 400, { message: 'a\0b' }), 131009, 'a\uFFFDb'],
  ])('is rejected: %s', async (_name, howToReply, code, text) => {
    const { answer, message } = await sendAgainst(howToReply)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Upstream rejected message', upstream_code: code, details: text })
    expect(message).toMatchObject({ message_status: 'failed', error: { code, text }, outcome: null })
    expect(calls).toBe(1)
  })

  it('with endless text is kept in part', async () => {
    const { answer, message } = await sendAgainst(refusing(131009, 400, { message: 'x'.repeat(500_000) }))
    expect(answer.body.error).toBe('Upstream rejected message')
    expect(message.error.text).toBe('x'.repeat(1_000))
  })

  it.each<[string, Reply, number]>([
    ['190', refusing(190, 401), 190],
    ['0', refusing(0, 401), 0],
    ['a permission', refusing(200, 403), 200],
    ['401 without a body', answering(401, ''), 401],
  ])('about credentials is Upstream credentials rejected: %s', async (_name, howToReply, code) => {
    const { answer, message } = await sendAgainst(howToReply)
    expect(answer.status).toBe(400)
    expect(answer.body).toMatchObject({ error: 'Upstream credentials rejected', upstream_code: code })
    expect(message).toMatchObject({ message_status: 'failed', error: { code } })
  })
})

describe('an upstream that is not ready', () => {
  it.each([2, 4, 80007, 130429, 131016, 131057, 133004])('is retried with code %i', async (code) => {
    const { answer } = await sendAgainst((request, response) =>
      (calls === 1 ? refusing(code, 500) : accepting(`wamid.after${code}`))(request, response),
    )
    expect(answer.status).toBe(200)
    expect(calls).toBe(2)
  })

  it('is retried after the requested time, within the deadline', async () => {
    const limited = JSON.stringify({ error: { code: 130429, message: 'Rate limit hit' } })
    const { answer } = await sendAgainst((request, response) =>
      (calls === 1 ? answering(429, limited, { 'retry-after': '1' }) : accepting('wamid.later'))(request, response),
    )
    expect(answer.status).toBe(200)
    expect(calls).toBe(2)
  })

  it('is not retried without an error body, since only the codes show that nothing was accepted', async () => {
    const { answer } = await sendAgainst(answering(429, '', { 'retry-after': '1' }))
    expect(answer.status).toBe(429)
    expect(calls).toBe(1)
  })

  it.each([
    ['seconds', () => '120'],
    ['a date', () => new Date(Date.now() + 120_000).toUTCString()],
  ])('for longer than the deadline leads to 429, with the wait from %s', async (_name, retryAfter) => {
    const { answer, message } = await sendAgainst(answering(429, '', { 'retry-after': retryAfter() }))
    expect(answer.status).toBe(429)
    expect(answer.body).toMatchObject({ error: 'Too many requests', retry_after: expect.any(Number) })
    expect(answer.body.retry_after).toBeGreaterThan(100)
    expect(answer.headers.get('retry-after')).toBe(String(answer.body.retry_after))
    expect(message).toMatchObject({ message_status: 'failed', outcome: null })
    expect(calls).toBe(1)
  })
})

describe('an unusual but clear answer of the upstream', () => {
  it('is returned in full', async () => {
    const { answer } = await sendAgainst(accepting('wamid.extra', { contacts: 'none', extra: { deep: [1, null] } }))
    expect(answer.body.data.meta_response).toEqual({
      messaging_product: 'whatsapp',
      contacts: 'none',
      messages: [{ id: 'wamid.extra' }],
      extra: { deep: [1, null] },
    })
  })

  it('with an id used twice: both messages count as sent, the second without id', async () => {
    const first = await sendAgainst(accepting('wamid.twice'))
    const second = await sendAgainst(accepting('wamid.twice'))
    expect([first.answer.status, second.answer.status]).toEqual([200, 200])
    expect(first.message).toMatchObject({ message_id: 'wamid.twice', message_status: 'sent', outcome: null })
    expect(second.message).toMatchObject({ message_id: null, message_status: 'sent', outcome: null })
    const sent = await eventsOf(world, organization, 'message.sent')
    expect(sent.filter((event) => [first.digits, second.digits].includes(event.data.contact.chat_id))).toHaveLength(2)
  })

  it('with a network id that belongs to another contact leaves it there', async () => {
    const first = await sendAgainst(accepting('wamid.own'))
    const second = await sendAgainst(accepting('wamid.stolen', { contacts: [{ input: 'x', wa_id: first.digits }] }))
    expect(second.answer.status).toBe(200)
    expect((await conversation(world, organization, first.digits)).body.messages[0].message_id).toBe('wamid.own')
  })
})
