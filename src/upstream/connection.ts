import type { Readable } from 'node:stream'
import type { OutageWatch } from '../lib/async/outages.js'
import { startCountdown } from '../lib/async/timeout.js'
import { hmacSha256Hex } from '../lib/crypto/signature.js'
import { createHttpClient, type HttpClient } from '../lib/http/client.js'
import type { HttpRequest } from '../lib/http/dispatch.js'
import { exchange } from '../lib/http/exchange.js'
import { type Answer, readAnswer } from './answer.js'

/** An access token, and the secret of its app, if it is known: calls then prove that the caller has both. */
export interface UpstreamAccess {
  accessToken: string
  appSecret?: string | null | undefined
}

/** A business number and its access token. */
export interface BusinessNumber extends UpstreamAccess {
  phoneNumberId: string
}

/** The connections to one upstream and the API's path there. */
export interface Connection {
  client: HttpClient
  origin: URL
  /** The path of the API, such as `/v23.0`. */
  base: string
  /** Gets to know of each call whether the upstream answered. */
  outage: OutageWatch
  /** Proofs that were refused: the stored secret is that of another app. */
  wrongProofs: Set<string>
}

/** One request; `path` is relative to the base. */
export interface Call {
  method: 'GET' | 'POST' | 'DELETE'
  path: string
  headers?: Record<string, string>
  body?: string | Readable
}

const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 30_000
/**
 * Concurrent calls. At a third of a second each they carry 1,500 messages per second, more than a number may send.
 * Calls beyond that wait within the connect time-out and are retried.
 */
const MAX_CONNECTIONS = 512

/** Connections to the API at `baseUrl` (with its version, such as https://host/v23.0), opened when needed. */
export function openConnection(baseUrl: string, outage: OutageWatch): Connection {
  const origin = new URL(baseUrl)
  const client = createHttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    maxConnections: MAX_CONNECTIONS,
  })
  return { client, origin, base: origin.pathname.replace(/\/$/, ''), outage, wrongProofs: new Set() }
}

/** Shorter texts are no access tokens, and may be words. */
const MIN_TOKEN_LENGTH = 20

const MAX_WRONG_PROOFS = 1_000
const INVALID_PARAMETER = 100

/**
 * Makes one call with an access token and reads the whole answer, within `timeoutMs`. Throws connection errors. The call
 * proves that the caller has the app's secret, which apps can require. A secret that is not the app's, which only means
 * that callbacks of another app are accepted here, must not stop sending: the call is repeated without the proof.
 */
export async function makeCall(
  connection: Connection,
  access: UpstreamAccess,
  call: Call,
  timeoutMs: number,
): Promise<Answer> {
  const proof = access.appSecret ? hmacSha256Hex(access.appSecret, access.accessToken) : null
  if (proof === null || connection.wrongProofs.has(proof)) return makeRequest(connection, access, call, timeoutMs)
  const leftMs = startCountdown(timeoutMs)
  const path = `${call.path}${call.path.includes('?') ? '&' : '?'}appsecret_proof=${proof}`
  const answer = await makeRequest(connection, access, { ...call, path }, timeoutMs)
  const { error } = answer
  if (error?.code !== INVALID_PARAMETER || !/Invalid appsecret_proof/i.test(error.message)) return answer
  if (connection.wrongProofs.size >= MAX_WRONG_PROOFS) connection.wrongProofs.clear()
  connection.wrongProofs.add(proof)
  // A stream has been read, so the caller has to repeat its call.
  if (typeof call.body === 'object') return { ...answer, error: { ...error, kind: 'busy' } }
  return makeRequest(connection, access, call, Math.max(1, leftMs()))
}

/** An error that repeats the token is read without it: its texts are shown. */
async function makeRequest(
  connection: Connection,
  { accessToken }: UpstreamAccess,
  { method, path, headers, body }: Call,
  timeoutMs: number,
): Promise<Answer> {
  const { origin, base } = connection
  const authorization = `Bearer ${accessToken}`
  const request = { origin, method, path: base + path, headers: { authorization, ...headers }, body: body ?? null }
  const answer = await watched(connection, request, timeoutMs)
  const mayRepeat = answer.statusCode >= 400 && accessToken.length >= MIN_TOKEN_LENGTH
  return readAnswer(mayRepeat ? { ...answer, body: answer.body.replaceAll(accessToken, '…') } : answer)
}

/** An answer that is a fault of the upstream's counts as none. */
async function watched({ client, outage }: Connection, request: HttpRequest, timeoutMs: number) {
  try {
    const answer = await exchange(client, request, timeoutMs)
    if (answer.statusCode >= 500) outage.failed(`HTTP ${answer.statusCode}`)
    else outage.worked()
    return answer
  } catch (error) {
    outage.failed(error instanceof Error ? error.message : String(error))
    throw error
  }
}
