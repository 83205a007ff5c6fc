import { Agent as HttpAgent } from 'node:http'
import { Agent as HttpsAgent } from 'node:https'
import type { Socket } from 'node:net'
import { type AddressGuard, guardLookup } from './address-guard.js'
import { ClosedError, dispatch, type HttpListener, type HttpRequest, type Pools } from './dispatch.js'
import { keepIdleConnections } from './idle-connections.js'

/** How a client connects. */
export interface HttpClientOptions {
  /** Checks the address of every connection that is made; without one every address will do. */
  guard?: AddressGuard
  /** For the way to a connection: a free place among `maxConnections`, name resolution, TCP, TLS. */
  connectTimeoutMs: number
  /** How long a connection may be idle, where its server does not hint at less; 0 = each request has a connection of its own. */
  keepAliveMs: number
  /** To one origin at a time; further requests wait for one of them. No limit where it is not given. */
  maxConnections?: number
}

/** Makes HTTP requests over connections that it keeps. */
export interface HttpClient {
  /** Begins a request. Returns what gives it up with a reason, which its listener hears at once as the failure. */
  dispatch(request: HttpRequest, listener: HttpListener): (reason: Error) => void
  /** Fails what is under way, hangs up, and takes no further requests. */
  close(): void
  /** The same after all that is under way has ended. */
  drain(): Promise<void>
}

/** A client of Node's own HTTP. A fault of a connection or of a server is always the failure of a request, and never an exception. */
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
    // As many as were needed at once; their time ends them.
    maxFreeSockets: Number.POSITIVE_INFINITY,
    ...(guard ? { lookup: guardLookup(guard) } : {}),
  })
  const connect = agent.createConnection.bind(agent)
  agent.createConnection = (options, callback) => {
    const socket = connect(options, callback) as Socket
    // Between two requests the runtime leaves it without a listener for a moment, in which an error would end the process.
    socket.on('error', () => undefined)
    return socket.once(connectEvent, () => connected.add(socket))
  }
  return agent
}
