import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A request that an endpoint received. */
export interface ReceivedWebhook {
  headers: IncomingHttpHeaders
  /** With the query string. */
  path: string
  /** The raw body. */
  text: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into events of every kind
  body: any
}

/** The answer of an endpoint, 204 by default. */
export type Respond = (
  webhook: ReceivedWebhook,
) => number | ((response: ServerResponse) => void) | Promise<number | ((response: ServerResponse) => void)>

/** An endpoint of a test: a real server that keeps its requests. */
export interface Receiver {
  url: string
  /** In the order of their arrival. */
  received: ReceivedWebhook[]
  /** The kinds of the received events. */
  types(): string[]
  /** Sets its further answers: a status, or a function. */
  respond(respond: Respond): void
  /** Resolves once this number of requests has arrived. */
  until(count: number): Promise<void>
  close(): Promise<void>
}

/** Starts an endpoint on loopback; it answers 204. `port`: a free one where it is 0. */
export async function startReceiver(port = 0): Promise<Receiver> {
  let respond: Respond = () => 204
  let waiting: { count: number; resolve: () => void }[] = []
  const received: ReceivedWebhook[] = []
  const server = createServer((request, response) => {
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', async () => {
      const text = Buffer.concat(chunks).toString()
      const webhook = { headers: request.headers, path: request.url ?? '', text, body: JSON.parse(text) }
      received.push(webhook)
      for (const { count, resolve } of waiting) if (received.length >= count) resolve()
      waiting = waiting.filter(({ count }) => received.length < count)
      const answer = await respond(webhook)
      if (typeof answer === 'number') response.writeHead(answer).end()
      else answer(response)
    })
  })
  await new Promise<void>((resolve) => server.listen(port, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/hook`,
    received,
    types: () => received.map(({ body }) => body.type),
    respond: (next) => {
      respond = next
    },
    until: (count) =>
      received.length >= count
        ? Promise.resolve()
        : new Promise((resolve) => {
            waiting.push({ count, resolve })
          }),
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}
