import type { Context } from '../../context.js'
import { backoffDelay, sleep } from '../../lib/backoff.js'
import { type Loop, startLoop } from '../../lib/loop.js'
import type { EventRow } from '../../model/event.js'
import type { Signal } from '../../model/signal.js'
import { type EventWindow, readEventWindows } from '../../storage/events.js'
import { type NewDelivery, readDueDeliveries } from '../../storage/webhook-deliveries.js'
import { type AttemptContext, createAttempter, type EndedAttempt } from './attempt.js'
import { fanOut } from './fan-out.js'
import { createHoldings, lookAgain } from './holdings.js'
import { createLane } from './lane.js'
import { type Recorded, recordRound } from './record.js'

/** Sees to it that events arrive at webhooks. */
export interface Dispatcher {
  /** Begins, and goes on until it is stopped. */
  start(): void
  /** Lets what is in flight end for a while, then hangs up, and gives everything back to the other processes. */
  stop(): Promise<void>
  /** Delivers whatever can be delivered by now, and ends: in place of start. */
  drain(): Promise<void>
}

export type DispatcherContext = AttemptContext & Pick<Context, 'database' | 'processId' | 'signals'>

/** Every so often everything is looked at, whether a signal came or not. */
const TEND_MS = 2_000
/** What one round takes on: as many events, times webhooks, as one statement inserts well. */
const MAX_ORGANIZATIONS = 100
const MAX_EVENTS = 1_000
const MAX_DELIVERIES = 4_000
/** How soon events are looked for again that wait for an older transaction. */
const HELD_BACK = { baseMs: 4, maxMs: 200, jitter: 0 }
const GRACE_MS = 5_000

/**
 * Makes the dispatcher of a process (contract 4, Webhooks). Its rounds follow each other, and each does all that has come up since
 * the last one: reads new events of the organizations that the process holds, writes their deliveries and the attempts that have
 * ended in one transaction, and hands what is due to the lanes, which send meanwhile. Every state is in the database before
 * anything follows from it; what is in memory may be lost at any moment.
 */
