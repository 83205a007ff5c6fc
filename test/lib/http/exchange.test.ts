import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import { type AddressInfo, createServer as createTcpServer, type LookupFunction, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { createAddressGuard } from '../../../src/lib/http/address-guard.js'
import { createHttpClient, type HttpClient, type HttpClientOptions } from '../../../src/lib/http/client.js'
import { NotConnectedError } from '../../../src/lib/http/dispatch.js'
import { AnswerTooLongError, exchange, exchangeOnce } from '../../../src/lib/http/exchange.js'

const LONG_MS = 20_000
const SHORT_MS = 100
const LOCAL: LookupFunction = (_host, _options, callback) => callback(null, [{ address: '127.0.0.1', family: 4 }])

function clientWith(options: Partial<HttpClientOptions> = {}): HttpClient {
  const client = createHttpClient({ connectTimeoutMs: LONG_MS, keepAliveMs: LONG_MS, ...options })
  onTestFinished(() => client.close())
  return client
}

function requestTo(port: number, path = '/') {
  return { origin: new URL(`http://some.test:${port}`), path, method: 'POST', body: '{}' }
}

/** A client that resolves every name to this machine, and a function that requests a server with `listener`. */
async function askerFor(listener: RequestListener, options: Partial<HttpClientOptions> = {}) {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const client = clientWith({ guard: createAddressGuard(['127.0.0.1'], LOCAL), ...options })
  const ask = (limit: number | AbortSignal, maxBytes?: number, path = '/') =>
    exchange(client, requestTo(port, path), limit, maxBytes)
  return { ask, client, port }
}

test('status, headers and the whole body are returned, even if a character is split', async () => {
  const [first, second] = [Buffer.from([0xc3]), Buffer.from([0xa9])]
  const { ask } = await askerFor((_request, response) => {
    response.writeHead(429, { 'retry-after': '7' })
    response.write(first, () => response.end(second))
  })
  expect(await ask(LONG_MS)).toMatchObject({ statusCode: 429, headers: { 'retry-after': '7' }, body: 'é' })
})

test('an answer that does not start is given up', async () => {
  const { ask } = await askerFor(() => undefined)
  await expect(ask(SHORT_MS)).rejects.toThrow(`not within ${SHORT_MS} ms`)
})

test('a slow answer is given up, however regularly its bytes arrive', async () => {
  const { ask } = await askerFor((_request, response) => {
    const timer = setInterval(() => response.write(' '), SHORT_MS / 4)
    response.on('close', () => clearInterval(timer))
  })
  await expect(ask(SHORT_MS)).rejects.toThrow(`not within ${SHORT_MS} ms`)
})

test('an answer that breaks off is an error', async () => {
  const { ask } = await askerFor((_request, response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('half', () => response.destroy())
  })
  await expect(ask(LONG_MS)).rejects.toMatchObject({ code: 'ECONNRESET' })
})

test('the connection is closed if an answer is longer than its reader accepts', async () => {
  let hungUp: Promise<unknown> | undefined
  const { ask } = await askerFor((request, response) => {
    hungUp = new Promise((resolve) => request.socket.on('error', () => undefined).once('close', resolve))
    const pour = () => {
      while (response.write('x'.repeat(1_000)));
    }
    response.on('drain', pour)
    pour()
  })
  await expect(ask(LONG_MS, 100_000)).rejects.toBeInstanceOf(AnswerTooLongError)
  await hungUp
})

test('a signal ends the wait for an answer, and closes the connection', async () => {
  const stop = new AbortController()
  let hungUp: Promise<unknown> | undefined
  const { ask } = await askerFor(({ socket }) => {
    hungUp = once(socket, 'close')
    stop.abort(new Error('enough'))
  })
  await expect(ask(stop.signal)).rejects.toThrow('enough')
  await hungUp
})

test('a signal ends the connecting, and the request is never sent', async () => {
  const taken: string[] = []
  const stop = new AbortController()
  let goOn: (() => void) | undefined
  const lookup: LookupFunction = (...call) => {
    if (goOn) return LOCAL(...call)
    goOn = () => LOCAL(...call)
    stop.abort(new Error('enough'))
  }
  const { ask } = await askerFor(({ url = '' }, response) => void response.end(String(taken.push(url))), {
    guard: createAddressGuard(['127.0.0.1'], lookup),
    maxConnections: 1,
  })
  await expect(ask(stop.signal, undefined, '/given-up')).rejects.toThrow('enough')
  const next = ask(LONG_MS, undefined, '/next')
  goOn?.()
  await next
  expect(taken).toEqual(['/next'])
})

test('an aborted signal prevents the request', async () => {
  let asked = 0
  const { ask } = await askerFor(() => void asked++)
  await expect(ask(AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  expect(asked).toBe(0)
})

test('closing a client fails running and waiting requests, and later ones', async () => {
  const { ask, client } = await askerFor(() => client.close(), { maxConnections: 1 })
  const asked = [ask(LONG_MS), ask(LONG_MS)]
  for (const one of asked) await expect(one).rejects.toThrow('the client is closed')
  await expect(ask(LONG_MS)).rejects.toBeInstanceOf(NotConnectedError)
})

test('draining a client lets running requests end', async () => {
  let drained: Promise<void> | undefined
  const { ask, client } = await askerFor((_request, response) => {
    drained = client.drain()
    response.end('done')
  })
  expect(await ask(LONG_MS)).toMatchObject({ body: 'done' })
  await drained
  await expect(ask(LONG_MS)).rejects.toBeInstanceOf(NotConnectedError)
})

test('a single exchange leaves no connection behind', async () => {
  let hungUp: Promise<unknown> | undefined
  const { port } = await askerFor((request, response) => {
    hungUp = once(request.socket, 'close')
    response.end('done')
  })
  const answer = await exchangeOnce(`http://127.0.0.1:${port}/a?b`, { method: 'GET' }, LONG_MS)
  expect(answer).toMatchObject({ statusCode: 200, body: 'done' })
  await hungUp
})

/** True if an error says that no byte of the request was sent. */
async function hasSurelyNotLeft(failing: Promise<unknown>): Promise<boolean> {
  const error = await failing.then(
    () => expect.fail('it did not fail'),
    (reason: unknown) => reason,
  )
  return error instanceof NotConnectedError
}

/** A server that handles connections in this way, and its port. */
async function rawServer(onSocket: (socket: Socket) => void): Promise<number> {
  const server = createTcpServer((socket) => onSocket(socket.on('error', () => undefined))).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

const origins = (port: number) => ({ plain: `http://127.0.0.1:${port}`, tls: `https://127.0.0.1:${port}` })

test.each<[string, (socket: Socket) => void]>([
  ['that is reset before the handshake', (socket) => socket.resetAndDestroy()],
  ['that closes in the handshake', (socket) => void socket.once('data', () => socket.destroy())],
  ['that answers in plain text', (socket) => void socket.end('HTTP/1.1 200 OK\r\n\r\n')],
  ['whose handshake does not end', () => undefined],
])('nothing was sent over TLS %s', async (_what, onSocket) => {
  const { tls } = origins(await rawServer(onSocket))
  const client = clientWith({ connectTimeoutMs: SHORT_MS })
  const asked = exchange(client, { origin: new URL(tls), path: '/', method: 'POST', body: '{}' }, LONG_MS)
  expect(await hasSurelyNotLeft(asked)).toBe(true)
})

test('nothing was sent without a server, a name, enough time to look it up, or a valid header', async () => {
  const { ask } = await askerFor(() => undefined, {
    guard: createAddressGuard([], (_host, _options, callback) => callback(new Error('no such name'), [])),
  })
  expect(await hasSurelyNotLeft(ask(LONG_MS))).toBe(true)
  const waiting = await askerFor(() => undefined, {
    guard: createAddressGuard([], () => undefined),
    connectTimeoutMs: SHORT_MS,
  })
  expect(await hasSurelyNotLeft(waiting.ask(LONG_MS))).toBe(true)
  const closed = createTcpServer().listen(0, '127.0.0.1')
  await once(closed, 'listening')
  const { plain } = origins((closed.address() as AddressInfo).port)
  closed.close()
  await once(closed, 'close')
  expect(await hasSurelyNotLeft(exchangeOnce(plain, { method: 'GET' }, LONG_MS))).toBe(true)
  const bad = { method: 'GET', headers: { authorization: 'a\r\nb' } }
  expect(await hasSurelyNotLeft(exchangeOnce(plain, bad, LONG_MS))).toBe(true)
})

test('nothing was sent of requests that waited in vain for a connection', async () => {
  const asked: string[] = []
  const limits = { maxConnections: 2, connectTimeoutMs: SHORT_MS }
  const { ask } = await askerFor(({ url = '' }, response) => {
    asked.push(url)
    if (url === '/last') response.end()
  }, limits)
  const taken = [ask(LONG_MS, undefined, '/1'), ask(LONG_MS, undefined, '/2')].map((one) => one.catch(() => null))
  expect(await hasSurelyNotLeft(ask(LONG_MS, undefined, '/late'))).toBe(true)
  expect(asked).toEqual(['/1', '/2'])
  void taken
})

test.each<[string, (socket: Socket) => void]>([
  ['is reset', (socket) => void socket.once('data', () => socket.resetAndDestroy())],
  ['ends without an answer', (socket) => void socket.once('data', () => socket.end())],
  ['carries no HTTP', (socket) => void socket.once('data', () => socket.end('SSH-2.0\r\n\r\n'))],
  ['breaks in the head', (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\nx-'))],
  [
    'breaks in the body',
    (socket) => void socket.once('data', () => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 9\r\n\r\nx')),
  ],
  ['only ever says that an answer will come', (socket) => void socket.once('data', () => interim(socket))],
])('something may have been sent if the connection %s', async (_what, onSocket) => {
  const { plain } = origins(await rawServer(onSocket))
  const asked = exchangeOnce(plain, { method: 'POST', body: '{}' }, LONG_MS)
  expect(await hasSurelyNotLeft(asked)).toBe(false)
})

function interim(socket: Socket): void {
  socket.write('HTTP/1.1 102 Processing\r\n\r\n'.repeat(100))
}

test('something may have been sent if the connection of an earlier request is reset', async () => {
  let requests = 0
  const port = await rawServer((socket) => {
    socket.on('data', () => {
      if (++requests === 1) socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n')
      else socket.resetAndDestroy()
    })
  })
  const client = clientWith()
  const request = { origin: new URL(origins(port).plain), path: '/', method: 'POST', body: '{}' }
  await exchange(client, request, LONG_MS)
  expect(await hasSurelyNotLeft(exchange(client, request, LONG_MS))).toBe(false)
})

test('a connection is reused, unless its server has closed it or sent extra data', async () => {
  const sockets: Socket[] = []
  const ok = 'HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\nok'
  const port = await rawServer((socket) => {
    sockets.push(socket)
    socket.on('data', (data) => socket.write(String(data).includes('/more') ? `${ok}${ok}` : ok))
  })
  const client = clientWith()
  const ask = (path: string) =>
    exchange(client, { ...requestTo(port, path), origin: new URL(origins(port).plain) }, LONG_MS)
  const turn = () => new Promise((resolve) => setImmediate(resolve))
  for (const path of ['/', '/']) {
    expect(await ask(path)).toMatchObject({ body: 'ok' })
    await turn()
  }
  expect(sockets).toHaveLength(1)
  sockets[0]?.write(ok)
  await once(sockets[0] as Socket, 'close')
  expect(await ask('/more')).toMatchObject({ body: 'ok' })
  await once(sockets[1] as Socket, 'close')
  expect(await ask('/')).toMatchObject({ body: 'ok' })
  sockets[2]?.end()
  await once(sockets[2] as Socket, 'close')
  expect(await ask('/')).toMatchObject({ body: 'ok' })
  expect(sockets).toHaveLength(4)
})

test('a connection is closed before its server would close it', async () => {
  const sockets: Socket[] = []
  const port = await rawServer((socket) => {
    sockets.push(socket)
    socket.on('data', () => socket.write('HTTP/1.1 200 OK\r\nkeep-alive: timeout=1\r\ncontent-length: 0\r\n\r\n'))
  })
  const client = clientWith()
  await exchange(client, { ...requestTo(port), origin: new URL(origins(port).plain) }, LONG_MS)
  await once(sockets[0] as Socket, 'close')
})
