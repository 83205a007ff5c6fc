import type { Readable } from 'node:stream'
import { createHttpClient, type HttpClient } from '../lib/http/client.js'
import { exchange } from '../lib/http/exchange.js'
import { type Answer, readAnswer } from './answer.js'

/** A business number and the credential to use it. */
export interface BusinessNumber {
  phoneNumberId: string
  accessToken: string
}

/** The connections to one upstream, and where its API stands there. */
export interface Connection {
  client: HttpClient
  origin: URL
  /** The path of the API, such as `/v23.0`. */
  base: string
}

/** One call of the API; `path` is below its base. */
export interface Call {
  method: 'GET' | 'POST'
  path: string
  headers?: Record<string, string>
  body?: string | Readable
}

const CONNECT_TIMEOUT_MS = 5_000
const KEEP_ALIVE_MS = 30_000
/**
 * Calls under way at a time. At a third of a second each they carry 1,500 messages a second, more than a business number may send; a burst
 * beyond them, of whichever organization, waits for a free one within the time of connecting, and is tried again after it.
 */
const MAX_CONNECTIONS = 512

/** Connections to the API at `baseUrl` (with its version, such as https://host/v23.0); made when they are needed. */
export function openConnection(baseUrl: string): Connection {
  const origin = new URL(baseUrl)
  const client = createHttpClient({
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    keepAliveMs: KEEP_ALIVE_MS,
    maxConnections: MAX_CONNECTIONS,
  })
  return { client, origin, base: origin.pathname.replace(/\/$/, '') }
}

/** Makes one call with an access token and reads the whole answer, within `timeoutMs`. Throws what breaks the connection. */
export async function makeCall(
  { client, origin, base }: Connection,
  { accessToken }: Pick<BusinessNumber, 'accessToken'>,
  { method, path, headers, body }: Call,
  timeoutMs: number,
): Promise<Answer> {
  const authorization = `Bearer ${accessToken}`
  const request = { origin, method, path: base + path, headers: { authorization, ...headers }, body: body ?? null }
  return readAnswer(await exchange(client, request, timeoutMs))
}
