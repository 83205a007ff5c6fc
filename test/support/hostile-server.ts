import { once } from 'node:events'
import { readFileSync } from 'node:fs'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { createServer as createTlsServer } from 'node:tls'
import { brotliCompressSync, gzipSync } from 'node:zlib'
import { ogg, png } from './media.js'

/** A server that misbehaves: a request with `hostile.<behaviour>` in its path or body gets that behaviour. */
export interface HostileServer {
  port: number
  /** The exchanges so far: requests, and TLS handshakes. */
  readonly exchanges: number
  close(): void
}

type Behaviour = (socket: Socket) => void

const PATIENCE_MS = 150
const file = Buffer.concat([png(), Buffer.alloc(175_702)])
const bomb = Buffer.alloc(20 * 1_048_576)
const head = (...lines: (string | number)[]) =>
  `HTTP/1.1 200 OK\r\ncontent-type: image/png\r\n${lines.join('\r\n')}\r\n\r\n`

/** Writes repeatedly until the client disconnects or some time has passed. */
function repeat(socket: Socket, piece: string, everyMs: number): void {
  const timer = setInterval(() => socket.write(piece), everyMs)
  const end = setTimeout(() => socket.destroy(), PATIENCE_MS)
  socket.once('close', () => {
    clearInterval(timer)
    clearTimeout(end)
  })
}

/** Writes as fast as the client reads, while it is connected. */
function pour(socket: Socket, piece: Buffer | string): void {
  const write = () => {
    while (!socket.destroyed && socket.write(piece));
  }
  socket.on('drain', write)
  write()
}

const answers =
  (...parts: (string | Buffer)[]) =>
  (socket: Socket) => {
    for (const part of parts) socket.write(part)
    socket.end()
  }

const BEHAVIOURS: Record<string, Behaviour> = {
  'http-1.0': answers('HTTP/1.0 200 OK\r\nServer: SimpleHTTP/0.6\r\n', `Content-Length: ${file.length}\r\n\r\n`, file),
  'http-1.0-to-the-end': answers('HTTP/1.0 200 OK\r\n\r\n', file),
  'connection-close': answers(head('connection: close', `content-length: ${file.length}`), file),
  'keep-alive-and-close': answers(head(`content-length: ${file.length}`), file),
  'keep-alive': (socket) => {
    socket.write(head(`content-length: ${file.length}`))
    socket.write(file)
  },
  'close-at-once': (socket) => socket.destroy(),
  'end-at-once': (socket) => void socket.end(),
  reset: (socket) => socket.resetAndDestroy(),
  'half-a-head': answers('HTTP/1.1 200 OK\r\ncontent-le'),
  'half-a-status': answers('HTT'),
  'half-a-body': answers(head(`content-length: ${file.length}`), file.subarray(0, 90_000)),
  'reset-in-the-body': (socket) => {
    socket.write(head(`content-length: ${file.length}`))
    socket.write(file.subarray(0, 90_000), () => socket.resetAndDestroy())
  },
  'length-too-short': answers(head('content-length: 5'), file),
  'length-too-long': answers(head(`content-length: ${file.length + 1}`), file),
  'length-gigantic': answers(head('content-length: 99999999999999'), file),
  'length-no-number': answers(head('content-length: many'), file),
  'length-twice': answers(head('content-length: 5', 'content-length: 6'), file),
  'length-and-chunks': answers(head('content-length: 5', 'transfer-encoding: chunked'), '5\r\nhello\r\n0\r\n\r\n'),
  'chunks-of-garbage': answers(head('transfer-encoding: chunked'), 'zz\r\nno length\r\n'),
  'chunks-without-an-end': answers(head('transfer-encoding: chunked'), '5\r\nhello\r\n'),
  'chunk-gigantic': answers(head('transfer-encoding: chunked'), 'fffffffffffffffff\r\nhello'),
  'chunk-extensions': (socket) => pour(socket.write(head('transfer-encoding: chunked')) ? socket : socket, '1;x=y'),
  trailers: answers(head('transfer-encoding: chunked', 'trailer: x'), '2\r\nok\r\n0\r\nx: 1\r\ny: 2\r\n\r\n'),
  'trailers-without-an-end': (socket) => {
    socket.write(head('transfer-encoding: chunked'))
    socket.write('2\r\nok\r\n0\r\n')
    pour(socket, 'x: 1\r\n')
  },
  'headers-gigantic': answers(head(`x: ${'x'.repeat(1_000_000)}`), file),
  'headers-many': answers(head(...Array.from({ length: 5_000 }, (_, index) => `x-${index}: 1`)), 'ok'),
  'headers-without-an-end': (socket) => {
    socket.write('HTTP/1.1 200 OK\r\n')
    pour(socket, 'x: 1\r\n')
  },
  'interim-answers': answers(
    'HTTP/1.1 103 Early Hints\r\nlink: </a>\r\n\r\n'.repeat(5),
    head('content-length: 2'),
    'ok',
  ),
  'interim-without-an-end': (socket) => pour(socket, 'HTTP/1.1 102 Processing\r\n\r\n'),
  continue: answers('HTTP/1.1 100 Continue\r\n\r\n'),
  upgrade: answers('HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n', 'bytes'),
  'two-answers': answers(head('content-length: 2'), 'ok', head('content-length: 4'), 'more'),
  'an-answer-too-many': (socket) => {
    socket.write(`${head('content-length: 2')}ok`)
    setTimeout(() => socket.destroyed || socket.end(`${head('content-length: 2')}no`), 5)
  },
  'other-protocol': answers('SSH-2.0-OpenSSH_9.2\r\n\r\n'),
  'bytes-of-no-protocol': answers(Buffer.alloc(100_000, 0xff)),
  'status-of-no-number': answers('HTTP/1.1 abc OK\r\n\r\n'),
  'status-999': answers('HTTP/1.1 999 Odd\r\ncontent-length: 0\r\n\r\n'),
  'status-204-with-a-body': answers('HTTP/1.1 204 No Content\r\n\r\nbody'),
  'status-304-with-a-length': answers('HTTP/1.1 304 Not Modified\r\ncontent-length: 10\r\n\r\n'),
  'redirect-in-a-circle': answers(
    'HTTP/1.1 302 Found\r\nlocation: /hostile.redirect-in-a-circle\r\nconnection: close\r\n\r\n',
  ),
  'redirect-to-nowhere': answers('HTTP/1.1 302 Found\r\nlocation: http://[\r\n\r\n'),
  'gzip-bomb': answers(head('content-encoding: gzip'), gzipSync(bomb)),
  'brotli-bomb': answers(head('content-encoding: br'), brotliCompressSync(bomb)),
  'encoding-garbage': answers(head('content-encoding: gzip'), 'no gzip'),
  'body-without-an-end': (socket) => {
    socket.write(head())
    pour(socket, Buffer.alloc(65_536, 1))
  },
  'slow-head': (socket) => repeat(socket.write('HTTP/1.1 200 OK\r\n') ? socket : socket, 'x: 1\r\n', 20),
  'slow-body': (socket) => repeat(socket.write(head('content-length: 1000')) ? socket : socket, 'x', 20),
  silence: (socket) => repeat(socket, '', 50),
}

