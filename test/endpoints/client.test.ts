import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { readFileSync } from 'node:fs'
import type { ServerResponse } from 'node:http'
import { createServer as createHttpsServer } from 'node:https'
import { createServer as createTcpServer, type LookupFunction, type Socket } from 'node:net'
import { Webhook } from 'standardwebhooks'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createEndpointClient, type EndpointAnswer, type EndpointClient } from '../../src/endpoints/client.js'
import { newWebhookSecret } from '../../src/lib/crypto/standard-webhooks.js'
import { createAddressGuard } from '../../src/lib/http/address-guard.js'
import { type Answering, hangUp, json } from '../support/http-server.js'
import { call, closed, listen, nameServer, startServer, type TestEndpoint } from './support.js'

const SHORT_MS = 100
const NEVER = new AbortController().signal
const silence = `it did not answer within ${SHORT_MS / 1_000} s`

function clientWith(options: { timeoutMs?: number; lookup?: LookupFunction } = {}): EndpointClient {
  const { lookup, ...rest } = options
  const client = createEndpointClient({ guard: createAddressGuard(['127.0.0.0/8'], lookup), ...rest })
  onTestFinished(() => client.close())
  return client
}

/** The outcome of one call of an endpoint with this answer. */
async function answerOf(answer: Answering, timeoutMs?: number): Promise<EndpointAnswer> {
  const { url } = await startServer(answer)
  return clientWith(timeoutMs === undefined ? {} : { timeoutMs }).post(call(url), NEVER)
}

/** An endpoint that writes these bytes to every connection. */
function rawServer(write: (socket: Socket) => void): Promise<TestEndpoint> {
  return listen(createTcpServer((socket) => void socket.once('data', () => write(socket))))
}

/** Keeps sending `piece` while the connection is open. */
function trickle(socket: Socket, piece: string): void {
  const timer = setInterval(() => socket.write(piece), SHORT_MS / 5)
  socket.on('close', () => clearInterval(timer))
}

/** An endless answer, as fast as it is read. */
function pour(response: ServerResponse): void {
  const chunk = Buffer.alloc(16_384, 'x')
  const write = () => {
    while (response.write(chunk));
  }
  response.on('drain', write)
  write()
}

const delivered = (status = 200): EndpointAnswer => ({
  outcome: 'delivered',
  status,
  error: null,
  retryAfterMs: null,
  responseBody: null,
  durationMs: expect.any(Number),
})

const failed = (more: Partial<EndpointAnswer>): EndpointAnswer => ({
  outcome: 'failed',
  status: null,
  error: null,
  retryAfterMs: null,
  responseBody: null,
  durationMs: expect.any(Number),
  ...more,
})

describe('a request to an endpoint', () => {
  it('contains the unchanged body, with the headers of JSON and of Parley', async () => {
    const { url, taken } = await startServer(json(200, {}))
    const body = JSON.stringify({ type: 'message.received', data: { text: 'Olá 👋' } })
    await clientWith().post(call(`${url}hooks/a%20b?key=1&key=2#part`, { body }), NEVER)
    expect(taken).toMatchObject([
      {
        method: 'POST',
        path: '/hooks/a%20b?key=1&key=2',
        headers: { 'content-type': 'application/json', 'user-agent': 'Parley-Webhooks/1.0' },
      },
    ])
    expect(taken[0]?.body.toString()).toBe(body)
  })

  it('is signed with every secret, as the reference library expects', async () => {
    const { url, taken } = await startServer(json(200, {}))
    const secrets = [newWebhookSecret(), newWebhookSecret()]
    const body = JSON.stringify({ data: '👋' })
    await clientWith().post(call(url, { secrets, id: 'event-7', at: new Date(), body }), NEVER)
    const headers = taken[0]?.headers as Record<string, string>
    expect(headers['webhook-id']).toBe('event-7')
    for (const secret of secrets)
      expect(new Webhook(secret).verify(String(taken[0]?.body), headers)).toEqual({ data: '👋' })
  })
})

