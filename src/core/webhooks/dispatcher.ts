import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import type { Notification } from '../../model/notification.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { type EventWindow, readEventWindows } from '../../storage/events/events.js'
import { type NewDelivery, readDueDeliveries } from '../../storage/webhooks/deliveries.js'
import { type AttemptContext, createAttempter, type EndedAttempt } from './attempt.js'
import { EndpointQueue } from './endpoint-queue.js'
import { fanOut } from './fan-out.js'
import { createOwnedFeeds, markUncertain, refresh, reload } from './owned-feeds.js'
import { type Recorded, type Round, recordRound } from './record.js'
import { createWakeTimers } from './wake-timers.js'

/** Delivers events to webhooks. */
export interface Dispatcher {
  start(): void
  /** Lets deliveries in flight end for a while, aborts the rest, and releases all feeds to the other processes. */
  stop(): Promise<void>
  /** For tests, instead of start: delivers everything that is due and returns. */
  drain(): Promise<void>
  figures(): WebhookFigures
}

/**
 * Counts since the start of the process: attempts that delivered and that failed, attempts in flight, owned
 * organizations.
 */
export interface WebhookFigures {
  delivered: number
  failed: number
  inFlight: number
  organizations: number
}

/** New events of an organization, and the deliveries that they create. */
type FannedWindow = EventWindow & { deliveries: [NewDelivery, EventRow][] }

export type DispatcherContext = AttemptContext & Pick<Context, 'database' | 'processId' | 'notifications'>

/** Everything is checked this often, in case a notification was lost. */
const RECONCILE_MS = 2_000
/** A position that moved only past unwanted events is stored this often; after a crash these events are read again. */
const STORE_POSITION_MS = 30_000
/** Limits of one round, so that it is short and its rows fit one statement. */
const MAX_QUEUES = 400
const MAX_EVENTS = 1_000
const MAX_DELIVERIES = 4_000
const MAX_ATTEMPTS = 4_000
const MAX_DUE = 2_000
/** Delay before a locked organization is tried again. */
const POSTPONED_MS = 25
const GRACE_MS = 5_000
/** Attempts to record the last results at shutdown, if another process has the organization locked. */
const LAST_TRIES = 40

/**
 * Creates the dispatcher of a process. It works in rounds. A round reads new events of the owned feeds, writes their
 * deliveries and the finished attempts in one transaction, and hands due deliveries to the endpoint queues, which send
 * in the meantime. Every state is in the database before anything follows from it, so memory may be lost at any moment.
 */
