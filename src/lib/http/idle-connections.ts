import type { Agent, IncomingHttpHeaders } from 'node:http'
import type { Socket } from 'node:net'

/** A server that says how long it waits may close that much earlier, as the network takes its time. */
const MARGIN_MS = 1_000
const HINT = /(?:^|[\s,])timeout=(\d+)/i

/**
 * Closes the idle connections of an agent when their time is over (milliseconds, from `timeOf`; 0 = at once), and when their server
 * says anything: an end, or bytes that no request asked for, which the next request would take for its answer.
 */
export function keepIdleConnections(agent: Agent, timeOf: (socket: Socket) => number): void {
  const reuse = agent.reuseSocket.bind(agent)

  // The runtime closes the connection where this returns false.
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

/** How long a connection may be idle after an answer with these headers: `mostMs`, or less where the server hints at it. */
export function idleTime({ 'keep-alive': hint }: IncomingHttpHeaders, mostMs: number): number {
  const seconds = HINT.exec(String(hint))?.[1]
  return seconds === undefined ? mostMs : Math.min(mostMs, Number(seconds) * 1_000 - MARGIN_MS)
}

const EVENTS = ['timeout', 'data', 'end'] as const

/** Takes the connection out of the pool in the same moment, so that no request gets it. */
function closeNow(this: Socket): void {
  this.destroy()
  this.emit('agentRemove')
}
