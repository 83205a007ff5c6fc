import type { Readable } from 'node:stream'
import { createHttpClient, type HttpClient } from '../lib/http/client.js'
import { exchange } from '../lib/http/exchange.js'
import { type Answer, readAnswer } from './answer.js'

/** A business number and its access token. */
export interface BusinessNumber {
  phoneNumberId: string
  accessToken: string
}

/** The connections to one upstream and the API's path there. */
export interface Connection {
  client: HttpClient
  origin: URL
  /** The path of the API, such as `/v23.0`. */
  base: string
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
export function openConnection(baseUrl: string): Connection {
  const origin = new URL(baseUrl)
  const client = createHttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    maxConnections: MAX_CONNECTIONS,
  })
  return { client, origin, base: origin.pathname.replace(/\/$/, '') }
}

/** Shorter texts are no access tokens, and may be words. */
const MIN_TOKEN_LENGTH = 20

/**
 * Makes one request with an access token and reads the whole answer, within `timeoutMs`. An error that repeats the token
 * is read without it: its texts are shown. Throws connection errors.
 */
export async function makeCall(
  { client, origin, base }: Connection,
  { accessToken }: Pick<BusinessNumber, 'accessToken'>,
  { method, path, headers, body }: Call,
  timeoutMs: number,
): Promise<Answer> {
  const authorization = `Bearer ${accessToken}`
  const request = { origin, method, path: base + path, headers: { authorization, ...headers }, body: body ?? null }
  const answer = await exchange(client, request, timeoutMs)
  const mayRepeat = answer.statusCode >= 400 && accessToken.length >= MIN_TOKEN_LENGTH
  return readAnswer(mayRepeat ? { ...answer, body: answer.body.replaceAll(accessToken, '…') } : answer)
}