describe('a call succeeds with', () => {
  it.each([200, 201, 202, 204, 206, 299])('the status %i', async (status) => {
    expect(await answerOf((_request, response) => void response.writeHead(status).end())).toEqual(delivered(status))
  })

  it('200 after interim responses', async () => {
    const answering: Answering = (_request, response) => {
      response.writeProcessing()
      response.writeEarlyHints({ link: '</style.css>; rel=preload' })
      response.end('ok')
    }
    expect(await answerOf(answering)).toEqual(delivered())
  })

  it('200 and an endless body, which is not read to its end', async () => {
    const { url, sockets } = await startServer((_request, response) => pour(response))
    expect(await clientWith().post(call(url), NEVER)).toEqual(delivered())
    await closed(sockets[0])
  })

  it('200 and a slow body, which is read until the time is over', async () => {
    const { url, sockets } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      trickle(socket, '1\r\nx\r\n')
    })
    const client = clientWith({ timeoutMs: SHORT_MS })
    expect(await client.post(call(url), NEVER)).toEqual(delivered())
    await closed(sockets[0])
  })

  it('200 and a body that breaks off', async () => {
    const answering: Answering = (_request, response) => {
      response.writeHead(200, { 'content-length': '10' })
      response.write('half', () => response.destroy())
    }
    expect(await answerOf(answering)).toEqual(delivered())
  })

  it('200 and an invalid body', async () => {
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\nno length\r\n')
    })
    expect(await clientWith().post(call(url), NEVER)).toEqual(delivered())
  })
})

describe('a call fails with', () => {
  it.each([400, 401, 404, 410, 429, 500, 503])('the status %i, and the text is kept', async (status) => {
    const answer = await answerOf((_request, response) => void response.writeHead(status).end('Sorry'))
    expect(answer).toEqual(failed({ status, error: `the endpoint answered ${status}`, responseBody: 'Sorry' }))
  })

  it('a Retry-After header, which is kept', async () => {
    const answer = await answerOf(json(503, {}, { 'retry-after': '120' }))
    expect(answer).toMatchObject({ outcome: 'failed', status: 503, retryAfterMs: 120_000 })
  })

  it.each([301, 302, 303, 307, 308])('the redirect %i, which is not followed', async (status) => {
    const inside = await startServer(json(200, {}))
    const answer = await answerOf(json(status, {}, { location: inside.url }))
    const error = `the endpoint answered ${status}: redirects are not followed`
    expect(answer).toEqual(failed({ status, error, responseBody: '{}' }))
    expect(inside.taken).toEqual([])
  })

  it('304, which is not a redirect', async () => {
    expect(await answerOf(json(304, {}))).toMatchObject({ status: 304, error: 'the endpoint answered 304' })
  })

  it('a long text, whose beginning is kept', async () => {
    const text = '👋é'.repeat(30_000)
    const answer = await answerOf((_request, response) => void response.writeHead(500).end(text))
    // 166 times three UTF-16 units, and half of a surrogate pair.
    expect(answer.responseBody).toBe(`${text.slice(0, 498)}👋`)
  })

  it('an endless text', async () => {
    const { url, sockets } = await startServer((_request, response) => pour(response.writeHead(500)))
    const answer = await clientWith().post(call(url), NEVER)
    expect(answer).toEqual(failed({ status: 500, error: 'the endpoint answered 500', responseBody: 'x'.repeat(500) }))
    await closed(sockets[0])
  })

  it('a slow text, of which the part received in time is kept', async () => {
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 500 No\r\ntransfer-encoding: chunked\r\n\r\n1\r\na\r\n')
      trickle(socket, '1\r\nx\r\n')
    })
    const answer = await clientWith({ timeoutMs: SHORT_MS }).post(call(url), NEVER)
    expect(answer).toMatchObject({ status: 500, error: 'the endpoint answered 500' })
    expect(answer.responseBody).toMatch(/^ax*$/)
  })

  it('bytes that the database cannot store', async () => {
    const answer = await answerOf((_request, response) => {
      response.writeHead(500).end(Buffer.from([0x61, 0x00, 0xff, 0xed, 0xa0, 0x80, 0x62]))
    })
    expect(answer.responseBody).toMatch(/^a\uFFFD+b$/)
    expect(answer.responseBody?.isWellFormed()).toBe(true)
  })
})

