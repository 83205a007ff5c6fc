import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'

/** A call of the service to the upstream that was stopped on its way. */
export interface HeldCall {
  body: Buffer
  /** Lets it go on, whether the service still lives or not; resolves when the upstream has answered. */
  pass(): Promise<void>
}

/** A way to the upstream on which calls can be stopped. */
export interface UpstreamProxy {
  /** The upstream by way of the proxy. */
  upstreamUrl: string
  /** Those stopped since the last `hold`, in the order in which they came. */
  held: readonly HeldCall[]
  /** How many `POST …/messages` have come so far. */
  messages(): number
  /**
   * From now on stops each `POST …/messages` or `…/media` before it reaches the upstream, or its answer on the way
   * back.
   */
  hold(what: 'call' | 'answer', of: 'messages' | 'media'): void
  /** Stops nothing more; what is held stays so. */
  letThrough(): void
  /** Resolves when the upstream has answered what was passed on so far, also the calls of a process that was killed. */
  answered(): Promise<void>
  close(): Promise<void>
}

interface Answered {
  status: number
  type: string
  body: Buffer
}

/** Starts a proxy on a free port in front of the upstream at `target` (with its version). */
export async function startUpstreamProxy(target: string): Promise<UpstreamProxy> {
  const { origin, pathname } = new URL(target)
  const held: HeldCall[] = []
  let holding: { what: 'call' | 'answer'; of: string } | null = null
  const underWay = new Set<Promise<Answered>>()
  let messages = 0

  async function passOn(url: string, request: IncomingMessage, body: Buffer): Promise<Answered> {
    const asked = forward(`${origin}${url}`, request, body)
    underWay.add(asked)
    return asked.finally(() => underWay.delete(asked))
  }

  async function handle(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const { url = '', method } = request
    const [path = ''] = url.split('?')
    const body = await buffer(request)
    if (method === 'POST' && path.endsWith('/messages')) messages += 1
    const what = method === 'POST' && holding !== null && path.endsWith(`/${holding.of}`) ? holding.what : null
    let asked: Promise<Answered> | undefined
    const ask = () => {
      asked ??= passOn(url, request, body)
      return asked
    }
    if (what === 'answer') await ask()
    if (what !== null) {
      await new Promise<void>((resolve) => {
        const pass = async () => {
          resolve()
          await ask()
        }
        held.push({ body, pass })
      })
    }
    const answered = await ask()
    response.writeHead(answered.status, { 'content-type': answered.type }).end(answered.body)
  }

  const server = createServer((request, response) => {
    // Who hangs up before the end is hung up on.
    handle(request, response).catch(() => response.destroy())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  return {
    upstreamUrl: `http://127.0.0.1:${(server.address() as AddressInfo).port}${pathname}`,
    held,
    messages: () => messages,
    hold: (what, of) => {
      held.length = 0
      holding = { what, of }
    },
    letThrough: () => {
      holding = null
    },
    answered: async () => {
      await Promise.allSettled(underWay)
    },
    close: async () => {
      server.closeAllConnections()
      await new Promise((resolve) => server.close(resolve))
    },
  }
}

async function forward(url: string, { method = '', headers }: IncomingMessage, body: Buffer): Promise<Answered> {
  const passedOn = ['authorization', 'content-type'].flatMap((name) => {
    const value = headers[name]
    return typeof value === 'string' ? [[name, value] as const] : []
  })
  const answer = await fetch(url, {
    method,
    headers: Object.fromEntries(passedOn),
    body: method === 'GET' ? null : new Uint8Array(body),
  })
  return {
    status: answer.status,
    type: answer.headers.get('content-type') ?? 'application/json',
    body: Buffer.from(await answer.arrayBuffer()),
  }
}
