import type { Readable } from 'node:stream'
import { Pool } from 'undici'
import { exchange } from '../lib/exchange.js'
import { MEBIBYTE } from '../lib/units.js'
import { type Answer, readAnswer } from './answer.js'

/** A business number and the credential to use it. */
export interface BusinessNumber {
  phoneNumberId: string
  accessToken: string
}

/** The connections to one upstream, and where its API stands there. */
export interface Connection {
  pool: Pool
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
const MAX_ANSWER_BYTES = MEBIBYTE

/** Connections to the API at `baseUrl` (with its version, such as https://host/v23.0); made when they are needed. */
export function openConnection(baseUrl: string): Connection {
  const { origin, pathname } = new URL(baseUrl)
  const pool = new Pool(origin, {
    connect: { timeout: CONNECT_TIMEOUT_MS },
    maxResponseSize: MAX_ANSWER_BYTES,
    keepAliveTimeout: 30_000,
  })
  return { pool, base: pathname.replace(/\/$/, '') }
}

/** Makes one call with an access token and reads the whole answer, within `timeoutMs`. Throws what breaks the connection. */
export async function makeCall(
  { pool, base }: Connection,
  { accessToken }: Pick<BusinessNumber, 'accessToken'>,
  { method, path, headers, body }: Call,
  timeoutMs: number,
): Promise<Answer> {
  const authorization = `Bearer ${accessToken}`
  const request = { method, path: base + path, headers: { authorization, ...headers }, body: body ?? null }
  return readAnswer(await exchange(pool, request, timeoutMs))
}
