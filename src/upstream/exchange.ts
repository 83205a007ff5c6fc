import type { IncomingHttpHeaders } from 'node:http'
import type { Dispatcher } from 'undici'

/** A whole answer as it came; its body is read as UTF-8. */
export interface RawAnswer {
  statusCode: number
  headers: IncomingHttpHeaders
  body: string
}

/**
 * Makes one request and reads its answer to the end, within `timeoutMs` of the moment at which it went out on a connection.
 * undici's own `request` does this with a stream and an abort signal, which cost more than all the rest of a short exchange.
 * Throws undici's errors, and an error of its own when the time is over.
 */
export function exchange(
  dispatcher: Dispatcher,
  request: Dispatcher.DispatchOptions,
  timeoutMs: number,
): Promise<RawAnswer> {
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = []
    let statusCode = 0
    let headers: IncomingHttpHeaders = {}
    let timer: NodeJS.Timeout | undefined
    // One clock for the whole answer takes the place of undici's, which an answer that trickles starts again and again.
    const options = { ...request, headersTimeout: 0, bodyTimeout: 0 }
    dispatcher.dispatch(options, {
      onRequestStart(controller) {
        clearTimeout(timer)
        timer = setTimeout(() => controller.abort(new Error(`not within ${timeoutMs} ms`)), timeoutMs)
      },
      onResponseStart(_controller, status, fields) {
        statusCode = status
        headers = fields
      },
      onResponseData(_controller, chunk) {
        chunks.push(chunk)
      },
      onResponseEnd() {
        clearTimeout(timer)
        resolve({ statusCode, headers, body: utf8.decode(Buffer.concat(chunks)) })
      },
      onResponseError(_controller, error) {
        clearTimeout(timer)
        reject(error)
      },
    })
  })
}

const utf8 = new TextDecoder()
