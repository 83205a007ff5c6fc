import type { Device } from '../../../channels/device.js'
import type { Context } from '../../../context.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import type { Notification } from '../../../model/notification.js'
import type { HeldInstance } from '../../../storage/instances/leases.js'
import { createBacklog } from './backlog.js'
import { type CommandLoop, startCommandLoop } from './command-loop.js'
import { createLeaseRounds, GRACE_MS } from './lease-rounds.js'
import { createLeasedSessions, type LeasedSession } from './leased-sessions.js'
import { createNeededLibrary } from './needed-library.js'
import { type RunningSession, startRunningSession } from './running-session.js'

/** The linked devices that this process runs. */
export interface Sessions {
  /** Begins to take its share of them, and goes on until it is stopped. */
  start(): void
  /** Lets commands under way end for a while, hangs up, and gives all of them to the other processes. */
  stop(): Promise<void>
  /** The device, where this process runs it. */
  find(organizationId: string, instanceId: string): Device | undefined
  figures(): SessionFigures
}

/** The linked devices that this process holds, and those that are connected. */
export interface SessionFigures {
  held: number
  open: number
}

export interface SessionSettings {
  /** Whether this process seems to have the library. */
  isInstalled: boolean
  /** Where the network is; null: at its own address. */
  socketUrl: string | null
}

/** Of tests; in milliseconds. */
export interface SessionTiming {
  /** How long an instance is this process's from the last word to the database on. */
  leaseMs: number
  /** How long before the end of a lease its session is closed. */
  marginMs: number
  /** How often leases are renewed, and free instances looked for. */
  tendMs: number
}

const TIMING: SessionTiming = { leaseMs: 15_000, marginMs: 3_000, tendMs: 5_000 }
/** Signals that come close together are looked into together. */
const SETTLE_MS = 100

/**
 * Makes the keeper of the linked devices of a process (contract 5). Each runs in exactly one process: the one that has its lease, which
 * it renews as long as it can reach the database; where it cannot, it hangs up before the lease ends and another process begins.
 */
export function createSessions(
  ctx: Context,
  { isInstalled, socketUrl }: SessionSettings,
  { leaseMs, marginMs, tendMs }: SessionTiming = TIMING,
): Sessions {
  const library = createNeededLibrary(ctx, isInstalled)
  const backlog = createBacklog(ctx.log)
  const holdings = createLeasedSessions({ start: startOne, onClosed: () => loop?.wake(), log: ctx.log })
  const rounds = createLeaseRounds(ctx, holdings, library, { leaseMs, isInstalled })
  let loop: Loop | null = null
  let commands: CommandLoop | null = null
  let watchdog: NodeJS.Timeout | undefined
  let settling: NodeJS.Timeout | undefined
  let stopListening = () => {}

  function startOne(holding: LeasedSession, onAnswered: () => void): RunningSession {
    const { instance } = holding
    const session = startRunningSession(ctx, library.get(), () => holding.instance, socketUrl, {
      onAnswered,
      onEnd: () => {
        rounds.end(instance)
        holdings.close(holding, GRACE_MS)
      },
      onLost: () => holdings.close(holding, 0),
      onUnrecorded: (delivery) => backlog.keep(instance, delivery),
    })
    commands?.call()
    return session
  }

  /** Whoever cannot reach the database must not go on beside the next holder. */
  function watch(): void {
    for (const holding of holdings.all()) {
      if (isSafe(holding) || holding.isClosing) continue
      const { id: instanceId, organization_id: organizationId } = holding.instance
      ctx.log.warn({ instanceId, organizationId }, 'the lease of a linked device could not be renewed: it hangs up')
      holdings.close(holding, 0)
    }
  }

  function isSafe({ until }: LeasedSession): boolean {
    return performance.now() < until - marginMs
  }

  function hear({ topic }: Notification): void {
    if (topic !== 'instances' && topic !== 'missed') return
    settling ??= setTimeout(() => {
      settling = undefined
      loop?.wake()
    }, SETTLE_MS)
  }

  function find(organizationId: string, instanceId: string): Device | undefined {
    const holding = holdings.get(instanceId)
    const isOurs = holding?.instance.organization_id === organizationId && isSafe(holding)
    return isOurs && !holding.isClosing ? holding.session?.run : undefined
  }

  function running(): HeldInstance[] {
    return holdings.all().flatMap(({ instance, session, isClosing }) => (session && !isClosing ? [instance] : []))
  }

  async function stop(): Promise<void> {
    if (!loop) return
    stopListening()
    clearTimeout(settling)
    await loop.stop()
    for (const holding of holdings.all()) holdings.close(holding, GRACE_MS)
    await holdings.settled()
    clearInterval(watchdog)
    // Their sessions have hung up, so commands under way have ended.
    await Promise.all([commands?.stop(), backlog.close()])
    await rounds
      .leave()
      .catch((error) =>
        ctx.log.warn({ err: error }, 'linked devices could not be given back: their leases end by themselves'),
      )
  }

  return {
    start: () => {
      stopListening = ctx.notifications.listen(hear)
      loop = startLoop({
        round: async () => {
          await rounds.tend()
          return false
        },
        pauseMs: () => tendMs,
        onFailure: (error) => ctx.log.warn({ err: error }, 'linked devices could not be looked after; trying again'),
      })
      commands = startCommandLoop(ctx, { find, running })
      watchdog = setInterval(watch, marginMs / 3)
    },
    stop,
    find,
    figures: () => ({
      held: holdings.all().length,
      open: holdings.all().filter(({ session, isClosing }) => !isClosing && session?.state() === 'open').length,
    }),
  }
}
