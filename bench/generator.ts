import { once } from 'node:events'
import { connect, type Socket } from 'node:net'

/** What a load came to. */
export interface LoadResult {
  requests: number
  seconds: number
  /** Milliseconds that each request took; empty where the tool that made the load does not tell. */
  times: number[]
}

/** How many requests are under way at once, and how long new ones are begun. */
export interface LoadShape {
  connections: number
  seconds: number
}

interface Answer {
  status: number
  /** Bytes of head and body together. */
  length: number
}

const HEAD_END = Buffer.from('\r\n\r\n')

/**
 * Sends requests over kept connections, on each the next one as soon as the last is answered (a closed loop), and times
 * each. It writes and reads bare HTTP/1.1 on sockets: it shares the machine's cores with what it measures, and a client
 * library would take more of them than the server does. `nextRequest` makes a whole request, head and body.
 * Throws when an answer is not 2xx: a figure of refusals would mean nothing.
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

/** Runs `once` in `connections` loops side by side until the time is over, timing each run. */
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

/** Resolves to the milliseconds that each request took. */
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

/** The first answer in the bytes, or null while it is not whole. */
function readAnswer(bytes: Buffer): Answer | null {
  const headEnd = bytes.indexOf(HEAD_END)
  if (headEnd === -1) return null
  const head = bytes.toString('latin1', 0, headEnd)
  const bodyLength = /\r\ncontent-length: (\d+)/i.exec(head)?.[1]
  if (bodyLength === undefined) throw new Error(`the answer has no content-length: ${head}`)
  const length = headEnd + HEAD_END.length + Number(bodyLength)
  return bytes.length < length ? null : { status: Number(head.slice(9, 12)), length }
}
