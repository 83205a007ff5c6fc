import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { type AddressGuard, guardLookup } from './address-guard.js'
import { ClosedError, dispatch, type HttpListener, type HttpRequest, type Pools } from './dispatch.js'
import { keepIdleConnections } from './idle-connections.js'

/** How a client connects. */
export interface HttpClientOptions {
  /** Checks the address of every connection; without a guard all addresses are allowed. */
  guard?: AddressGuard
  /** Time for getting a connection: a free place among `maxConnections`, name resolution, TCP, TLS. */
  connectTimeoutMs: number
  /** How long a connection may be idle, unless its server asks for less; 0: one connection per request. */
  keepAliveMs: number
  /** Concurrent connections per origin; further requests wait. Unlimited if absent. */
  maxConnections?: number
}

/** Makes HTTP requests over persistent connections. */
export interface HttpClient {
  /** Starts a request. The returned function aborts it with a reason, which the listener gets at once. */
  dispatch(request: HttpRequest, listener: HttpListener): (reason: Error) => void
  /** Fails running requests, closes connections, and accepts no further requests. */
  close(): void
  /** Closes after all running requests have ended. */
  drain(): Promise<void>
}

/** A client on Node's HTTP. A fault of a connection or server always fails the request and is never thrown. */
export function createHttpClient(options: HttpClientOptions): HttpClient {
  const connected = new WeakSet<Socket>()
  const idleTimes = new WeakMap<Socket, number>()
  const agents = {
    'http:': makeAgent(HttpAgent, 'connect', options, connected),
    'https:': makeAgent(HttpsAgent, 'secureConnect', options, connected),
  }
  for (const agent of Object.values(agents)) keepIdleConnections(agent, (socket) => idleTimes.get(socket) ?? 0)
  const pools: Pools = {
    ...options,
    agents,
    connected,
    idleTimes,
    underWay: new Set(),
    isClosed: false,
    onEmpty: () => undefined,
  }
  const close = () => {
    pools.isClosed = true
    for (const giveUp of pools.underWay) giveUp(new ClosedError())
    for (const agent of Object.values(agents)) agent.destroy()
  }
  return {
    dispatch: (request, listener) => dispatch(pools, request, listener),
    close,
    drain: async () => {
      pools.isClosed = true
      if (pools.underWay.size > 0)
        await new Promise<void>((resolve) => {
          pools.onEmpty = resolve
        })
      close()
    },
  }
}

function makeAgent(
  Agent: typeof HttpAgent,
  connectEvent: 'connect' | 'secureConnect',
  { guard, keepAliveMs, maxConnections = Number.POSITIVE_INFINITY }: HttpClientOptions,
  connected: WeakSet<Socket>,
): HttpAgent {
  const agent = new Agent({
    keepAlive: keepAliveMs > 0,
    maxSockets: maxConnections,
    // Idle connections are limited by time, not by number.
    maxFreeSockets: Number.POSITIVE_INFINITY,
    ...(guard ? { lookup: guardLookup(guard) } : {}),
  })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback) as Socket
    // Between two requests Node leaves the socket without a listener for a moment, in which an error would end the
    // process.
    socket.on('error', () => undefined)
    return socket.once(connectEvent, () => connected.add(socket))
  }
  return agent
}
