import type { Device } from '../../../channels/device.js'
import type { BaseContext } from '../../../context.js'
import { type Loop, startLoop } from '../../../lib/async/loop.js'
import type { Notification } from '../../../model/notification.js'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import { type CommandLoop, startCommandLoop } from '../commands/command-loop.js'
import { createNeededLibrary, type NeededLibrary } from '../library/needed-library.js'
import { GRACE_MS, LeaseRounds } from './lease-rounds.js'
import { createLeasedSessions, type LeasedSession, type LeasedSessions } from './leased-sessions.js'
import { type RunningSession, startRunningSession } from './running-session.js'
import { createUnrecordedMessages, type UnrecordedMessages } from './unrecorded-messages.js'

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

/** The parts that run from start to stop. */
interface Started {
  loop: Loop
  commands: CommandLoop
  watchdog: NodeJS.Timeout
  stopListening: () => void
}

const TIMING: SessionTiming = { leaseMs: 15_000, marginMs: 3_000, roundMs: 5_000 }
/** Notifications within this time are handled together. */
const DEBOUNCE_MS = 100

/**
 * The linked devices that this process runs. Each device runs in exactly one process, which holds its lease and renews
 * it while it can reach the database. A process that cannot renew hangs up before the lease ends and another process
 * claims it.
 */
export class Sessions {
  readonly #ctx: BaseContext
  readonly #socketUrl: string | null
  readonly #timing: SessionTiming
  readonly #library: NeededLibrary
  readonly #unrecorded: UnrecordedMessages
  readonly #leasedSessions: LeasedSessions
  readonly #rounds: LeaseRounds
  #started: Started | null = null
  #debounce: NodeJS.Timeout | undefined

  constructor(ctx: BaseContext, { isInstalled, socketUrl }: SessionSettings, timing: SessionTiming = TIMING) {
    this.#ctx = ctx
    this.#socketUrl = socketUrl
    this.#timing = timing
    this.#library = createNeededLibrary(ctx, isInstalled)
    this.#unrecorded = createUnrecordedMessages(ctx.log)
    this.#leasedSessions = createLeasedSessions({
      start: (leased, onAnswered) => this.#startOne(leased, onAnswered),
      onClosed: () => this.#started?.loop.wake(),
      log: ctx.log,
    })
    const { leaseMs } = timing
    this.#rounds = new LeaseRounds(ctx, this.#leasedSessions, this.#library, { leaseMs, isInstalled })
  }

  /** Starts to claim its share of the instances. */
  start(): void {
    const { notifications, log } = this.#ctx
    const { roundMs, marginMs } = this.#timing
    const stopListening = notifications.listen((notification) => this.#onNotification(notification))
    const loop = startLoop({
      round: async () => {
        await this.#rounds.reconcile()
        return false
      },
      pauseMs: () => roundMs,
      onFailure: (error) => log.warn({ err: error }, 'leases of linked devices could not be renewed; trying again'),
    })
    const commands = startCommandLoop(this.#ctx, {
      find: (organizationId, instanceId) => this.find(organizationId, instanceId),
      running: () => this.#runningInstances(),
    })
    const watchdog = setInterval(() => this.#closeExpired(), marginMs / 3)
    this.#started = { loop, commands, watchdog, stopListening }
  }

  /** Lets running commands end for a while, hangs up, and releases all instances. */
  async stop(): Promise<void> {
    if (!this.#started) return
    const { loop, commands, watchdog, stopListening } = this.#started
    stopListening()
    clearTimeout(this.#debounce)
    await loop.stop()
    for (const leased of this.#leasedSessions.all()) this.#leasedSessions.close(leased, GRACE_MS)
    await this.#leasedSessions.allClosed()
    clearInterval(watchdog)
    // Sessions have hung up, so running commands have ended.
    await Promise.all([commands.stop(), this.#unrecorded.close()])
    await this.#rounds.releaseAll().catch((error) => {
      this.#ctx.log.warn({ err: error }, 'linked devices could not be released; their leases will expire')
    })
  }

  /** The device, if this process runs it. */
  find(organizationId: string, instanceId: string): Device | undefined {
    const leased = this.#leasedSessions.get(instanceId)
    const isOurs = leased?.instance.organization_id === organizationId && this.#isSafe(leased)
    return isOurs && !leased.isClosing ? leased.session?.run : undefined
  }

  figures(): SessionFigures {
    const held = this.#leasedSessions.all()
    const open = held.filter(({ session, isClosing }) => !isClosing && session?.state() === 'open')
    return { held: held.length, open: open.length }
  }

  #startOne(leased: LeasedSession, onAnswered: () => void): RunningSession {
    const { instance } = leased
    const network = { library: this.#library.get(), socketUrl: this.#socketUrl }
    const session = startRunningSession(this.#ctx, () => leased.instance, network, {
      onAnswered,
      onEnd: () => {
        this.#rounds.markEnded(instance)
        this.#leasedSessions.close(leased, GRACE_MS)
      },
      onLost: () => this.#leasedSessions.close(leased, 0),
      onUnrecorded: (write) => this.#unrecorded.add(instance, write),
    })
    this.#started?.commands.wake()
    return session
  }

  /** A process that cannot reach the database must disconnect before the next one connects. */
  #closeExpired(): void {
    for (const leased of this.#leasedSessions.all()) {
      if (this.#isSafe(leased) || leased.isClosing) continue
      const { id: instanceId, organization_id: organizationId } = leased.instance
      const ids = { instanceId, organizationId }
      this.#ctx.log.warn(ids, 'the lease of a linked device could not be renewed; disconnecting')
      this.#leasedSessions.close(leased, 0)
    }
  }

  #isSafe({ until }: LeasedSession): boolean {
    return performance.now() < until - this.#timing.marginMs
  }

  #onNotification({ topic }: Notification): void {
    if (topic !== 'instances' && topic !== 'missed') return
    this.#debounce ??= setTimeout(() => {
      this.#debounce = undefined
      this.#started?.loop.wake()
    }, DEBOUNCE_MS)
  }

  #runningInstances(): LeasedInstance[] {
    return this.#leasedSessions
      .all()
      .flatMap(({ instance, session, isClosing }) => (session && !isClosing ? [instance] : []))
  }
}
