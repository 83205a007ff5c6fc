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
  /** Starts to claim its share of the instances. */
  start(): void
  /** Lets running commands end for a while, hangs up, and releases all instances. */
  stop(): Promise<void>
  /** The device, if this process runs it. */
  find(organizationId: string, instanceId: string): Device | undefined
  figures(): SessionFigures
}

/** The number of linked devices that this process holds and that are connected. */
export interface SessionFigures {
  held: number
  open: number
}

export interface SessionSettings {
  /** True if this process seems to have the library. */
  isInstalled: boolean
  /** The network's address; null: the default. */
  socketUrl: string | null
}

/** Set by tests; in milliseconds. */
export interface SessionTiming {
  /** How long a lease lasts from its last renewal. */
  leaseMs: number
  /** A session is closed this long before its lease ends. */
  marginMs: number
  /** How often leases are renewed and free instances claimed. */
  roundMs: number
}

const TIMING: SessionTiming = { leaseMs: 15_000, marginMs: 3_000, roundMs: 5_000 }
/** Notifications within this time are handled together. */
const DEBOUNCE_MS = 100

/**
 * Creates the manager of this process's linked devices. Each device runs in exactly one process, which holds its lease
 * and renews it while it can reach the database. A process that cannot renew hangs up before the lease ends and another
 * process claims it.
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

  /** A process that cannot reach the database must disconnect before the next one connects. */
  function closeExpired(): void {
    for (const leased of leasedSessions.all()) {
      if (isSafe(leased) || leased.isClosing) continue
      const { id: instanceId, organization_id: organizationId } = leased.instance
      ctx.log.warn({ instanceId, organizationId }, 'the lease of a linked device could not be renewed; disconnecting')
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
    // Sessions have hung up, so running commands have ended.
    await Promise.all([commands?.stop(), unrecorded.close()])
    await rounds
      .releaseAll()
      .catch((error) => ctx.log.warn({ err: error }, 'linked devices could not be released; their leases will expire'))
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
        onFailure: (error) =>
          ctx.log.warn({ err: error }, 'leases of linked devices could not be renewed; trying again'),
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