export function createDispatcher(ctx: DispatcherContext): Dispatcher {
  const attempt = createAttempter(ctx)
  const sending = new Set<Promise<unknown>>()
  const hangUp = new AbortController()
  const timers = createWakeTimers<EndpointQueue>()
  let ended: EndedAttempt[] = []
  /** The queue that made an attempt; the webhook may have a new one since. */
  const senders = new WeakMap<EndedAttempt, EndpointQueue>()
  let delivered = 0
  let failed = 0
  let reconcileAt = 0
  /** Rounds that wrote something. */
  let written = 0
  let loop: Loop | null = null
  let stopListening = () => {}
  const ownedFeeds = createOwnedFeeds(ctx, (endpoint) => {
    const queue = new EndpointQueue(endpoint, {
      clock: ctx.clock,
      attempt: (target, delivery) => track(attempt(target, delivery, hangUp.signal)),
      onEnd: (one, sender) => {
        ended.push(one)
        senders.set(one, sender)
        if (one.result.status === 'delivered') delivered += 1
        else failed += 1
        loop?.wake()
      },
      onWork: timers.wake,
    })
    timers.wake(queue)
    return queue
  })

  /**
   * Callers of the tracked promise continue after the queue, which awaits it first: the attempt is in `ended` by then.
   */
  function track<Result>(sent: Promise<Result>): Promise<Result> {
    const tracked = sent.finally(() => sending.delete(tracked))
    sending.add(tracked)
    return tracked
  }

  function onNotification(notification: Notification): void {
    if (notification.topic !== 'events' && notification.topic !== 'webhooks' && notification.topic !== 'missed') return
    if (notification.topic === 'events') {
      const feeds = notification.organizationIds?.map(ownedFeeds.find) ?? ownedFeeds.feeds()
      for (const feed of feeds) if (feed) feed.hasNewEvents = true
    } else {
      const feeds =
        notification.topic === 'webhooks' ? [ownedFeeds.find(notification.organizationId)] : ownedFeeds.feeds()
      for (const feed of feeds) if (feed) reload(feed)
      // The organization may be one that this process has yet to claim.
      if (notification.topic === 'missed' || feeds.includes(undefined)) reconcileAt = 0
    }
    loop?.wake()
  }

  /** Returns true if there is more to do at once. A failed round is repeated. */
  async function round(): Promise<boolean> {
    try {
      if (performance.now() >= reconcileAt) {
        // Set first, so that a request made meanwhile is not lost.
        reconcileAt = performance.now() + RECONCILE_MS
        await ownedFeeds.reconcile()
      }
      ownedFeeds.retryPostponed()
      await ownedFeeds.refreshQueues(new Set())
      const windows = await readNewEvents()
      // Read after the events, so that webhooks set before an event are included.
      await ownedFeeds.refreshQueues(new Set(windows.map(({ organizationId }) => organizationId)))
      const hasWritten = await write(skipUnwanted(windows.map(toFanned)))
      await sendDue()
      return hasWritten || ownedFeeds.hasNewEvents() || timers.hasAwake()
    } catch (error) {
      for (const feed of ownedFeeds.feeds()) markUncertain(feed)
      reconcileAt = 0
      throw error
    }
  }

  /** New events by organization; organizations without new events are left out. */
  async function readNewEvents(): Promise<EventWindow[]> {
    const asked = ownedFeeds.takeBatch(MAX_QUEUES)
    if (asked.length === 0) return []
    const width = asked.reduce((sum, feed) => sum + Math.max(1, feed.queues.size), 0)
    const limit = Math.min(MAX_EVENTS, Math.ceil(MAX_DELIVERIES / width))
    const positions = asked.map(({ organizationId, position }) => ({ organizationId, ...position }))
    for (const feed of asked) feed.hasNewEvents = false
    const windows = await readEventWindows(ctx.database, positions, null, limit)
    ownedFeeds.advance(
      windows.filter(({ events }) => events.length === 0),
      false,
    )
    return windows.filter(({ events }) => events.length > 0)
  }

  /**
   * Advances past events that no webhook wants, storing the position only from time to time. Returns the windows to
   * write.
   */
  function skipUnwanted(windows: readonly FannedWindow[]): FannedWindow[] {
    const since = performance.now() - STORE_POSITION_MS
    const isWorth = ({ organizationId, deliveries }: FannedWindow) =>
      deliveries.length > 0 || (ownedFeeds.find(organizationId)?.storedAt ?? since) <= since
    ownedFeeds.advance(
      windows.filter((window) => !isWorth(window)),
      false,
    )
    return windows.filter(isWorth)
  }

  /** Returns true if something was written. */
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
    ownedFeeds.advance(windows.filter(isWritten), true)
    for (const organizationId of outdated) {
      const feed = ownedFeeds.find(organizationId)
      if (feed) markUncertain(feed)
      reconcileAt = 0
    }
    for (const organizationId of postponed) {
      const feed = ownedFeeds.find(organizationId)
      if (feed) feed.isPostponed = true
    }
    applyRecorded(done, recorded)
    const hasWritten = done.length > 0 || windows.some(isWritten)
    if (hasWritten) written += 1
    return hasWritten
  }

  function toRound(windows: readonly FannedWindow[], attempts: readonly EndedAttempt[]): Round {
    return {
      ended: attempts,
      deliveries: windows.flatMap(({ deliveries }) => deliveries),
      feeds: windows.map(({ organizationId, next }) => {
        return { organizationId, next, stored: ownedFeeds.find(organizationId)?.stored ?? next }
      }),
      owns: (organizationId) => ownedFeeds.find(organizationId) !== undefined,
      healthOf: ({ result, webhookId }) => {
        const queue = ownedFeeds.find(result.organization_id)?.queues.get(webhookId)
        return { failingSince: queue?.endpoint.failing_since ?? null, disabledReason: null }
      },
    }
  }

  function toFanned(window: EventWindow): FannedWindow {
    const known = ownedFeeds.find(window.organizationId)?.queues.values() ?? []
    const endpoints = Array.from(known, ({ endpoint }) => endpoint)
    return { ...window, deliveries: fanOut(window.events, endpoints) }
  }

  function applyRecorded(attempts: readonly EndedAttempt[], { due, health, lost }: Recorded): void {
    for (const organizationId of lost) {
      ownedFeeds.drop(organizationId)
      // The new owner does not know what these attempts made due.
      ctx.notifications.send({ topic: 'webhooks', organizationId })
    }
    for (const one of attempts) {
      senders.get(one)?.recorded(one)
      const feed = ownedFeeds.find(one.result.organization_id)
      const queue = feed?.queues.get(one.webhookId)
      if (!feed || !queue) continue
      const { failingSince, disabledReason } = health.get(one.webhookId) ?? {}
      if (failingSince !== undefined) queue.endpoint = { ...queue.endpoint, failing_since: failingSince }
      if (!disabledReason) continue
      const { organizationId } = feed
      ctx.log.warn({ organizationId, webhookId: one.webhookId, reason: disabledReason }, 'a webhook is disabled')
      refresh(feed)
      feed.queues.delete(one.webhookId)
      queue.close()
    }
    for (const delivery of due) {
      ownedFeeds.find(delivery.organization_id)?.queues.get(delivery.webhook_id)?.enqueue([delivery])
    }
  }

  /** Reads the due deliveries of the queues that are awake, and sends. */
  async function sendDue(): Promise<void> {
    const now = ctx.clock()
    const awake = timers.takeAwake(now)
    let room = MAX_DUE
    const asked = awake.flatMap((queue) => {
      if (room <= 0) {
        timers.wake(queue)
        return []
      }
      const query = queue.nextQuery(now, room)
      room -= query?.room ?? 0
      return query ? [{ queue, query }] : []
    })
    if (asked.length > 0) {
      const queries = asked.map(({ query }) => query)
      const results = await readDueDeliveries(ctx.database, queries, now)
      for (const { queue, query } of asked) {
        const result = results.get(query.webhook_id)
        if (result) queue.accept(query, result)
      }
    }
    for (const queue of awake) {
      queue.pump()
      const wakeAt = queue.wakesAt(now)
      if (wakeAt) timers.sleep(queue, wakeAt)
    }
  }

  function pauseMs(): number {
    const wakeAt = timers.soonest()
    const untilQueue = wakeAt ? wakeAt.getTime() - ctx.clock().getTime() : RECONCILE_MS
    const untilPostponed = ownedFeeds.hasPostponed() ? POSTPONED_MS : RECONCILE_MS
    return Math.max(1, Math.min(reconcileAt - performance.now(), untilQueue, untilPostponed))
  }

  return {
    start: () => {
      stopListening = ctx.notifications.listen(onNotification)
      loop = startLoop({
        round,
        pauseMs,
        onFailure: (error) => ctx.log.warn({ err: error }, 'a round of webhook deliveries failed; trying again'),
      })
    },
    stop: async () => {
      stopListening()
      await loop?.stop()
      for (const feed of ownedFeeds.feeds()) for (const queue of feed.queues.values()) queue.close()
      await Promise.race([Promise.all(sending), sleep(GRACE_MS, hangUp.signal)])
      hangUp.abort()
      await Promise.all(sending)
      try {
        for (let tries = 0; ended.length > 0 && tries < LAST_TRIES; tries++) {
          if (!(await write([]))) await sleep(POSTPONED_MS)
        }
        await ownedFeeds.releaseAll()
      } catch (error) {
        ctx.log.warn({ err: error }, 'the last webhook attempts could not be recorded; they will be repeated')
      }
    },
    drain: async () => {
      do {
        reconcileAt = 0
        for (const feed of ownedFeeds.feeds()) reload(feed)
      } while (await drainRounds())
    },
    figures: () => ({ delivered, failed, inFlight: sending.size, organizations: ownedFeeds.feeds().length }),
  }

  /** Runs rounds until nothing is left to do; returns true if anything was written. */
  async function drainRounds(): Promise<boolean> {
    const before = written
    for (;;) {
      if ((await round()) || ended.length > 0 || ownedFeeds.hasPostponed()) continue
      if (sending.size === 0) return written > before
      await Promise.race(sending)
    }
  }
}
