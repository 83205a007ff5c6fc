import type { Logger } from 'pino'
import type { LeasedInstance } from '../../../storage/instances/leases.js'
import type { RunningSession } from './running-session.js'

/** An instance under this process's lease. */
export interface LeasedSession {
  instance: LeasedInstance
  /** The end of the lease on the clock of `performance`; another process may claim it then. */
  until: number
  /** Null until it is started. */
  session: RunningSession | null
  isClosing: boolean
}

/** The instances under this process's lease, by id. */
export interface LeasedSessions {
  get(id: string): LeasedSession | undefined
  all(): LeasedSession[]
  /** Adds an instance; if its last session here is still closing, the next round adds it. */
  add(instance: LeasedInstance, until: number): void
  /** Starts waiting instances, as many as may connect at the same time. */
  startWaiting(): void
  /**
   * Hangs up after a grace for running commands, then runs `release`. Until that is done the instance counts as held,
   * so that this process does not start it again. Does nothing if it is already closing.
   */
  close(leased: LeasedSession, graceMs: number, release?: () => Promise<void>): void
  /** Resolves when no session is closing. */
  allClosed(): Promise<void>
}

export interface LeasedSessionsOptions {
  /** `onAnswered`: the network has answered, so the next one may be started. */
  start(leased: LeasedSession, onAnswered: () => void): RunningSession
  onClosed(): void
  log: Logger
}

/** The maximum number that connect at the same time, and the maximum time that each has for it. */
const MAX_CONNECTING = 4
const CONNECTING_MS = 10_000

export function createLeasedSessions({ start, onClosed, log }: LeasedSessionsOptions): LeasedSessions {
  const sessions = new Map<string, LeasedSession>()
  const closing = new Set<Promise<void>>()
  /** Sessions without an answer of the network yet, with the timer that ends the wait. */
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

  /**
   * The next one of the organization with the fewest started sessions, so that a restart serves all organizations in
   * turn.
   */
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
