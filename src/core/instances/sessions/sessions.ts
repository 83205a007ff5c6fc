import type { Device } from '../../../channels/device.js'
import type { BaseContext } from '../../../context.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import type { Notification } from '../../../model/notification.js'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import { type CommandLoop, startCommandLoop } from './command-loop.js'
import { createLeaseRounds, GRACE_MS } from './lease-rounds.js'
import { createLeasedSessions, type LeasedSession } from './leased-sessions.js'
import { createNeededLibrary } from './needed-library.js'
import { type RunningSession, startRunningSession } from './running-session.js'
import { createUnrecordedMessages } from './unrecorded-messages.js'

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
  roundMs: number
}

const TIMING: SessionTiming = { leaseMs: 15_000, marginMs: 3_000, roundMs: 5_000 }
/** Signals that come close together are looked into together. */
const DEBOUNCE_MS = 100

/**
 * Makes the keeper of the linked devices of a process (contract 5). Each runs in exactly one process: the one that has its lease, which
 * it renews as long as it can reach the database; where it cannot, it hangs up before the lease ends and another process begins.
 */
export function createSessions(
  ctx: BaseContext,
  { isInstalled, socketUrl }: SessionSettings,
  { leaseMs, marginMs, roundMs }: SessionTiming = TIMING,
): Sessions {
  const library = createNeededLibrary(ctx, isInstalled)
  const unrecorded = createUnrecordedMessages(ctx.log)
  const leasedSessions = createLeasedSessions({ start: startOne, onClosed: () => loop?.wake(), log: ctx.log })
  const rounds = createLeaseRounds(ctx, leasedSessions, library, { leaseMs, isInstalled })
  let loop: Loop | null = null
  let commands: CommandLoop | null = null
  let watchdog: NodeJS.Timeout | undefined
  let debounce: NodeJS.Timeout | undefined
  let stopListening = () => {}

  function startOne(leased: LeasedSession, onAnswered: () => void): RunningSession {
    const { instance } = leased
    const session = startRunningSession(ctx, library.get(), () => leased.instance, socketUrl, {
      onAnswered,
      onEnd: () => {
        rounds.markEnded(instance)
        leasedSessions.close(leased, GRACE_MS)
      },
      onLost: () => leasedSessions.close(leased, 0),
      onUnrecorded: (write) => unrecorded.add(instance, write),
    })
    commands?.wake()
    return session
  }

  /** Whoever cannot reach the database must not go on beside the next holder. */
  function closeExpired(): void {
    for (const leased of leasedSessions.all()) {
      if (isSafe(leased) || leased.isClosing) continue
      const { id: instanceId, organization_id: organizationId } = leased.instance
      ctx.log.warn({ instanceId, organizationId }, 'the lease of a linked device could not be renewed: it hangs up')
      leasedSessions.close(leased, 0)
    }
  }

  function isSafe({ until }: LeasedSession): boolean {
    return performance.now() < until - marginMs
  }

  function onNotification({ topic }: Notification): void {
    if (topic !== 'instances' && topic !== 'missed') return
    debounce ??= setTimeout(() => {
      debounce = undefined
      loop?.wake()
    }, DEBOUNCE_MS)
  }

  function find(organizationId: string, instanceId: string): Device | undefined {
    const leased = leasedSessions.get(instanceId)
    const isOurs = leased?.instance.organization_id === organizationId && isSafe(leased)
    return isOurs && !leased.isClosing ? leased.session?.run : undefined
  }

  function running(): LeasedInstance[] {
    return leasedSessions.all().flatMap(({ instance, session, isClosing }) => (session && !isClosing ? [instance] : []))
  }

  async function stop(): Promise<void> {
    if (!loop) return
    stopListening()
    clearTimeout(debounce)
    await loop.stop()
    for (const leased of leasedSessions.all()) leasedSessions.close(leased, GRACE_MS)
    await leasedSessions.allClosed()
    clearInterval(watchdog)
    // Their sessions have hung up, so commands under way have ended.
    await Promise.all([commands?.stop(), unrecorded.close()])
    await rounds
      .releaseAll()
      .catch((error) =>
        ctx.log.warn({ err: error }, 'linked devices could not be given back: their leases end by themselves'),
      )
  }

  return {
    start: () => {
      stopListening = ctx.notifications.listen(onNotification)
      loop = startLoop({
        round: async () => {
          await rounds.reconcile()
          return false
        },
        pauseMs: () => roundMs,
        onFailure: (error) => ctx.log.warn({ err: error }, 'linked devices could not be looked after; trying again'),
      })
      commands = startCommandLoop(ctx, { find, running })
      watchdog = setInterval(closeExpired, marginMs / 3)
    },
    stop,
    find,
    figures: () => ({
      held: leasedSessions.all().length,
      open: leasedSessions.all().filter(({ session, isClosing }) => !isClosing && session?.state() === 'open').length,
    }),
  }
}
