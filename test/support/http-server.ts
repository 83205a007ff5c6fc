import { createServer, type IncomingHttpHeaders, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A received request. */
export interface Taken {
  method: string
  /** With its query. */
  path: string
  pathname: string
  headers: IncomingHttpHeaders
  body: Buffer
}

/** A real HTTP server with answers from the test. */
export interface HttpServer {
  url: string
  /** The requests so far, in order of arrival. */
  taken: Taken[]
  close(): Promise<void>
}

/** The answer of a test to a request. */
export type Answering = (request: Taken, response: ServerResponse) => void

/** Starts a server on a free port of this machine. */
export async function startHttpServer(answer: Answering): Promise<HttpServer> {
  const taken: Taken[] = []
  const server = createServer(async (request, response) => {
    const { method = '', url: path = '', headers } = request
    // A request that is aborted before its end does not count.
    const body = await buffer(request).catch(() => null)
    if (body === null) return
    const { pathname } = new URL(path, 'http://localhost')
    const one = { method, path, pathname, headers, body }
    taken.push(one)
    answer(one, response)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    taken,
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

/** Answers with a status and a JSON body. */
export function json(status: number, body: unknown, headers: Record<string, string> = {}): Answering {
  return (_request, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
}

/** Answers with bytes that are not JSON. */
export function bare(status: number, headers: Record<string, string> = {}): Answering {
  return (_request, response) => void response.writeHead(status, headers).end('<html>')
}

/** Closes the connection without an answer. */
export const hangUp: Answering = (_request, response) => void response.socket?.destroy()

/** The parts of a `multipart/form-data` body, as a receiver reads them. */
export async function readForm({ headers, body }: Taken): Promise<Record<string, string | File>> {
  const form = await new Response(new Uint8Array(body), {
    headers: { 'content-type': String(headers['content-type']) },
  }).formData()
  return Object.fromEntries(form.entries())
}
