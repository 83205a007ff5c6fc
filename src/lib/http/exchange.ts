import type { IncomingHttpHeaders } from 'node:http'
import { MEBIBYTE } from '../text/units.js'
import { createHttpClient, type HttpClient } from './client.js'
import type { HttpRequest } from './dispatch.js'

/** A whole answer as it came; its body is read as UTF-8. */
export interface RawAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: string
}

/** Fails an exchange whose answer is longer than its reader takes. */
export class AnswerTooLongError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`)
    this.name = 'AnswerTooLongError'
  }
}

/**
 * Makes one request and reads its answer, of at most `maxBytes`, to the end. A `limit` in milliseconds counts from the moment at which
 * the request leaves on a connection; a signal gives it up at any moment. Rejects with a NotConnectedError where nothing left, with
 * what broke the connection, with an error of its own when the time is over, and with the reason of the signal.
 */
export function exchange(
  client: HttpClient,
  request: HttpRequest,
  limit: number | AbortSignal,
  maxBytes = MEBIBYTE,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const signal = typeof limit === 'number' ? null : limit
    signal?.throwIfAborted()
    const chunks: Buffer[] = []
    let size = 0
    let timer: NodeJS.Timeout | undefined
    const onAbort = () => giveUp(signal?.reason)
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', onAbort)
    }
    const giveUp = client.dispatch(request, {
      onConnected() {
        if (typeof limit === 'number') timer = setTimeout(() => giveUp(new Error(`not within ${limit} ms`)), limit)
      },
      onAnswer(answer) {
        answer.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size > maxBytes) giveUp(new AnswerTooLongError(maxBytes))
          else chunks.push(chunk)
        })
        answer.once('end', () => {
          end()
          const { statusCode = 0, headers } = answer
          resolve({ statusCode, headers, body: utf8.decode(Buffer.concat(chunks)) })
        })
      },
      onFailure(error) {
        end()
        reject(error)
      },
    })
    // Looking a name up begins at once, and may take long enough for that.
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
  })
}

const utf8 = new TextDecoder()
const CONNECT_TIMEOUT_MS = 10_000

/** One exchange with the server at `url` over a connection of its own; the rest is as `exchange` has it. */
export async function exchangeOnce(
  url: string,
  request: Pick<HttpRequest, 'method' | 'headers' | 'body'>,
  limit: number | AbortSignal,
  maxBytes?: number,
): Promise<RawAnswer> {
  const origin = new URL(url)
  const client = createHttpClient({ connectTimeoutMs: CONNECT_TIMEOUT_MS, keepAliveMs: 0 })
  try {
    return await exchange(client, { ...request, origin, path: origin.pathname + origin.search }, limit, maxBytes)
  } finally {
    client.close()
  }
}
