import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'
import { readRetryAfter } from '../lib/retry-after.js'
import { describeError, describeSilence, describeStatus } from './error.js'
import { onAbort } from './on-abort.js'
import { delivery, type EndpointAnswer, failure, KEPT_BYTES } from './outcome.js'

/** An answer is read so far, to keep its connection; who answers more is hung up on. */
const MAX_DRAINED_BYTES = 65_536

/**
 * Makes one call; `timeoutMs` is for everything together. Once the status is there the outcome stands: a body that is too long, breaks off, or
 * does not end in time only costs the connection. Rejects with the signal's reason when it is aborted before.
 */
export function makeCall(
  agent: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
  signal: AbortSignal,
): Promise<EndpointAnswer> {
  return new Promise((resolve, reject) => {
    const startedAt = performance.now()
    let controller: Dispatcher.DispatchController | null = null
    let status = 0
    let headers: IncomingHttpHeaders = {}
    let size = 0
    const kept: Buffer[] = []
    let hasEnded = false

    const timer = setTimeout(() => giveUp(describeSilence(timeoutMs)), timeoutMs)
    const forget = onAbort(signal, () => giveUp(null))

    /** Without an error only where a status is there, or the signal is aborted. */
    function end(error: string | null): void {
      if (hasEnded) return
      hasEnded = true
      clearTimeout(timer)
      forget()
      const durationMs = Math.round(performance.now() - startedAt)
      if (isDelivered(status)) resolve(delivery(status, durationMs))
      else if (status > 0) resolve(failure({ ...readFailure(status, headers), body: Buffer.concat(kept), durationMs }))
      else if (error === null) reject(signal.reason)
      else resolve(failure({ error, durationMs }))
    }

    // undici tells nobody of a request before it has a connection, so the outcome does not wait for it.
    function giveUp(error: string | null): void {
      end(error)
      controller?.abort(new Error('given up'))
    }

    agent.dispatch(
      // One clock for everything takes the place of undici's, which an answer that trickles starts again and again.
      { ...request, headersTimeout: 0, bodyTimeout: 0 },
      {
        onRequestStart(started) {
          controller = started
          if (hasEnded) started.abort(new Error('given up'))
        },
        onResponseStart(_controller, statusCode, fields) {
          // Before the answer there may be others that only say that it will come, such as 103.
          if (statusCode < 200) return
          status = statusCode
          headers = fields
        },
        onResponseData(_controller, chunk) {
          if (size < KEPT_BYTES && !isDelivered(status)) kept.push(chunk)
          size += chunk.length
          if (size > MAX_DRAINED_BYTES) giveUp(null)
        },
        onResponseEnd() {
          end(null)
        },
        onResponseError(_controller, error) {
          end(describeError(error, timeoutMs))
        },
      },
    )
  })
}

function isDelivered(status: number): boolean {
  return status >= 200 && status < 300
}

function readFailure(status: number, headers: IncomingHttpHeaders) {
  return { status, error: describeStatus(status, headers), retryAfterMs: readRetryAfter(headers) }
}
