import type { AddressGuard } from '../lib/http/address-guard.js'
import { createHttpClient, type HttpClient } from '../lib/http/client.js'
import { exchange } from '../lib/http/exchange.js'
import { type Answer, readAnswer } from './answer.js'

/** A connection to one shop's API for one call of the client. */
export interface Connection {
  client: HttpClient
  origin: URL
  /** The API's path with its version, such as `/admin/api/2026-07`. */
  base: string
  accessToken: string
  /** Aborted when the time is over. */
  deadline: AbortSignal
}

/** One request; `path` is relative to the base. */
export interface Call {
  method: 'GET' | 'POST'
  path: string
  /** JSON. */
  body?: string
}

const API_PATH = '/admin/api/2026-07'
const CONNECT_TIMEOUT_MS = 5_000
/** Per shop: one that never answers must not hold a socket for every request. */
const MAX_CONNECTIONS = 32

/** The connections to all shops; they pass the guard, since users type the addresses. */
export function openClient(guard: AddressGuard): HttpClient {
  return createHttpClient({
    guard,
    connectTimeoutMs: CONNECT_TIMEOUT_MS,
    // Servers do not say how long idle connections stay open.
    keepAliveMs: 4_000,
    maxConnections: MAX_CONNECTIONS,
  })
}

/** The API of the shop at `text`, which may contain a path. Throws if it is not a shop's address. */
export function locateApi(text: string): { origin: URL; base: string } {
  if (!URL.canParse(text)) throw new Error("the shop's URL is not valid")
  const origin = new URL(text)
  const { protocol, username, password, pathname } = origin
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error("the shop's URL begins with neither http:// nor https://")
  }
  if (username || password) throw new Error("the shop's URL contains a user name or password")
  return { origin, base: pathname.replace(/\/+$/, '') + API_PATH }
}

/** Makes one request and reads the whole answer. Throws connection errors and the deadline's reason. */
export async function makeCall(
  { client, origin, base, accessToken, deadline }: Connection,
  { method, path, body }: Call,
): Promise<Answer> {
  const headers = {
    accept: 'application/json',
    'user-agent': 'parley',
    'x-shopify-access-token': accessToken,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  }
  return readAnswer(
    await exchange(client, { origin, method, path: base + path, headers, body: body ?? null }, deadline),
  )
}
