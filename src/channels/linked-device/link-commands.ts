import { startCountdown } from '../../lib/async/timeout.js'
import type { DeviceAnswer } from '../device.js'
import { CLOSE_CODES } from './connection/close-reason.js'
import type { Condition } from './connection/condition.js'
import type { ConnectionSupervisor, Link } from './connection/connection-supervisor.js'
import type { EventWriter } from './event-writer.js'
import { phoneOf, toJid } from './wire/jid.js'

export interface LinkContext {
  supervisor: ConnectionSupervisor
  eventWriter: EventWriter
  condition: Condition
}

const NO_CODE = { code: null, pairingCode: null }

/** Starts to connect if necessary and returns the code to scan or, with `number`, the one to type. */
export async function showLink(
  { supervisor, condition }: LinkContext,
  number: string | null,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const leftMs = startCountdown(timeoutMs)
  const wasRunning = supervisor.isRunning()
  const settled = (ms: number) =>
    condition.waitUntil(() => !supervisor.isRunning() || hasProgressed(supervisor.current()), ms)
  supervisor.start()
  await settled(timeoutMs)
  // It was about to end, for example because the phone had just unlinked the device.
  if (wasRunning && !supervisor.isRunning()) {
    supervisor.start()
    await settled(leftMs())
  }
  const link = supervisor.current()
  if (link?.isOpen || link?.keys.isLinked) return done({ ...NO_CODE, count: supervisor.codeCount() })
  if (!link?.shown) return { outcome: 'not_open', text: 'The network has not given a code yet' }
  if (number === null || link.shown.pairingCode !== null) return done(link.shown)
  const { code, count } = link.shown
  const asked = link.connection.socket.requestPairingCode(phoneOf(toJid(number)) ?? number)
  const pairingCode = await condition.withTimeout(asked, leftMs())
  if (pairingCode === null) return { outcome: 'unknown', text: 'The network did not answer in time' }
  // The code was scanned meanwhile, or the connection has ended.
  if (link.isOpen || supervisor.current() !== link) return done({ ...NO_CODE, count: supervisor.codeCount() })
  const shown = { code, pairingCode, count }
  supervisor.show(link, shown)
  return done(shown)
}

/** Reconnects; returns the code to scan, if there is one. */
export async function restart({ supervisor, condition }: LinkContext, timeoutMs: number): Promise<DeviceAnswer> {
  const before = supervisor.current()
  before?.connection.hangUp({ code: null, text: 'It is to reconnect', isIntended: true })
  supervisor.reconnectNow()
  supervisor.start()
  const hasChanged = () => supervisor.current() !== before && hasProgressed(supervisor.current())
  await condition.waitUntil(() => !supervisor.isRunning() || hasChanged(), timeoutMs)
  if (!supervisor.isRunning()) return { outcome: 'not_open', text: 'It could not be reconnected' }
  return done(supervisor.current()?.shown ?? null)
}

/** Ends the session for good. If it takes too long, it continues in the background and the outcome is unknown. */
export async function logOut(context: LinkContext, timeoutMs: number): Promise<DeviceAnswer> {
  const left = await context.condition.withTimeout(endSession(context, timeoutMs), timeoutMs)
  return left ?? { outcome: 'unknown', text: 'It could not be logged out in time' }
}

async function endSession(
  { supervisor, eventWriter, condition }: LinkContext,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  await supervisor.disconnect(async (link) => {
    // Half of the time is left for the rest.
    if (link?.isOpen) await condition.withTimeout(link.connection.socket.logout(), timeoutMs / 2).catch(() => undefined)
    link?.connection.hangUp({ code: CLOSE_CODES.logged_out, text: 'Logged out' })
  })
  eventWriter.end(CLOSE_CODES.logged_out, { clear: true, text: 'It was logged out' })
  await eventWriter.drained()
  return done(null)
}

/** True if there is something to answer: connected, connecting without a code, or showing a code. */
function hasProgressed(link: Link | null): boolean {
  return link !== null && (link.isOpen || link.keys.isLinked || link.shown !== null)
}

function done(value: unknown): DeviceAnswer {
  return { outcome: 'done', value }
}
