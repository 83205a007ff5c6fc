import { sleep } from '../../lib/async/backoff.js'
import { exchangeOnce } from '../../lib/http/exchange.js'
import { type JsonObject, parseJsonObject } from '../../lib/text/json.js'

/** An answer of the service; a body that is not a JSON object counts as empty. */
export interface Answer {
  status: number
  body: JsonObject
}

export interface Request {
  /** API key or admin token. */
  token: string
  body?: object
  idempotencyKey?: string
}

/** Calls the service like any client. Throws if there is no answer or `signal` aborts. */
export type Call = (method: string, path: string, request: Request) => Promise<Answer>

/** Creates the caller for a service; it repeats requests after Retry-After. */
export function createCall(url: string, signal: AbortSignal): Call {
  return async (method, path, request) => {
    for (;;) {
      const answer = await callOnce(`${url}${path}`, method, request, signal)
      if (answer.status !== 429 && answer.status !== 503) return answer
      await sleep(1_000 * Number(answer.body.retry_after ?? 1), signal)
    }
  }
}

/** The body if the status is expected; otherwise throws an error with the answer. */
export function expectStatus({ status, body }: Answer, expected: readonly number[], what: string): JsonObject {
  if (expected.includes(status)) return body
  throw new Error(`${what} answered ${status} ${JSON.stringify(body).slice(0, 300)}`)
}

async function callOnce(
  url: string,
  method: string,
  { token, body, idempotencyKey }: Request,
  signal: AbortSignal,
): Promise<Answer> {
  const headers = {
    authorization: `Bearer ${token}`,
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
    ...(idempotencyKey === undefined ? {} : { 'idempotency-key': idempotencyKey }),
  }
  const request = { method, headers, body: body === undefined ? null : JSON.stringify(body) }
  const answer = await exchangeOnce(url, request, signal)
  return { status: answer.statusCode, body: parseJsonObject(answer.body) ?? {} }
}
