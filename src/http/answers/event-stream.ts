import type { FastifyReply } from 'fastify'
import { MEBIBYTE } from '../../lib/text/units.js'

/** A response of server-sent events. */
export interface EventStream {
  /** Aborted when either side has ended it. */
  readonly signal: AbortSignal
  /** Sends an event; `data` is one line. Without data, only the id is sent, from which the client resumes. */
  send(event: { id: string; type?: string; data?: string }): void
  /** Sends a comment, so that both sides notice a broken connection. */
  beat(): void
  /** Resolves when the client has taken most of what was sent, or is gone. */
  taken(): Promise<void>
  end(): void
}

/** A client that is this far behind is disconnected; it reconnects and gets what it missed. */
const MAX_BUFFERED = MEBIBYTE
/** The client's wait before it reconnects, in milliseconds. */
const RETRY_MS = 1_000

/** Starts a response of server-sent events. */
export function startEventStream(reply: FastifyReply): EventStream {
  const { raw } = reply
  const ended = new AbortController()
  // A client that has already hung up causes no further event.
  if (raw.destroyed) ended.abort()
  raw.once('close', () => ended.abort())
  raw.on('error', () => ended.abort())
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    // Keeps some proxies from buffering events.
    'x-accel-buffering': 'no',
  })

  function write(text: string): void {
    if (ended.signal.aborted) return
    raw.write(text)
    if (raw.writableLength > MAX_BUFFERED) cut()
  }

  function cut(): void {
    ended.abort()
    raw.destroy()
  }

  write(`retry: ${RETRY_MS}\n\n`)
  return {
    signal: ended.signal,
    send: ({ id, type, data }) => {
      write(
        `id: ${id}\n${type === undefined ? '' : `event: ${type}\n`}${data === undefined ? '' : `data: ${data}\n`}\n`,
      )
    },
    beat: () => write(':\n\n'),
    taken: () => drained(raw, ended.signal),
    end: () => {
      if (ended.signal.aborted) return
      // Unsent data would keep the connection, and with it the service, from ending.
      if (raw.writableLength > 0) return cut()
      ended.abort()
      raw.end()
    },
  }
}

function drained(raw: FastifyReply['raw'], signal: AbortSignal): Promise<void> {
  if (!raw.writableNeedDrain || signal.aborted) return Promise.resolve()
  return new Promise((resolve) => {
    const done = () => {
      raw.off('drain', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    raw.once('drain', done)
    signal.addEventListener('abort', done, { once: true })
  })
}
