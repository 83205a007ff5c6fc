import { type ClientRequest, type Agent as HttpAgent, type IncomingMessage, request as openRequest } from 'node:http'
import { isIP, type Socket } from 'node:net'
import { pipeline, Readable } from 'node:stream'
import type { AddressGuard } from './address-guard.js'
import { idleTime } from './idle-connections.js'

export interface HttpRequest {
  /** Only protocol, host and port are used. */
  origin: URL
  /** With its query; sent as given. */
  path: string
  method: string
  /** Names in lower case; a stream requires `content-length`. */
  headers?: Readonly<Record<string, string>>
  body?: string | Buffer | Readable | null
}

/** Receives the events of one request. */
export interface HttpListener {
  /** The request leaves on a connection. */
  onConnected?(): void
  /**
   * The answer's head has arrived. Its body must be read to the end or destroyed. Interim answers (1xx) are not
   * reported.
   */
  onAnswer(answer: IncomingMessage): void
  /**
   * The request or its answer's body failed; called once. A NotConnectedError means that no byte was sent; after any
   * other error the server may have received the request.
   */
  onFailure(error: Error): void
}

/**
 * Codes of OpenSSL and Node: DEPTH_ZERO_SELF_SIGNED_CERT, ERR_TLS_…, ERR_SSL_…, UNABLE_TO_VERIFY_LEAF_SIGNATURE; EPROTO
 * if the other side does not speak TLS.
 */
const INSECURE = /CERT|TLS|SSL|SIGNATURE|ISSUER|^EPROTO$/

/** The request was not sent, because there was no connection. `cause` is the reason, `code` its code. */
export class NotConnectedError extends Error {
  readonly code: string
  /** True if TLS failed. */
  readonly isInsecure: boolean

  constructor(cause: Error) {
    const { code = '' } = cause as NodeJS.ErrnoException
    // A failed connection to a name with several addresses has a code but no message.
    super(cause.message || code || 'the connection failed', { cause })
    this.name = 'NotConnectedError'
    this.code = code
    this.isInsecure = INSECURE.test(code)
  }
}

/** No connection could be made in time. */
export class ConnectTimeoutError extends Error {
  readonly code = 'ERR_CONNECT_TIMEOUT'

  constructor(timeoutMs: number) {
    super(`no connection within ${timeoutMs / 1_000} s`)
    this.name = 'ConnectTimeoutError'
  }
}

/** The client was closed. */
export class ClosedError extends Error {
  constructor() {
    super('the client is closed')
    this.name = 'ClosedError'
  }
}

/** Shared by the requests of one client. */
export interface Pools {
  guard?: AddressGuard
  connectTimeoutMs: number
  keepAliveMs: number
  agents: Record<string, HttpAgent>
  /** Connections that are established, including TLS. */
  connected: WeakSet<Socket>
  /** How long each may be idle, in milliseconds. */
  idleTimes: WeakMap<Socket, number>
  /** The abort functions of the running requests. */
  underWay: Set<GiveUp>
  isClosed: boolean
  /** Called when the last running request has ended. */
  onEmpty: () => void
}

type GiveUp = (reason: Error) => void

const BODILESS = ['GET', 'HEAD', 'DELETE']
/** After this many interim answers a request fails, since a server could send them without end. */
const MAX_INTERIM_ANSWERS = 32

/** Starts a request; see HttpClient.dispatch. */
export function dispatch(pools: Pools, request: HttpRequest, listener: HttpListener): GiveUp {
  const { connectTimeoutMs, underWay } = pools
  let outgoing: ClientRequest | null = null
  let hasLeft = false
  let hasFailed = false

  const giveUp = (reason: Error) => {
    if (hasFailed) return
    hasFailed = true
    clearTimeout(timer)
    end()
    outgoing?.destroy()
    if (request.body instanceof Readable) request.body.destroy()
    listener.onFailure(reason)
  }
  const end = () => {
    if (underWay.delete(giveUp) && underWay.size === 0) pools.onEmpty()
  }
  const fail = (error: Error) => giveUp(hasLeft ? error : new NotConnectedError(error))
  const timer = setTimeout(() => fail(new ConnectTimeoutError(connectTimeoutMs)), connectTimeoutMs)
  const leave = () => {
    clearTimeout(timer)
    if (hasFailed) return
    hasLeft = true
    listener.onConnected?.()
  }

  try {
    outgoing = open(pools, request)
  } catch (error) {
    queueMicrotask(() => fail(error as Error))
    return giveUp
  }
  underWay.add(giveUp)
  outgoing.once('close', end)
  outgoing.on('error', fail)
  onceItLeaves(outgoing, request, pools, leave)
  limitInterimAnswers(outgoing, fail)
  outgoing.once('upgrade', (_answer, socket) => {
    socket.destroy()
    fail(new Error('the server speaks another protocol'))
  })
  outgoing.once('response', (answer) => {
    pools.idleTimes.set(answer.socket, idleTime(answer.headers, pools.keepAliveMs))
    answer.on('error', fail)
    listener.onAnswer(answer)
  })
  send(outgoing, request.body ?? null, fail)
  return giveUp
}

/** Throws if nothing can be sent: a private address, an invalid header, a closed client. */
function open(pools: Pools, { origin, path, method, headers = {}, body }: HttpRequest): ClientRequest {
  if (pools.isClosed) throw new ClosedError()
  const host = origin.hostname.replace(/^\[|\]$/g, '')
  // IP addresses are not looked up, so the look-up cannot check them.
  const refusal = pools.guard && isIP(host) ? pools.guard.check(host, host) : null
  if (refusal) throw refusal
  const agent = pools.agents[origin.protocol]
  if (!agent) throw new Error(`${origin.protocol} is not a protocol of HTTP`)
  // Passing a list costs half as much as passing an object.
  const list = ['host', origin.host, ...Object.entries(headers).flat()]
  const hasLength = body instanceof Readable || (body == null && BODILESS.includes(method))
  if (!hasLength) list.push('content-length', String(Buffer.byteLength(body ?? '')))
  const { protocol, port } = origin
  return openRequest({ agent, protocol, host, port, path, method, headers: list })
}

/**
 * Bytes leave when a connection is established, including TLS; on an idle connection at once, unless it ended
 * meanwhile.
 */
function onceItLeaves(outgoing: ClientRequest, { origin }: HttpRequest, { connected }: Pools, leave: () => void): void {
  outgoing.once('socket', (socket) => {
    if (!connected.has(socket)) socket.once(origin.protocol === 'https:' ? 'secureConnect' : 'connect', leave)
    else if (socket.writable) leave()
  })
}

function limitInterimAnswers(outgoing: ClientRequest, fail: (error: Error) => void): void {
  let count = 0
  outgoing.on('information', () => {
    if (++count > MAX_INTERIM_ANSWERS) fail(new Error(`more than ${MAX_INTERIM_ANSWERS} interim answers`))
  })
}

function send(outgoing: ClientRequest, body: string | Buffer | Readable | null, fail: (error: Error) => void): void {
  if (!(body instanceof Readable)) {
    outgoing.end(body ?? undefined)
    return
  }
  // A server that answers before it has the whole body does not want the rest.
  outgoing.once('response', (answer) => answer.once('end', () => outgoing.writableFinished || outgoing.destroy()))
  pipeline(body, outgoing, (error) => error && fail(error))
}