describe('a call fails if', () => {
  it('the endpoint never answers', async () => {
    const { url, sockets } = await startServer(() => undefined)
    expect(await clientWith({ timeoutMs: SHORT_MS }).post(call(url), NEVER)).toEqual(failed({ error: silence }))
    await closed(sockets[0])
  })

  it('the headers arrive too slowly', async () => {
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\n')
      trickle(socket, 'x-more: 1\r\n')
    })
    expect(await clientWith({ timeoutMs: SHORT_MS }).post(call(url), NEVER)).toEqual(failed({ error: silence }))
  })

  it('the endpoint only sends interim responses', async () => {
    const { url } = await rawServer((socket) => trickle(socket, 'HTTP/1.1 102 Processing\r\n\r\n'))
    expect(await clientWith({ timeoutMs: SHORT_MS }).post(call(url), NEVER)).toEqual(failed({ error: silence }))
  })

  it('the name is not resolved in time', async () => {
    const client = clientWith({ timeoutMs: SHORT_MS, lookup: () => undefined })
    expect(await client.post(call('http://slow.test/'), NEVER)).toEqual(failed({ error: silence }))
  })

  it('the TLS handshake takes too long', async () => {
    const { port } = await listen(createTcpServer())
    const client = clientWith({ timeoutMs: SHORT_MS })
    expect(await client.post(call(`https://127.0.0.1:${port}/`), NEVER)).toEqual(failed({ error: silence }))
  })

  it('the endpoint does not accept the connection', async () => {
    const { url, close } = await startAndTell()
    await close()
    const error = 'it could not be reached (ECONNREFUSED)'
    expect(await clientWith().post(call(url), NEVER)).toEqual(failed({ error }))
  })

  it('the name has no address', async () => {
    const error = 'its host name has no address (ENOTFOUND)'
    expect(await clientWith({ lookup: nameServer([]) }).post(call('http://none.test/'), NEVER)).toEqual(
      failed({ error }),
    )
  })

  const broken = 'it hung up, or what it answered is not HTTP'

  it('the endpoint closes the connection', async () => {
    expect(await answerOf(hangUp)).toEqual(failed({ error: broken }))
  })

  it.each([
    ['another protocol', 'SSH-2.0-OpenSSH_9.2\r\n\r\n'],
    ['an upgrade', 'HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n'],
    ['endless headers', `HTTP/1.1 200 OK\r\nx: ${'x'.repeat(100_000)}`],
  ])('the answer is %s', async (_what, text) => {
    const { url } = await rawServer((socket) => void socket.write(text))
    expect(await clientWith().post(call(url), NEVER)).toEqual(failed({ error: broken }))
  })

  it('the certificate is not trusted, and no request is sent', async () => {
    const pem = readFileSync('test/samples/self-signed.pem')
    const taken: unknown[] = []
    const server = createHttpsServer({ key: pem, cert: pem }, (request, response) => {
      taken.push(request.url)
      response.end()
    })
    const { port } = await listen(server)
    const error = 'no secure connection could be made (DEPTH_ZERO_SELF_SIGNED_CERT)'
    expect(await clientWith().post(call(`https://127.0.0.1:${port}/`), NEVER)).toEqual(failed({ error }))
    expect(taken).toEqual([])
  })

  it('the endpoint does not speak TLS', async () => {
    const { port } = await startServer(json(200, {}))
    const answer = await clientWith().post(call(`https://127.0.0.1:${port}/`), NEVER)
    expect(answer).toEqual(failed({ error: expect.stringMatching(/^no secure connection could be made \(\w+\)$/) }))
  })

  it.each(['http://127.0.0.1:0/', 'http://127.0.0.1:1/a\u0000b', 'http://a..b/'])('the URL is %j', async (url) => {
    const client = clientWith({ lookup: nameServer([]) })
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null })
  })

  it('the id cannot be sent in a header', async () => {
    const { url, taken } = await startServer(json(200, {}))
    expect(await clientWith().post(call(url, { id: 'a\r\nb' }), NEVER)).toMatchObject({ outcome: 'failed' })
    expect(taken).toEqual([])
  })

  it('the client is being closed', async () => {
    const client = clientWith()
    const { url } = await startServer(() => void client.close())
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null })
    expect(await client.post(call(url), NEVER)).toMatchObject({ outcome: 'failed', status: null })
  })

  async function startAndTell() {
    const server = createTcpServer()
    const { url } = await listen(server)
    return { url, close: () => new Promise((resolve) => server.close(resolve)) }
  }
})

