import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buildConnector, Pool } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { exchange } from '../../src/lib/exchange.js'

const REQUEST = { path: '/', method: 'POST', body: '{}' } as const
const LONG_MS = 20_000
const SHORT_MS = 100

/** A pool for a server that answers every request with `listener`. */
async function poolFor(listener: RequestListener, options: Pool.Options = {}): Promise<Pool> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, options)
  onTestFinished(async () => {
    await pool.destroy()
    server.closeAllConnections()
    server.close()
  })
  return pool
}

test('the status, the headers and the whole body come back, also where a character is cut in two', async () => {
  const [first, second] = [Buffer.from([0xc3]), Buffer.from([0xa9])]
  const pool = await poolFor((_request, response) => {
    response.writeHead(429, { 'retry-after': '7' })
    response.write(first, () => response.end(second))
  })
  const answer = await exchange(pool, REQUEST, LONG_MS)
  expect(answer).toMatchObject({ statusCode: 429, headers: { 'retry-after': '7' }, body: 'é' })
})

test('an answer that does not begin is given up', async () => {
  const pool = await poolFor(() => undefined)
  await expect(exchange(pool, REQUEST, SHORT_MS)).rejects.toThrow(`not within ${SHORT_MS} ms`)
})

test('an answer that trickles is given up, however regularly its bytes come', async () => {
  const pool = await poolFor((_request, response) => {
    const timer = setInterval(() => response.write(' '), SHORT_MS / 4)
    response.on('close', () => clearInterval(timer))
  })
  await expect(exchange(pool, REQUEST, SHORT_MS)).rejects.toThrow(`not within ${SHORT_MS} ms`)
})

test('an answer that breaks off is an error', async () => {
  const pool = await poolFor((_request, response) => {
    response.writeHead(200, { 'content-length': '10' })
    response.write('half', () => response.destroy())
  })
  await expect(exchange(pool, REQUEST, LONG_MS)).rejects.toMatchObject({ code: 'UND_ERR_SOCKET' })
})

test('a signal gives up an answer that does not come, and hangs up', async () => {
  const stop = new AbortController()
  let hungUp: Promise<unknown> | undefined
  const pool = await poolFor(({ socket }) => {
    hungUp = once(socket, 'close')
    stop.abort(new Error('enough'))
  })
  await expect(exchange(pool, REQUEST, stop.signal)).rejects.toThrow('enough')
  await hungUp
})

test('a signal gives up a connection that is still being made, and nothing goes out on it later', async () => {
  const taken: string[] = []
  const stop = new AbortController()
  let goOn: (() => void) | undefined
  const connect: buildConnector.connector = (options, callback) => {
    const connectNow = () => buildConnector({})(options, callback)
    if (goOn) return connectNow()
    goOn = connectNow
    stop.abort(new Error('enough'))
  }
  const pool = await poolFor(({ url = '' }, response) => void response.end(String(taken.push(url))), {
    connect,
    connections: 1,
  })
  await expect(exchange(pool, { ...REQUEST, path: '/given-up' }, stop.signal)).rejects.toThrow('enough')
  const next = exchange(pool, { ...REQUEST, path: '/next' }, LONG_MS)
  goOn?.()
  await next
  expect(taken).toEqual(['/next'])
})

test('a signal that is aborted already lets nothing begin', async () => {
  const pool = await poolFor(() => undefined)
  await expect(exchange(pool, REQUEST, AbortSignal.abort(new Error('enough')))).rejects.toThrow('enough')
  expect(pool.stats).toMatchObject({ connected: 0, pending: 0 })
})
