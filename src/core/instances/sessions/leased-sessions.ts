import type { Logger } from 'pino'
import type { HeldInstance } from '../../../storage/instances/leases.js'
import type { RunningSession } from './running-session.js'

/** An instance that this process holds. */
export interface LeasedSession {
  instance: HeldInstance
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
  add(instance: HeldInstance, until: number): void
  /** Starts those that wait for it, as many as may connect at a time. */
  startWaiting(): void
  /**
   * Hangs up, after a grace for what is under way, and says the last word of it to the database; until that has been said it is held, so
   * that nobody here takes it for one that may be begun. Nothing where it is being closed already.
   */
  close(holding: LeasedSession, graceMs: number, lastWord?: () => Promise<void>): void
  /** Resolves when none is being closed. */
  settled(): Promise<void>
}

export interface HoldingsOptions {
  /** `onAnswered`: the network has answered, the next one may be started. */
  start(holding: LeasedSession, onAnswered: () => void): RunningSession
  onClosed(): void
  log: Logger
}

/** As many connect at a time, and for as long at most. */
const MAX_CONNECTING = 4
const CONNECTING_MS = 10_000

export function createLeasedSessions({ start, onClosed, log }: HoldingsOptions): LeasedSessions {
  const holdings = new Map<string, LeasedSession>()
  const closing = new Set<Promise<void>>()
  /** Those whose network has not answered yet, with what ends the waiting. */
  const connecting = new Map<LeasedSession, NodeJS.Timeout>()

  function startWaiting(): void {
    while (connecting.size < MAX_CONNECTING) {
      const holding = nextToStart()
      if (!holding) return
      const stopWaiting = () => stopWaitingFor(holding)
      connecting.set(holding, setTimeout(stopWaiting, CONNECTING_MS))
      holding.session = start(holding, stopWaiting)
    }
  }

  /** One of the organization of which the fewest have been started: after a restart each gets its turn before another one's second. */
  function nextToStart(): LeasedSession | undefined {
    const started = new Map<string, number>()
    const countOf = ({ instance }: LeasedSession) => started.get(instance.organization_id) ?? 0
    for (const holding of holdings.values()) {
      if (holding.session !== null) started.set(holding.instance.organization_id, countOf(holding) + 1)
    }
    let next: LeasedSession | undefined
    for (const holding of holdings.values()) {
      if (holding.session !== null || holding.isClosing) continue
      if (!next || countOf(holding) < countOf(next)) next = holding
    }
    return next
  }

  function stopWaitingFor(holding: LeasedSession): void {
    clearTimeout(connecting.get(holding))
    if (connecting.delete(holding)) startWaiting()
  }

  function close(holding: LeasedSession, graceMs: number, lastWord = async () => {}): void {
    if (holding.isClosing) return
    holding.isClosing = true
    const closed = end(holding, graceMs, lastWord).finally(() => closing.delete(closed))
    closing.add(closed)
  }

  async function end(holding: LeasedSession, graceMs: number, lastWord: () => Promise<void>): Promise<void> {
    await holding.session?.close(graceMs)
    await lastWord().catch((error) =>
      log.warn({ err: error }, 'a linked device could not be given back; it is tried again'),
    )
    holdings.delete(holding.instance.id)
    stopWaitingFor(holding)
    onClosed()
  }

  return {
    get: (id) => holdings.get(id),
    all: () => [...holdings.values()],
    add: (instance, until) => {
      if (!holdings.has(instance.id)) {
        holdings.set(instance.id, { instance, until, session: null, isClosing: false })
      }
    },
    startWaiting,
    close,
    settled: async () => {
      while (closing.size > 0) await Promise.all(closing)
    },
  }
}
