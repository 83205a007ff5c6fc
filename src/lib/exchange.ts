import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** A whole answer as it came; its body is read as UTF-8. */
export interface RawAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: string
}

/**
 * Makes one request and reads its answer to the end. A `limit` in milliseconds counts from the moment at which the request went
 * out on a connection; a signal gives it up at any moment, while the connection is being made too.
 * undici's own `request` does this with a stream and an abort signal, which cost more than all the rest of a short exchange.
 * Throws undici's errors, an error of its own when the time is over, and the reason of the signal.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  limit: number | AbortSignal,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const signal = typeof limit === 'number' ? null : limit
    signal?.throwIfAborted()
    const chunks: Buffer[] = []
    let statusCode = 0
    let headers: IncomingHttpHeaders = {}
    let timer: NodeJS.Timeout | undefined
    let abort = (_reason: Error) => {}
    // undici tells nobody of a request before it has a connection, so the promise does not wait for it.
    const giveUp = () => {
      reject(signal?.reason)
      abort(signal?.reason)
    }
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', giveUp)
    }
    signal?.addEventListener('abort', giveUp)
    // One clock for the whole answer takes the place of undici's, which an answer that trickles starts again and again.
    const options = { ...request, headersTimeout: 0, bodyTimeout: 0 }
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        abort = (reason) => controller.abort(reason)
        if (signal?.aborted) return abort(signal.reason)
        if (typeof limit !== 'number') return
        clearTimeout(timer)
        timer = setTimeout(() => abort(new Error(`not within ${limit} ms`)), limit)
      },
      onResponseStart(_controller, status, fields) {
        statusCode = status
        headers = fields
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        end()
        resolve({ statusCode, headers, body: utf8.decode(Buffer.concat(chunks)) })
      },
      onResponseError(_controller, error) {
        end()
        reject(error)
      },
    })
  })
}

const utf8 = new TextDecoder()
