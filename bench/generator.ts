import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { setTimeout } from 'node:timers/promises'

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
  /** May be Infinity with a signal. */
  seconds: number
  /** Ends the load earlier. */
  signal?: AbortSignal
}

/** Whether a status is one that the load expects. */
export type IsExpected = (status: number) => boolean

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
 * and body. Throws if an answer has an unexpected status (by default any but 2xx), because results of failed requests
 * would be meaningless.
 */
export async function runLoad(
  url: string,
  shape: LoadShape,
  nextRequest: () => string,
  isExpected: IsExpected = isSuccess,
): Promise<LoadResult> {
  return withConnections(url, shape.connections, isExpected, async (connections) => {
    const startedAt = performance.now()
    const deadline = startedAt + shape.seconds * 1000
    const loop = async (connection: Connection) => {
      const times: number[] = []
      for (let begun = performance.now(); begun < deadline && !isOver(shape); begun = performance.now()) {
        await connection.request(nextRequest())
        times.push(performance.now() - begun)
      }
      return times
    }
    const times = await Promise.all(connections.map(loop))
    return toResult(times.flat(), startedAt)
  })
}

/** A load that does not wait for answers: this many requests per second, over at most this many connections. */
export interface PacedShape extends LoadShape {
  perSecond: number
}

/**
 * Sends requests at a constant rate (an open loop). The time of a request counts from the moment at which it was due,
 * so a server that falls behind shows it. Ends when all requests are answered. Throws as `runLoad` does.
 */
export async function runPaced(
  url: string,
  shape: PacedShape,
  nextRequest: () => string,
  isExpected: IsExpected = isSuccess,
): Promise<LoadResult> {
  return withConnections(url, shape.connections, isExpected, async (connections) => {
    const startedAt = performance.now()
    const times: number[] = []
    const idle = [...connections]
    let onIdle = () => {}
    let failure: Error | null = null
    const send = async (connection: Connection, dueAt: number) => {
      try {
        await connection.request(nextRequest())
        times.push(performance.now() - dueAt)
      } catch (error) {
        failure ??= error as Error
      }
      idle.push(connection)
      onIdle()
    }
    const untilIdle = () => new Promise<void>((resolve) => (onIdle = resolve))
    const total = Math.floor(shape.seconds * shape.perSecond)
    for (let n = 0; n < total && failure === null && !isOver(shape); n++) {
      const dueAt = startedAt + (n * 1000) / shape.perSecond
      const early = dueAt - performance.now()
      if (early > 0) await setTimeout(early)
      if (idle.length === 0) await untilIdle()
      // The one that has been idle longest: the server closes connections that are not used.
      void send(idle.shift() as Connection, dueAt)
    }
    while (idle.length < connections.length) await untilIdle()
    if (failure !== null) throw failure
    return toResult(times, startedAt)
  })
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

function isSuccess(status: number): boolean {
  return status >= 200 && status <= 299
}

function isOver({ signal }: LoadShape): boolean {
  return signal?.aborted === true
}

function toResult(times: number[], startedAt: number): LoadResult {
  return { requests: times.length, seconds: (performance.now() - startedAt) / 1000, times }
}

/** A persistent connection that sends one request at a time. */
interface Connection {
  /** Resolves when the request is answered with an expected status; rejects otherwise. */
  request(text: string): Promise<void>
}

async function withConnections<Result>(
  url: string,
  count: number,
  isExpected: IsExpected,
  work: (connections: Connection[]) => Promise<Result>,
): Promise<Result> {
  const { hostname, port } = new URL(url)
  const sockets = Array.from({ length: count }, () => connect({ host: hostname, port: Number(port), noDelay: true }))
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  try {
    return await work(sockets.map((socket) => openConnection(socket, isExpected)))
  } finally {
    for (const socket of sockets) socket.destroy()
  }
}

function openConnection(socket: Socket, isExpected: IsExpected): Connection {
  let received: Buffer = Buffer.alloc(0)
  let resolve = () => {}
  let reject: (error: Error) => void = () => {}

  socket.on('data', (chunk: Buffer) => {
    received = received.length === 0 ? chunk : Buffer.concat([received, chunk])
    try {
      const answer = readAnswer(received)
      if (answer === null) return
      if (!isExpected(answer.status)) throw new Error(`unexpected: ${received.toString('utf8', 0, 2_000)}`)
      received = received.subarray(answer.length)
      resolve()
    } catch (error) {
      reject(error as Error)
    }
  })
  socket.on('error', (error) => reject(error))
  socket.on('close', () => reject(new Error('the server closed a connection')))
  return {
    request: (text) =>
      new Promise((resolved, rejected) => {
        resolve = resolved
        reject = rejected
        if (socket.destroyed) reject(new Error('the server has closed the connection'))
        else socket.write(text)
      }),
  }
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
