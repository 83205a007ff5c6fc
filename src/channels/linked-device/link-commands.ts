import { startCountdown } from '../../lib/async/timeout.js'
import type { DeviceAnswer } from '../device.js'
import { CLOSE_CODES } from './close-reason.js'
import type { Condition } from './condition.js'
import type { ConnectionSupervisor, Link } from './connection-supervisor.js'
import type { EventWriter } from './event-writer.js'
import { phoneOf, toJid } from './jid.js'

/** What commands about the link itself need of the session. */
export interface LinkContext {
  supervisor: ConnectionSupervisor
  eventWriter: EventWriter
  condition: Condition
}

const NO_CODE = { code: null, pairingCode: null }

/** Begins to connect, where that is not so, and answers the code that is to be scanned, or with `number` to be typed. */
export async function showLink(
  { supervisor: keeper, condition: watch }: LinkContext,
  number: string | null,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const leftMs = startCountdown(timeoutMs)
  keeper.start()
  await watch.waitUntil(() => !keeper.isRunning() || hasComeFar(keeper.current()), timeoutMs)
  const link = keeper.current()
  if (link?.isOpen || link?.keys.isLinked) return done({ ...NO_CODE, count: keeper.codeCount() })
  if (!link?.shown) return { outcome: 'not_open', text: 'The network has not given a code yet' }
  if (number === null || link.shown.pairingCode !== null) return done(link.shown)
  const { code, count } = link.shown
  const asked = link.connection.socket.requestPairingCode(phoneOf(toJid(number)) ?? number)
  const pairingCode = await watch.withTimeout(asked, leftMs())
  if (pairingCode === null) return { outcome: 'unknown', text: 'The network did not answer in time' }
  // It was scanned meanwhile, or the connection has ended.
  if (link.isOpen || keeper.current() !== link) return done({ ...NO_CODE, count: keeper.codeCount() })
  const shown = { code, pairingCode, count }
  keeper.show(link, shown)
  return done(shown)
}

/** Connects anew; answers the code that is to be scanned, if one is. */
export async function restart(
  { supervisor: keeper, condition: watch }: LinkContext,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  const before = keeper.current()
  before?.connection.hangUp({ code: null, text: 'It is to connect anew', isIntended: true })
  keeper.reconnectNow()
  keeper.start()
  const hasChanged = () => keeper.current() !== before && hasComeFar(keeper.current())
  await watch.waitUntil(() => !keeper.isRunning() || hasChanged(), timeoutMs)
  if (!keeper.isRunning()) return { outcome: 'not_open', text: 'It could not be connected anew' }
  return done(keeper.current()?.shown ?? null)
}

/** Ends the session for good. What is not done in time goes on, and nobody can tell how it ends. */
export async function logOut(context: LinkContext, timeoutMs: number): Promise<DeviceAnswer> {
  const left = await context.condition.withTimeout(endSession(context, timeoutMs), timeoutMs)
  return left ?? { outcome: 'unknown', text: 'It could not be logged out in time' }
}

async function endSession(
  { supervisor: keeper, eventWriter: teller, condition: watch }: LinkContext,
  timeoutMs: number,
): Promise<DeviceAnswer> {
  await keeper.disconnect(async (link) => {
    // Half of the time is kept for what follows.
    if (link?.isOpen) await watch.withTimeout(link.connection.socket.logout(), timeoutMs / 2).catch(() => undefined)
    link?.connection.hangUp({ code: CLOSE_CODES.logged_out, text: 'Logged out' })
  })
  teller.end(CLOSE_CODES.logged_out, { clear: true, text: 'It was logged out' })
  await teller.drained()
  return done(null)
}

/** Whether there is something to answer: it is open, on its way without a code, or shows one. */
function hasComeFar(link: Link | null): boolean {
  return link !== null && (link.isOpen || link.keys.isLinked || link.shown !== null)
}

function done(value: unknown): DeviceAnswer {
  return { outcome: 'done', value }
}
