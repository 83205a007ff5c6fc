import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo, LookupFunction, Server, Socket } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { onTestFinished } from 'vitest'
import type { EndpointCall } from '../../src/endpoints/client.js'
import { newWebhookSecret } from '../../src/lib/crypto/standard-webhooks.js'
import type { Answering, Taken } from '../support/http-server.js'

/** An endpoint on this machine, for one test. */
export interface TestEndpoint {
  port: number
  url: string
  /** Every connection so far. */
  sockets: Socket[]
}

/** A call of an endpoint. */
export function call(url: string, more: Partial<EndpointCall> = {}): EndpointCall {
  return { url, secrets: [newWebhookSecret()], id: 'event-1', at: new Date(), body: '{"type":"test"}', ...more }
}

/** Makes a server listen on this machine. */
export async function listen(server: Server): Promise<TestEndpoint> {
  const sockets: Socket[] = []
  server.on('connection', (socket: Socket) => sockets.push(socket.on('error', () => undefined)))
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { port, url: `http://127.0.0.1:${port}/`, sockets }
}

/** Starts an HTTP server that answers every request with `answer`. */
export async function startServer(answer: Answering): Promise<TestEndpoint & { taken: Taken[] }> {
  const taken: Taken[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    const { pathname } = new URL(path, 'http://localhost')
    const one = { method, path, pathname, headers, body: await buffer(request) }
    taken.push(one)
    answer(one, response)
  })
  return { ...(await listen(server)), taken }
}

/** Resolves when the connection has ended, however it does. */
export function closed(socket: Socket | undefined): Promise<void> {
  return new Promise((resolve) => {
    if (!socket || socket.destroyed) resolve()
    else socket.once('close', () => resolve())
  })
}

/** A name server that returns these answers in order, and then the last one repeatedly. */
export function nameServer(...turns: string[][]): LookupFunction {
  let asked = 0
  return (_host, _options, callback) => {
    const addresses = turns[Math.min(asked++, turns.length - 1)] ?? []
    callback(
      null,
      addresses.map((address) => ({ address, family: address.includes(':') ? 6 : 4 })),
    )
  }
}
