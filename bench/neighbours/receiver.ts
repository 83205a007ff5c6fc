import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'

/** An HTTP server on this machine that others call: an endpoint of webhooks, or a shop. */
export interface Receiver {
  url: string
  /** Requests so far. */
  readonly received: number
  close(): Promise<void>
}

/** `answer` answers a request, after its body has been read, or never does. */
export async function openReceiver(answer: (response: ServerResponse, body: string) => void): Promise<Receiver> {
  let received = 0
  const server = createServer((request, response) => {
    received += 1
    const chunks: Buffer[] = []
    request.on('data', (chunk: Buffer) => chunks.push(chunk))
    request.on('end', () => answer(response, Buffer.concat(chunks).toString()))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get received() {
      return received
    },
    close: async () => {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

/** A receiver that reads every request and answers none. */
export function openHangingReceiver(): Promise<Receiver> {
  return openReceiver(() => undefined)
}
