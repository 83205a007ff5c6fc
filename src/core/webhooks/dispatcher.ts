import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import type { Notification } from '../../model/notification.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { type EventWindow, readEventWindows } from '../../storage/events/events.js'
import { type NewDelivery, readDueDeliveries } from '../../storage/webhooks/deliveries.js'
import { type AttemptContext, createAttempter, type EndedAttempt } from './attempt.js'
import { createEndpointQueue, type EndpointQueue } from './endpoint-queue.js'
import { fanOut } from './fan-out.js'
import { createOwnedFeeds, distrust, lookAgain, reload } from './owned-feeds.js'
import { type Recorded, type Round, recordRound } from './record.js'
import { createWakeTimers } from './wake-timers.js'

/** Sees to it that events arrive at webhooks. */
export interface Dispatcher {
  /** Begins, and goes on until it is stopped. */
  start(): void
  /** Lets what is in flight end for a while, then hangs up, and gives everything back to the other processes. */
  stop(): Promise<void>
  /** Delivers whatever can be delivered by now, and ends: in place of start. */
  drain(): Promise<void>
  /** What it has done since the process began, and what it is at. */
  figures(): WebhookFigures
}

/** Attempts that delivered and those that did not, attempts in flight, and the organizations that the process holds. */
export interface WebhookFigures {
  delivered: number
  failed: number
  inFlight: number
  organizations: number
}

/** New events of an organization, and what they make for its webhooks. */
type FannedWindow = EventWindow & { deliveries: [NewDelivery, EventRow][] }

export type DispatcherContext = AttemptContext & Pick<Context, 'database' | 'processId' | 'notifications'>

