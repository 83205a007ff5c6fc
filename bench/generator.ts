import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** The result of a load. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Milliseconds of each request; empty if the load's tool does not report them. */
  times: number[]
}

/** The number of concurrent requests, and how long new ones are started. */
export interface LoadShape {
  connections: number
  seconds: number
}

interface Answer {
  status: number
  /** Bytes of head and body. */
  length: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Sends requests over persistent connections, each as soon as the previous one is answered (a closed loop), and
 * measures the time of each. It writes and reads bare HTTP/1.1 on sockets, because it shares the cores with the
 * service, and a client library would use more CPU than the service does. `nextRequest` returns a whole request, head
 * and body. Throws if an answer is not 2xx, because results of failed requests would be meaningless.
 */
export async function runLoad(
  url: string,
  { connections, seconds }: LoadShape,
  nextRequest: () => string,
): Promise<LoadResult> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: connections }, () =>
    connect({ host: hostname, port: Number(port), noDelay: true }),
  )
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  try {
    const times = await Promise.all(sockets.map((socket) => runConnection(socket, deadline, nextRequest)))
    return toResult(times.flat(), startedAt)
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

/** Runs `once` in `connections` concurrent loops until the time is over, and measures the time of each run. */
export async function runLoop({ connections, seconds }: LoadShape, once: () => Promise<unknown>): Promise<LoadResult> {
  const startedAt = performance.now()
  const deadline = startedAt + seconds * 1000
  const times: number[] = []
  const loop = async () => {
    for (let begun = performance.now(); begun < deadline; begun = performance.now()) {
      await once()
      times.push(performance.now() - begun)
    }
  }
  await Promise.all(Array.from({ length: connections }, loop))
  return toResult(times, startedAt)
}

function toResult(times: number[], startedAt: number): LoadResult {
  return { requests: times.length, seconds: (performance.now() - startedAt) / 1000, times }
}

/** Resolves to the milliseconds of each request. */
function runConnection(socket: Socket, deadline: number, nextRequest: () => string): Promise<number[]> {
  return new Promise((resolve, reject) => {
    const times: number[] = []
    let begun = 0
    let received: Buffer = Buffer.alloc(0)

    function sendNext(): void {
      begun = performance.now()
      if (begun >= deadline) resolve(times)
      else socket.write(nextRequest())
    }

    function take(chunk: Buffer): void {
      received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
      const answer = readAnswer(received)
      if (answer === null) return
      if (answer.status < 200 || answer.status > 299) throw new Error(`refused: ${received.toString('utf8', 0, 2_000)}`)
      times.push(performance.now() - begun)
      received = received.subarray(answer.length)
      sendNext()
    }

    socket.on('data', (chunk: Buffer) => {
      try {
        take(chunk)
      } catch (error) {
        reject(error)
      }
    })
    socket.on('error', reject)
    socket.on('close', () => reject(new Error('the server closed a connection')))
    sendNext()
  })
}

/** The first answer in the bytes, or null while it is incomplete. */
function readAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const bodyLength = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (bodyLength === undefined) throw new Error(`the answer has no content-length: ${head}`)
  const length = headEnd + HEAD_END.length + Number(bodyLength)
  return bytes.length < length ? null : { status: Number(head.slice(9, 12)), length }
}
