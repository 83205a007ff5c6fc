import type { IncomingHttpHeaders } from 'node:http'
import { MEBIBYTE } from '../text/units.js'
import { createHttpClient, type HttpClient } from './client.js'
import type { HttpRequest } from './dispatch.js'

/** A complete answer; its body is decoded as UTF-8. */
export interface RawAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: string
}

/** The answer is longer than the caller accepts. */
export class AnswerTooLongError extends Error {
  constructor(maxBytes: number) {
    super(`the answer is longer than ${maxBytes} bytes`)
    this.name = 'AnswerTooLongError'
  }
}

/**
 * Makes one request and reads its answer of at most `maxBytes`. `limit` (milliseconds) counts from the moment when the
 * request leaves on a connection; the signal aborts at any time. Rejects with a NotConnectedError if nothing was sent,
 * with the connection's error, with a time-out error, or with the signal's reason.
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
    // The look-up of the name starts at once and may already have taken long enough for an abort.
    if (signal?.aborted) onAbort()
    else signal?.addEventListener('abort', onAbort)
  })
}

const utf8 = new TextDecoder()
const CONNECT_TIMEOUT_MS = 10_000

/** Like `exchange`, over a connection of its own. */
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
