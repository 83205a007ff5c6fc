import { STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'

/** The maximum size of request line and headers, in bytes; enough for 20 search terms of 200 characters. */
export const HEADER_LIMIT = 65_536

/**
 * How long the rest of a request is read and dropped, so that the client gets the answer before the connection ends.
 */
const LINGER_MS = 1_000

interface Refusal {
  status: number
  message: string
}

/**
 * Answers requests that Node's HTTP parser refuses (malformed request line, too large headers, a slow client) in the
 * usual form of errors, under the id `requestId`, and ends the connection.
 */
export function answerClientError(error: Error & { code?: string }, socket: Socket, requestId: string): void {
  if (error.code === 'ECONNRESET' || !socket.writable) {
    socket.destroy()
    return
  }
  answerOnSocket(socket, refusalOf(error), requestId)
}

/** Answers an error in the usual form on the socket itself, under the id `requestId`, and ends the connection. */
export function answerOnSocket(socket: Socket, { status, message }: Refusal, requestId: string): void {
  const name = STATUS_CODES[status] ?? 'Bad Request'
  const body = JSON.stringify({ success: false, error: name, message })
  const head = `HTTP/1.1 ${status} ${name}\r\nConnection: close\r\nContent-Type: application/json; charset=utf-8\r\nX-Request-Id: ${requestId}`
  socket.end(`${head}\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`)
  socket.resume()
  const timer = setTimeout(() => socket.destroy(), LINGER_MS)
  socket.once('close', () => clearTimeout(timer))
}

function refusalOf({ code }: { code?: string }): Refusal {
  switch (code) {
    case 'HPE_HEADER_OVERFLOW':
      return { status: 431, message: `The request line and headers are larger than ${HEADER_LIMIT} bytes together` }
    case 'ERR_HTTP_REQUEST_TIMEOUT':
      return { status: 408, message: 'The request did not arrive in time' }
    default:
      return { status: 400, message: 'The request is not HTTP/1.1 as this service reads it' }
  }
}