/** Every so often everything is looked at, whether a signal came or not. */
const TEND_MS = 2_000
/** So long events that are for no webhook are passed over in memory alone: after a crash they are read again. */
const STORE_MS = 30_000
/** What one round takes on, so that it is short and its rows are few enough for one statement. */
const MAX_LANES = 400
const MAX_EVENTS = 1_000
const MAX_DELIVERIES = 4_000
const MAX_ATTEMPTS = 4_000
const MAX_DUE = 2_000
/** How soon what somebody else had locked is tried again. */
const POSTPONED_MS = 25
const GRACE_MS = 5_000
/** How often the last attempts are tried to be recorded, where somebody has their organization locked. */
const LAST_TRIES = 40

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
  const lanes = createWakeTimers<EndpointQueue>()
  let ended: EndedAttempt[] = []
  /** The lanes that sent them: a webhook's may be another one since. */
  const senders = new WeakMap<EndedAttempt, EndpointQueue>()
  let delivered = 0
  let failed = 0
  let tendAt = 0
  /** Rounds in which something was written. */
  let written = 0
  let loop: Loop | null = null
  let stopListening = () => {}
  const holdings = createOwnedFeeds(ctx, (endpoint) => {
    const lane = createEndpointQueue(endpoint, {
      clock: ctx.clock,
      attempt: (target, delivery) => track(attempt(target, delivery, hangUp.signal)),
      onEnd: (one, sender) => {
        ended.push(one)
        senders.set(one, sender)
        if (one.result.status === 'delivered') delivered += 1
        else failed += 1
        loop?.call()
      },
      onWork: lanes.wake,
    })
    lanes.wake(lane)
    return lane
  })

  /** Who waits for what is tracked goes on after the lane, which awaits it first: by then its end is among `ended`. */
  function track<Result>(sent: Promise<Result>): Promise<Result> {
    const tracked = sent.finally(() => sending.delete(tracked))
    sending.add(tracked)
    return tracked
  }

  function hear(notification: Notification): void {
    if (notification.topic !== 'events' && notification.topic !== 'webhooks' && notification.topic !== 'missed') return
    if (notification.topic === 'events') {
      const feeds = notification.organizationIds?.map(holdings.find) ?? holdings.feeds()
      for (const feed of feeds) if (feed) feed.hasNews = true
    } else {
      const feeds = notification.topic === 'webhooks' ? [holdings.find(notification.organizationId)] : holdings.feeds()
      for (const feed of feeds) if (feed) reload(feed)
      // It may be one that is yet to be taken.
      if (notification.topic === 'missed' || feeds.includes(undefined)) tendAt = 0
    }
    loop?.call()
  }

  /** Whether there is more to do at once. Where one fails, whatever it had begun is done again. */
  async function round(): Promise<boolean> {
    try {
      if (performance.now() >= tendAt) {
        // Before: who asks for it meanwhile is not forgotten.
        tendAt = performance.now() + TEND_MS
        await holdings.tend()
      }
      holdings.retryPostponed()
      await holdings.refreshLanes(new Set())
      const windows = await readNews()
      // Read after the events: whoever was set before one of them is there.
      await holdings.refreshLanes(new Set(windows.map(({ organizationId }) => organizationId)))
      const hasWritten = await write(passOver(windows.map(toFanned)))
      await work()
      return hasWritten || holdings.hasNews() || lanes.hasAwake()
    } catch (error) {
      for (const feed of holdings.feeds()) distrust(feed)
      tendAt = 0
      throw error
    }
  }

  /** New events, by organization; nothing of those that have none. */
  async function readNews(): Promise<EventWindow[]> {
    const asked = holdings.reserveSlots(MAX_LANES)
    if (asked.length === 0) return []
    const width = asked.reduce((sum, feed) => sum + Math.max(1, feed.lanes.size), 0)
    const limit = Math.min(MAX_EVENTS, Math.ceil(MAX_DELIVERIES / width))
    const positions = asked.map(({ organizationId, position }) => ({ organizationId, ...position }))
    for (const feed of asked) feed.hasNews = false
    const windows = await readEventWindows(ctx.database, positions, null, limit)
    holdings.advance(
      windows.filter(({ events }) => events.length === 0),
      false,
    )
    return windows.filter(({ events }) => events.length > 0)
  }

  /** Goes on after events that are for no webhook, and writes that down from time to time only; resolves to what is to be written. */
  function passOver(windows: readonly FannedWindow[]): FannedWindow[] {
    const since = performance.now() - STORE_MS
    const isWorth = ({ organizationId, deliveries }: FannedWindow) =>
      deliveries.length > 0 || (holdings.find(organizationId)?.storedAt ?? since) <= since
    holdings.advance(
      windows.filter((window) => !isWorth(window)),
      false,
    )
    return windows.filter(isWorth)
  }

  /** Whether something has been written. */
  async function write(windows: readonly FannedWindow[]): Promise<boolean> {
    const attempts = ended.slice(0, MAX_ATTEMPTS)
    if (windows.length === 0 && attempts.length === 0) return false
    const recorded = await recordRound(ctx, toRound(windows, attempts))
    const { postponed, outdated } = recorded
    const done = attempts.filter(({ result }) => !postponed.has(result.organization_id))
    const left = attempts.filter(({ result }) => postponed.has(result.organization_id))
    ended = [...ended.slice(attempts.length), ...left]
    const isWritten = ({ organizationId }: EventWindow) =>
      !postponed.has(organizationId) && !outdated.has(organizationId)
    holdings.advance(windows.filter(isWritten), true)
    for (const organizationId of outdated) {
      const feed = holdings.find(organizationId)
      if (feed) distrust(feed)
      tendAt = 0
    }
    for (const organizationId of postponed) {
      const feed = holdings.find(organizationId)
      if (feed) feed.isPostponed = true
    }
    take(done, recorded)
    const hasWritten = done.length > 0 || windows.some(isWritten)
    if (hasWritten) written += 1
    return hasWritten
  }

  function toRound(windows: readonly FannedWindow[], attempts: readonly EndedAttempt[]): Round {
    return {
      ended: attempts,
      deliveries: windows.flatMap(({ deliveries }) => deliveries),
      feeds: windows.map(({ organizationId, next }) => {
        return { organizationId, next, stored: holdings.find(organizationId)?.stored ?? next }
      }),
      holds: (organizationId) => holdings.find(organizationId) !== undefined,
      healthOf: ({ result, webhookId }) => {
        const lane = holdings.find(result.organization_id)?.lanes.get(webhookId)
        return { failingSince: lane?.endpoint.failing_since ?? null, disabledReason: null }
      },
    }
  }

  function toFanned(window: EventWindow): FannedWindow {
    const known = holdings.find(window.organizationId)?.lanes.values() ?? []
    const endpoints = Array.from(known, ({ endpoint }) => endpoint)
    return { ...window, deliveries: fanOut(window.events, endpoints) }
  }

  function take(attempts: readonly EndedAttempt[], { due, health, lost }: Recorded): void {
    for (const organizationId of lost) {
      holdings.drop(organizationId)
      // Whoever holds it now does not know what has become due by these attempts.
      ctx.notifications.send({ topic: 'webhooks', organizationId })
    }
    for (const one of attempts) {
      senders.get(one)?.settle(one)
      const feed = holdings.find(one.result.organization_id)
      const lane = feed?.lanes.get(one.webhookId)
      if (!feed || !lane) continue
      const { failingSince, disabledReason } = health.get(one.webhookId) ?? {}
      if (failingSince !== undefined) lane.endpoint = { ...lane.endpoint, failing_since: failingSince }
      if (!disabledReason) continue
      const { organizationId } = feed
      ctx.log.warn({ organizationId, webhookId: one.webhookId, reason: disabledReason }, 'a webhook is disabled')
      lookAgain(feed)
      feed.lanes.delete(one.webhookId)
      lane.close()
    }
    for (const delivery of due) {
      holdings.find(delivery.organization_id)?.lanes.get(delivery.webhook_id)?.offer([delivery])
    }
  }

  /** Has the lanes that have something to do read what is due, and send. */
  async function work(): Promise<void> {
    const now = ctx.clock()
    const awake = lanes.takeAwake(now)
    let room = MAX_DUE
    const asked = awake.flatMap((lane) => {
      if (room <= 0) {
        lanes.wake(lane)
        return []
      }
      const question = lane.question(now, room)
      room -= question?.room ?? 0
      return question ? [{ lane, question }] : []
    })
    if (asked.length > 0) {
      const questions = asked.map(({ question }) => question)
      const answers = await readDueDeliveries(ctx.database, questions, now)
      for (const { lane, question } of asked) {
        const answer = answers.get(question.webhook_id)
        if (answer) lane.take(question, answer)
      }
    }
    for (const lane of awake) {
      lane.pump()
      const wakesAt = lane.wakesAt(now)
      if (wakesAt) lanes.sleep(lane, wakesAt)
    }
  }

  function pauseMs(): number {
    const wakesAt = lanes.soonest()
    const untilLane = wakesAt ? wakesAt.getTime() - ctx.clock().getTime() : TEND_MS
    const untilPostponed = holdings.hasPostponed() ? POSTPONED_MS : TEND_MS
    return Math.max(1, Math.min(tendAt - performance.now(), untilLane, untilPostponed))
  }

  return {
    start: () => {
      stopListening = ctx.notifications.listen(hear)
      loop = startLoop({
        round,
        pauseMs,
        onFailure: (error) => ctx.log.warn({ err: error }, 'webhooks wait: a round of deliveries is tried again'),
      })
    },
    stop: async () => {
      stopListening()
      await loop?.stop()
      for (const feed of holdings.feeds()) for (const lane of feed.lanes.values()) lane.close()
      await Promise.race([Promise.all(sending), sleep(GRACE_MS, hangUp.signal)])
      hangUp.abort()
      await Promise.all(sending)
      try {
        for (let tries = 0; ended.length > 0 && tries < LAST_TRIES; tries++) {
          if (!(await write([]))) await sleep(POSTPONED_MS)
        }
        await holdings.releaseAll()
      } catch (error) {
        ctx.log.warn({ err: error }, 'the last attempts at webhooks could not be recorded: they are made again')
      }
    },
    drain: async () => {
      do {
        tendAt = 0
        for (const feed of holdings.feeds()) reload(feed)
      } while (await workOff())
    },
    figures: () => ({ delivered, failed, inFlight: sending.size, organizations: holdings.feeds().length }),
  }

  /** Does rounds until nothing can be done any more; whether anything was written. */
  async function workOff(): Promise<boolean> {
    const before = written
    for (;;) {
      if ((await round()) || ended.length > 0 || holdings.hasPostponed()) continue
      if (sending.size === 0) return written > before
      await Promise.race(sending)
    }
  }
}
