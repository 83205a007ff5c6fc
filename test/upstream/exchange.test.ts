import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { Pool } from 'undici'
import { expect, onTestFinished, test } from 'vitest'
import { exchange } from '../../src/upstream/exchange.js'

const REQUEST = { path: '/', method: 'POST', body: '{}' } as const
const LONG_MS = 20_000
const SHORT_MS = 100

/** A pool for a server that answers every request with `listener`. */
async function poolFor(listener: RequestListener): Promise<Pool> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const pool = new Pool(`http://127.0.0.1:${(server.address() as AddressInfo).port}`)
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
