import type { Logger } from 'pino'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import type { RunningSession } from './running-session.js'

/** An instance that this process holds. */
export interface LeasedSession {
  instance: LeasedInstance
  /** On the clock of performance: another process may have it from then on. */
  until: number
  /** Null while it waits for its turn to be started. */
  session: RunningSession | null
  isClosing: boolean
}

/** The instances that this process holds, by their ids. */
export interface LeasedSessions {
  get(id: string): LeasedSession | undefined
  all(): LeasedSession[]
  /** Holds an instance from now on; where the last session of it here still ends, the next round takes it up again. */
  add(instance: LeasedInstance, until: number): void
  /** Starts those that wait for it, as many as may connect at a time. */
  startWaiting(): void
  /**
   * Hangs up, after a grace for what is under way, and says the last word of it to the database; until that has been said it is held, so
   * that nobody here takes it for one that may be begun. Nothing where it is being closed already.
   */
  close(leased: LeasedSession, graceMs: number, release?: () => Promise<void>): void
  /** Resolves when none is being closed. */
  allClosed(): Promise<void>
}

export interface LeasedSessionsOptions {
  /** `onAnswered`: the network has answered, the next one may be started. */
  start(leased: LeasedSession, onAnswered: () => void): RunningSession
  onClosed(): void
  log: Logger
}

/** As many connect at a time, and for as long at most. */
const MAX_CONNECTING = 4
const CONNECTING_MS = 10_000

export function createLeasedSessions({ start, onClosed, log }: LeasedSessionsOptions): LeasedSessions {
  const sessions = new Map<string, LeasedSession>()
  const closing = new Set<Promise<void>>()
  /** Those whose network has not answered yet, with what ends the waiting. */
  const connecting = new Map<LeasedSession, NodeJS.Timeout>()

  function startWaiting(): void {
    while (connecting.size < MAX_CONNECTING) {
      const leased = nextToStart()
      if (!leased) return
      const stopWaiting = () => stopWaitingFor(leased)
      connecting.set(leased, setTimeout(stopWaiting, CONNECTING_MS))
      leased.session = start(leased, stopWaiting)
    }
  }

  /** One of the organization of which the fewest have been started: after a restart each gets its turn before another one's second. */
  function nextToStart(): LeasedSession | undefined {
    const started = new Map<string, number>()
    const countOf = ({ instance }: LeasedSession) => started.get(instance.organization_id) ?? 0
    for (const leased of sessions.values()) {
      if (leased.session !== null) started.set(leased.instance.organization_id, countOf(leased) + 1)
    }
    let next: LeasedSession | undefined
    for (const leased of sessions.values()) {
      if (leased.session !== null || leased.isClosing) continue
      if (!next || countOf(leased) < countOf(next)) next = leased
    }
    return next
  }

  function stopWaitingFor(leased: LeasedSession): void {
    clearTimeout(connecting.get(leased))
    if (connecting.delete(leased)) startWaiting()
  }

  function close(leased: LeasedSession, graceMs: number, release = async () => {}): void {
    if (leased.isClosing) return
    leased.isClosing = true
    const closed = end(leased, graceMs, release).finally(() => closing.delete(closed))
    closing.add(closed)
  }

  async function end(leased: LeasedSession, graceMs: number, release: () => Promise<void>): Promise<void> {
    await leased.session?.close(graceMs)
    await release().catch((error) =>
      log.warn({ err: error }, 'a linked device could not be given back; it is tried again'),
    )
    sessions.delete(leased.instance.id)
    stopWaitingFor(leased)
    onClosed()
  }

  return {
    get: (id) => sessions.get(id),
    all: () => [...sessions.values()],
    add: (instance, until) => {
      if (!sessions.has(instance.id)) {
        sessions.set(instance.id, { instance, until, session: null, isClosing: false })
      }
    },
    startWaiting,
    close,
    allClosed: async () => {
      while (closing.size > 0) await Promise.all(closing)
    },
  }
}