const TLS_FAULTS: Behaviour[] = [
  answers('HTTP/1.1 400 Bad Request\r\n\r\n'),
  (socket) => socket.destroy(),
  (socket) => socket.resetAndDestroy(),
  (socket) => repeat(socket, '', 50),
  answers(Buffer.from([0x15, 3, 3, 0, 2, 2, 40])),
  answers(Buffer.concat([Buffer.from([0x16, 3, 3, 0xff, 0xff]), Buffer.alloc(70_000, 1)])),
]

/** The names of all behaviours. */
export const HOSTILITIES = Object.keys(BEHAVIOURS)

/**
 * Starts a server on a free port of this machine. With `https`, every other handshake fails in some way, and the rest
 * use an untrusted certificate.
 */
export async function startHostileServer(): Promise<HostileServer> {
  const pem = readFileSync('test/samples/self-signed.pem')
  const tls = createTlsServer({ key: pem, cert: pem }).on('tlsClientError', () => undefined)
  const sockets = new Set<Socket>()
  let exchanges = 0
  let turn = 0

  const answer = (socket: Socket, port: number, request: string) => {
    exchanges++
    const name = /hostile\.([a-z0-9.-]+)/.exec(request)?.[1]
    const behaviour = BEHAVIOURS[name === 'any' ? (HOSTILITIES[turn++ % HOSTILITIES.length] ?? '') : (name ?? '')]
    if (behaviour) behaviour(socket)
    else wellBehaved(socket, port, request)
  }
  const server = createServer((socket) => {
    const { port } = server.address() as AddressInfo
    sockets.add(socket)
    socket.on('error', () => undefined).once('close', () => sockets.delete(socket))
    socket.once('data', (first) => {
      if (first[0] !== 0x16) {
        answer(socket, port, first.toString('latin1'))
        // A request whose body arrives separately is answered after its head.
        socket.on(
          'data',
          (next) => /^[A-Z]+ \//.test(next.toString('latin1')) && answer(socket, port, next.toString('latin1')),
        )
        return
      }
      exchanges++
      const fault = turn % 2 ? TLS_FAULTS[(turn >> 1) % TLS_FAULTS.length] : undefined
      turn++
      if (fault) return fault(socket)
      socket.pause()
      socket.unshift(first)
      tls.emit('connection', socket)
    })
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    port: (server.address() as AddressInfo).port,
    get exchanges() {
      return exchanges
    },
    close: () => {
      for (const socket of sockets) socket.destroy()
      server.close()
    },
  }
}

/** The upstream's usual answers: an upload, the URL of a file, a file, a message. */
function wellBehaved(socket: Socket, port: number, request: string): void {
  const path = request.split(' ')[1] ?? ''
  if (path.startsWith('/voice')) socket.end(Buffer.concat([Buffer.from('HTTP/1.0 200 OK\r\n\r\n'), ogg()]))
  else {
    const answer = path.includes('/media')
      ? { id: '1' }
      : path.includes('/messages')
        ? { messages: [{ id: `wamid.hostile-${Math.random()}` }] }
        : { url: `http://127.0.0.1:${port}/voice`, mime_type: 'audio/ogg' }
    const body = JSON.stringify(answer)
    socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${body.length}\r\nconnection: close\r\n\r\n${body}`)
  }
}