export function createDispatcher(ctx: DispatcherContext): Dispatcher {
  const attempt = createAttempter(ctx)
  const sending = new Set<Promise<unknown>>()
  const hangUp = new AbortController()
  let ended: EndedAttempt[] = []
  let tendAt = 0
  let heldBack = 0
  let loop: Loop | null = null
  let stopListening = () => {}
  const holdings = createHoldings(ctx, (endpoint) =>
    createLane(endpoint, {
      clock: ctx.clock,
      attempt: (target, delivery) => track(attempt(target, delivery, hangUp.signal)),
      onEnd: (one) => {
        ended.push(one)
        loop?.call()
      },
    }),
  )

  /** Who waits for what is tracked goes on after the lane, which awaits it first: by then its end is among `ended`. */
  function track<Result>(sent: Promise<Result>): Promise<Result> {
    const tracked = sent.finally(() => sending.delete(tracked))
    sending.add(tracked)
    return tracked
  }

  function hear(signal: Signal): void {
    if (signal.topic === 'events') {
      const feeds = signal.organizationIds?.map(holdings.find) ?? holdings.feeds()
      for (const feed of feeds) if (feed) feed.hasNews = true
    } else {
      const feeds = signal.topic === 'webhooks' ? [holdings.find(signal.organizationId)] : holdings.feeds()
      for (const feed of feeds) if (feed) lookAgain(feed)
      tendAt = 0
    }
    loop?.call()
  }

  /** Whether there may be more to do at once. */
  async function round(): Promise<boolean> {
    if (Date.now() >= tendAt) {
      await holdings.tend()
      tendAt = Date.now() + TEND_MS
    }
    const windows = await readNews()
    await holdings.refreshLanes(new Set(windows.flatMap((one) => (one.events.length > 0 ? one.organizationId : []))))
    const hasMore = await write(windows)
    await readDue()
    for (const lane of holdings.lanes()) lane.pump()
    return hasMore
  }

  async function readNews(): Promise<EventWindow[]> {
    const asked = holdings.takeTurns(MAX_ORGANIZATIONS)
    if (asked.length === 0) return []
    const widest = Math.max(1, ...asked.map(({ lanes }) => lanes.size))
    const limit = Math.min(MAX_EVENTS, Math.ceil(MAX_DELIVERIES / widest))
    const positions = asked.map(({ organizationId, position }) => ({ organizationId, ...position }))
    for (const feed of asked) feed.hasNews = false
    return readEventWindows(ctx.database, positions, null, limit).catch((error) => {
      for (const feed of asked) feed.hasNews = true
      throw error
    })
  }

  async function write(windows: readonly EventWindow[]): Promise<boolean> {
    const withEvents = windows.filter(({ events }) => events.length > 0)
    const attempts = ended
    const hasToWrite = withEvents.length > 0 || attempts.length > 0
    try {
      ended = []
      const recorded = hasToWrite ? await recordRound(ctx, toRound(withEvents, attempts)) : null
      const canReadOn = holdings.advance(windows)
      if (recorded) take(attempts, recorded)
      // The next organizations in turn need not wait for a transaction because these do.
      const isBehind = windows.length === MAX_ORGANIZATIONS && windows.some(({ hasLater }) => !hasLater)
      heldBack = withEvents.length > 0 || isBehind ? 0 : heldBack + 1
      return hasToWrite || canReadOn
    } catch (error) {
      ended = [...attempts, ...ended]
      for (const { organizationId } of windows) {
        const feed = holdings.find(organizationId)
        if (feed) feed.hasNews = true
      }
      throw error
    }
  }

  function toRound(windows: readonly EventWindow[], attempts: readonly EndedAttempt[]) {
    return {
      ended: attempts,
      deliveries: windows.flatMap(toDeliveries),
      feeds: windows.map(({ organizationId, next }) => ({ organizationId, ...next })),
      healthOf: ({ result, webhookId }: EndedAttempt) => {
        const lane = holdings.laneOf(result.organization_id, webhookId)
        return { failingSince: lane?.endpoint.failing_since ?? null, disabledReason: null }
      },
    }
  }

  function toDeliveries({ organizationId, events }: EventWindow): [NewDelivery, EventRow][] {
    const lanes = holdings.find(organizationId)?.lanes.values() ?? []
    return fanOut(
      events,
      Array.from(lanes, ({ endpoint }) => endpoint),
    )
  }

  function take(attempts: readonly EndedAttempt[], { due, health, lost }: Recorded): void {
    for (const organizationId of lost) {
      holdings.drop(organizationId)
      // Whoever holds it now does not know what has become due by these attempts.
      ctx.signals.send({ topic: 'webhooks', organizationId })
    }
    for (const one of attempts) {
      const feed = holdings.find(one.result.organization_id)
      const lane = feed?.lanes.get(one.webhookId)
      if (!feed || !lane) continue
      lane.settle(one)
      const { failingSince, disabledReason } = health.get(one.webhookId) ?? {}
      if (failingSince !== undefined) lane.endpoint = { ...lane.endpoint, failing_since: failingSince }
      if (disabledReason) lookAgain(feed)
    }
    for (const delivery of due) holdings.laneOf(delivery.organization_id, delivery.webhook_id)?.offer([delivery])
  }

  async function readDue(): Promise<void> {
    const now = ctx.clock()
    const asked = holdings.lanes().flatMap((lane) => {
      const question = lane.question(now)
      return question ? [{ lane, question }] : []
    })
    if (asked.length === 0) return
    try {
      const questions = asked.map(({ question }) => question)
      const answers = await readDueDeliveries(ctx.database, questions, now)
      for (const { lane, question } of asked) {
        const answer = answers.get(question.webhook_id)
        if (answer) lane.take(question, answer)
      }
    } catch (error) {
      for (const { lane } of asked) lane.lookAgain()
      throw error
    }
  }

  function pauseMs(): number {
    const now = ctx.clock()
    const waits = holdings.lanes().flatMap((lane) => {
      const at = lane.wakesAt(now)
      return at === null ? [] : at.getTime() - now.getTime()
    })
    const isHeldBack = holdings.feeds().some(({ hasNews }) => hasNews)
    if (isHeldBack) waits.push(backoffDelay(Math.max(1, heldBack), HELD_BACK))
    return Math.max(1, Math.min(tendAt - Date.now(), ...waits))
  }

  return {
    start: () => {
      stopListening = ctx.signals.listen(hear)
      loop = startLoop({
        round,
        pauseMs,
        onFailure: (error) => ctx.log.warn({ err: error }, 'webhooks wait: a round of deliveries is tried again'),
      })
    },
    stop: async () => {
      stopListening()
      await loop?.stop()
      for (const lane of holdings.lanes()) lane.close()
      await Promise.race([Promise.all(sending), sleep(GRACE_MS, hangUp.signal)])
      hangUp.abort()
      await Promise.all(sending)
      try {
        await write([])
        await holdings.releaseAll()
      } catch (error) {
        ctx.log.warn({ err: error }, 'the last attempts at webhooks could not be recorded: they are made again')
      }
    },
    drain: async () => {
      do {
        tendAt = 0
        for (const feed of holdings.feeds()) lookAgain(feed)
      } while (await work())
    },
  }

  /** Does rounds until nothing can be done any more; whether there was anything to do. */
  async function work(): Promise<boolean> {
    for (let hasWorked = false; ; hasWorked = true) {
      if ((await round()) || ended.length > 0) continue
      if (sending.size === 0) return hasWorked
      await Promise.race(sending)
    }
  }
}