describe('connections', () => {
  it.each([
    ['delivers', 200, 60_000],
    ['delivers without a body', 204, 0],
    ['fails', 500, 60_000],
  ])('are reused after a call that %s', async (_what, status, size) => {
    // A connection is not quite free when the next call starts, so two connections alternate.
    expect((await connectionsUsed(status, size)).size).toBeLessThanOrEqual(2)
  })

  it.each([200, 500])('are not reused after a body that is too long (%i)', async (status) => {
    expect((await connectionsUsed(status, 200_000)).size).toBe(6)
  })

  /** The connections of six consecutive calls, each answered with this number of bytes. */
  async function connectionsUsed(status: number, size: number): Promise<Set<unknown>> {
    const used = new Set<unknown>()
    const { url, taken } = await startServer((_request, response) => {
      used.add(response.socket)
      response.writeHead(status).end('x'.repeat(size))
    })
    const client = clientWith()
    for (let turn = 0; turn < 6; turn++) await client.post(call(url), NEVER)
    expect(taken).toHaveLength(6)
    return used
  }

  it('match the number of concurrent calls', async () => {
    const waiting: ServerResponse[] = []
    const { url } = await startServer((_request, response) => {
      waiting.push(response)
      if (waiting.length === 100) for (const each of waiting) each.end()
    })
    const client = clientWith()
    const answers = await Promise.all(Array.from({ length: 100 }, () => client.post(call(url), NEVER)))
    expect(answers).toEqual(answers.map(() => delivered()))
  })
})

describe('an aborted signal', () => {
  const reason = new Error('enough')

  it('rejects before anything starts', async () => {
    const { url, sockets } = await startServer(json(200, {}))
    await expect(clientWith().post(call(url), AbortSignal.abort(reason))).rejects.toBe(reason)
    expect(sockets).toEqual([])
  })

  it('rejects during connecting, and the request is never sent', async () => {
    const { port, taken, sockets } = await startServer(json(200, {}))
    const stop = new AbortController()
    let goOn: (() => void) | undefined
    const client = clientWith({
      lookup: (host, options, callback) => {
        goOn ??= () => nameServer(['127.0.0.1'])(host, options, callback)
        if (stop.signal.aborted) return nameServer(['127.0.0.1'])(host, options, callback)
        stop.abort(reason)
      },
    })
    const url = `http://some.test:${port}`
    await expect(client.post(call(`${url}/given-up`), stop.signal)).rejects.toBe(reason)
    goOn?.()
    await expect.poll(() => sockets).toHaveLength(1)
    for (let turn = 0; turn < 2; turn++) expect(await client.post(call(`${url}/next`), NEVER)).toEqual(delivered())
    expect(taken.map(({ path }) => path)).toEqual(['/next', '/next'])
  })

  it('rejects all calls that wait for an answer, and disconnects', async () => {
    const stop = new AbortController()
    let waiting = 0
    const { url, sockets } = await startServer(() => {
      if (++waiting === 20) stop.abort(reason)
    })
    const client = clientWith()
    const calls = Array.from({ length: 20 }, () => client.post(call(url), stop.signal))
    for (const outcome of await Promise.allSettled(calls)) expect(outcome).toMatchObject({ status: 'rejected', reason })
    await Promise.all(sockets.map(closed))
  })

  it('keeps results that were already received', async () => {
    const stop = new AbortController()
    const { url } = await rawServer((socket) => {
      socket.write('HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n')
      trickle(socket, '1\r\nx\r\n')
    })
    const abortSoon = () => void setImmediate(() => stop.abort(reason))
    subscribe('http.client.response.finish', abortSoon)
    onTestFinished(() => void unsubscribe('http.client.response.finish', abortSoon))
    expect(await clientWith().post(call(url), stop.signal)).toEqual(delivered())
    expect(stop.signal.aborted).toBe(true)
  })

  it('ends only the calls that it was passed to', async () => {
    const stop = new AbortController()
    const { url } = await startServer((request, response) => {
      if (request.path === '/stopped') stop.abort(reason)
      else response.end()
    })
    const client = clientWith()
    await expect(client.post(call(`${url}stopped`), stop.signal)).rejects.toBe(reason)
    expect(await client.post(call(url), NEVER)).toEqual(delivered())
  })
})
