import type { Agent, IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** A server that names its time may close this much earlier because of network delays. */
const MARGIN_MS = 1_000
const HINT = /(?:^|[\s,])timeout=(\d+)/i

/**
 * Closes an agent's idle connections after their time (milliseconds, from `timeOf`; 0: at once), and when their server
 * sends anything: an end, or bytes that the next request would take for its answer.
 */
export function keepIdleConnections(agent: Agent, timeOf: (socket: Socket) => number): void {
  const reuse = agent.reuseSocket.bind(agent)

  // Node closes the connection if this returns false.
  agent.keepSocketAlive = ((socket: Socket): boolean => {
    const timeMs = timeOf(socket)
    if (timeMs <= 0) return false
    socket.unref()
    socket.setTimeout(timeMs)
    for (const event of EVENTS) socket.on(event, closeNow)
    return true
  }) as Agent['keepSocketAlive']

  agent.reuseSocket = (socket, request) => {
    for (const event of EVENTS) socket.off(event, closeNow)
    ;(socket as Socket).setTimeout(0)
    reuse(socket, request)
  }
}

/**
 * How long a connection may be idle after an answer with these headers: `mostMs`, or less if the server asks for less.
 */
export function idleTime({ 'keep-alive': hint }: IncomingHttpHeaders, mostMs: number): number {
  const seconds = HINT.exec(String(hint))?.[1]
  return seconds === undefined ? mostMs : Math.min(mostMs, Number(seconds) * 1_000 - MARGIN_MS)
}

const EVENTS = ['timeout', 'data', 'end'] as const

/** Removes the connection from the pool at once, so that no request gets it. */
function closeNow(this: Socket): void {
  this.destroy()
  this.emit('agentRemove')
}
