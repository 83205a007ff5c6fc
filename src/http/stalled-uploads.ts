import type { IncomingMessage, Server, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { answerOnSocket } from './client-error.js'

/** While a body arrives and the service is ready to read it, at least this many bytes must arrive in each window. */
const MIN_BYTES = 64 * 1_024
const WINDOW_MS = 30_000
const CHECK_MS = 5_000

/** A connection with its current request, and what had arrived at `since`; `marked`: the request of that moment. */
interface Connection {
  request: IncomingMessage
  response: ServerResponse
  marked: IncomingMessage | null
  bytes: number
  since: number
}

/** The uploads of a server. */
export interface UploadWatch {
  /** Ends the uploads that have stalled with 408. `now`: milliseconds of any monotonic clock. */
  check(now: number): void
}

/**
 * Ends uploads that stall, which would hold their places and their memory. A slow upload may last as long as it
 * needs, so there is no limit on the duration of a request.
 */
export function endStalledUploads(server: Server, nameRequest: (request: IncomingMessage) => string): UploadWatch {
  // One entry per connection, not per request: most requests are gone before the next check.
  const connections = new Map<Socket, Connection>()
  server.on('request', (request: IncomingMessage, response: ServerResponse) => {
    const { socket } = request
    const known = connections.get(socket)
    if (known !== undefined) {
      known.request = request
      known.response = response
      return
    }
    connections.set(socket, { request, response, marked: null, bytes: 0, since: 0 })
    socket.once('close', () => connections.delete(socket))
  })

  function check(now: number): void {
    for (const [socket, connection] of connections) {
      if (isSlow(socket, connection, now)) end(connection, nameRequest(connection.request))
    }
  }

  const timer = setInterval(() => check(performance.now()), CHECK_MS).unref()
  // Not before: a server that closes waits for the uploads in progress.
  server.once('close', () => clearInterval(timer))
  return { check }
}

function isSlow(socket: Socket, connection: Connection, now: number): boolean {
  const { request, response, marked, bytes, since } = connection
  if (request.complete || isWaitingForService(request)) {
    connection.marked = null
    return false
  }
  // What arrives after the answer is dropped, so its progress does not count.
  const progresses = !response.writableFinished && socket.bytesRead - bytes >= MIN_BYTES
  if (marked !== request || progresses) {
    Object.assign(connection, { marked: request, bytes: socket.bytesRead, since: now })
    return false
  }
  return now - since >= WINDOW_MS
}

/** The buffer is full, so Node has stopped reading from the connection. */
function isWaitingForService({ readableLength, readableHighWaterMark }: IncomingMessage): boolean {
  return readableLength >= readableHighWaterMark
}

function end({ request: { socket }, response }: Connection, requestId: string): void {
  if (response.headersSent) {
    socket.destroy()
    return
  }
  const message = `The upload stalled: less than ${MIN_BYTES} bytes of the body arrived in ${WINDOW_MS / 1000} s. Send it again`
  answerOnSocket(socket, { status: 408, message }, requestId)
}
