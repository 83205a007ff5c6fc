import type { IncomingHttpHeaders } from 'node:http'
import type { HttpClient } from '../lib/http/client.js'
import type { HttpRequest } from '../lib/http/dispatch.js'
import { readRetryAfter } from '../lib/http/retry-after.js'
import { describeError, describeSilence, describeStatus } from './error.js'
import { onAbort } from './on-abort.js'
import { delivery, type EndpointAnswer, failure, KEPT_BYTES } from './outcome.js'

/** An answer is read up to this size, to keep its connection; a longer one closes it. */
const MAX_DRAINED_BYTES = 65_536

/**
 * Makes one call; `timeoutMs` covers everything. Once the status has arrived the outcome stands: a body that is too
 * long, incomplete or late only costs the connection. Rejects with the signal's reason if it aborts before that.
 */
export function makeCall(
  client: HttpClient,
  request: HttpRequest,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    let status = 0
    let headers: IncomingHttpHeaders = {}
    let size = 0
    const kept: Buffer[] = []
    let isLate = false

    const timer = setTimeout(() => {
      isLate = true
      giveUp(new Error('the time is over'))
    }, timeoutMs)

    /** The error counts only if no status has arrived. */
    function end(error: string): void {
      clearTimeout(timer)
      forget()
      const durationMs = Math.round(performance.now() - startedAt)
      if (isDelivered(status)) resolve(delivery(status, durationMs))
      else if (status > 0) resolve(failure({ ...readFailure(status, headers), body: Buffer.concat(kept), durationMs }))
      else if (signal.aborted) reject(signal.reason)
      else resolve(failure({ error, durationMs }))
    }

    const giveUp = client.dispatch(request, {
      onAnswer(answer) {
        status = answer.statusCode ?? 0
        headers = answer.headers
        answer.on('data', (chunk: Buffer) => {
          if (size < KEPT_BYTES && !isDelivered(status)) kept.push(chunk)
          size += chunk.length
          if (size > MAX_DRAINED_BYTES) giveUp(new Error('the answer is too long'))
        })
        answer.once('end', () => end(''))
      },
      onFailure: (error) => end(isLate ? describeSilence(timeoutMs) : describeError(error, timeoutMs)),
    })
    const forget = onAbort(signal, () => giveUp(signal.reason))
  })
}

function isDelivered(status: number): boolean {
  return status >= 200 && status < 300
}

function readFailure(status: number, headers: IncomingHttpHeaders) {
  return { status, error: describeStatus(status, headers), retryAfterMs: readRetryAfter(headers) }
}
