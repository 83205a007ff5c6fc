import type { FastifyReply } from 'fastify'
import { MEBIBYTE } from '../lib/text/units.js'

/** An answer of server-sent events, which goes on until one of both sides ends it. */
export interface EventStream {
  /** Aborted when it has ended, whoever did it. */
  readonly signal: AbortSignal
  /** Sends an event; `data`: one line. Without data only the id is kept, by which the client goes on when it comes again. */
  send(event: { id: string; type?: string; data?: string }): void
  /** Sends something that means nothing: so both sides see whether the other is still there. */
  beat(): void
  /** Resolves when the client has taken most of what was sent, or is gone. */
  taken(): Promise<void>
  end(): void
}

/** A client that is so far behind comes again, and is told what it missed. */
const MAX_BUFFERED = MEBIBYTE
/** How soon a client comes again, in milliseconds. */
const RETRY_MS = 1_000

/** Begins an answer of server-sent events. */
export function startEventStream(reply: FastifyReply): EventStream {
  const { raw } = reply
  const ended = new AbortController()
  // Who has hung up by now is not told of again.
  if (raw.destroyed) ended.abort()
  raw.once('close', () => ended.abort())
  raw.on('error', () => ended.abort())
  reply.hijack()
  for (const [name, value] of Object.entries(reply.getHeaders())) if (value !== undefined) raw.setHeader(name, value)
  raw.writeHead(200, {
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store, no-transform',
    // Some proxies would hold events back until there are many.
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
      // What a client does not take would keep the connection, and with it the service, from ending.
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
