import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import type { ClaimedDelivery, Lane } from '../../storage/webhooks/deliveries.js'
import { type EndpointRow, listEndpoints } from '../../storage/webhooks/health.js'
import { type AttemptContext, createAttempter, type EndedAttempt } from './attempt.js'
import { createEventReader, fanOut, type NewEvents } from './fan-out.js'
import { Places } from './places.js'
import { type Became, type FannedEvents, type Round, recordRound } from './record.js'
import { Work } from './work.js'

/** Delivers events to webhooks. */
export interface Dispatcher {
  start(): void
  /** Lets deliveries in flight end for a while, and aborts the rest; other processes repeat these. */
  stop(): Promise<void>
  /** For tests, instead of start: delivers everything that is due and returns. */
  drain(): Promise<void>
  figures(): WebhookFigures
}

/** Counts since the start of the process: attempts that delivered and that failed; and attempts in flight. */
export interface WebhookFigures {
  delivered: number
  failed: number
  inFlight: number
}

export type DispatcherContext = AttemptContext & Pick<Context, 'database' | 'processId' | 'notifications'>

/** Limits of one round, so that it is short and its rows fit one statement. */
const MAX_WEBHOOKS = 400
const MAX_EVENTS = 1_000
const MAX_DELIVERIES = 4_000
const GRACE_MS = 5_000
/** Delay before locked organizations are tried again. */
const LOCKED_MS = 10
/** Attempts to record the last results at shutdown, if another process has the organization locked. */
const LAST_TRIES = 100

/**
 * Creates the dispatcher of a process. It works in rounds. A round reads new events, and in one transaction writes
 * their deliveries, records finished attempts, and claims what is due and finds a place. Claimed deliveries are
 * attempted at once, while further rounds run. Every state is in the database before anything follows from it, so
 * memory may be lost at any moment.
 */
export function createDispatcher(ctx: DispatcherContext): Dispatcher {
  const attempt = createAttempter(ctx)
  const events = createEventReader()
  const work = new Work()
  const places = new Places()
  /** The deliveries that this process has claimed, by webhook: in flight, or not recorded yet. */
  const held = new Map<string, Set<string>>()
  const sending = new Set<Promise<void>>()
  const hangUp = new AbortController()
  let ended: EndedAttempt[] = []
  /** Organizations that another transaction had locked in the last round. */
  let locked: ReadonlySet<string> = new Set()
  let delivered = 0
  let failed = 0
  /** Rounds that wrote something. */
  let written = 0
  /** The next place of an ended attempt belongs to other deliveries than the next one of its contact. */
  let isTheirs = false
  let isStopping = false
  let loop: Loop | null = null
  let stopListening = () => {}

  /** Returns true if there is more to do at once. A failed round is repeated. */
  async function round(): Promise<boolean> {
    try {
      await work.look(ctx.database, ctx.clock())
      const found = await readNewEvents()
      const attempts = [...ended]
      const endpoints = await readEndpoints(found, attempts)
      await write(plan(found, attempts, endpoints), endpoints)
      return work.hasFresh() && locked.size === 0
    } catch (error) {
      work.lookSoon()
      throw error
    }
  }

  async function readNewEvents(): Promise<NewEvents[]> {
    const { organizationIds, webhooks } = work.takeFresh(MAX_WEBHOOKS)
    const limit = Math.min(MAX_EVENTS, Math.ceil(MAX_DELIVERIES / Math.max(1, webhooks)))
    const found = await events.read(ctx.database, organizationIds, limit)
    for (const { organizationId, hasMore } of found) if (hasMore) work.addFresh(organizationId)
    return found.filter((one) => one.events.length > 0 || !events.skip(one))
  }

  /** The active webhooks that the round may be about. Read after the events, to include those set before an event. */
  async function readEndpoints(
    found: readonly NewEvents[],
    attempts: readonly EndedAttempt[],
  ): Promise<Map<string, EndpointRow>> {
    const asked = hungry()
    const ids = new Set([
      ...found.map(({ organizationId }) => organizationId),
      ...attempts.map(({ result }) => result.organization_id),
      ...asked.map(([, organizationId]) => organizationId),
    ])
    if (ids.size === 0) return new Map()
    const rows = await listEndpoints(ctx.database, [...ids])
    const endpoints = new Map(rows.map((endpoint) => [endpoint.id, endpoint]))
    for (const [id] of asked) if (!endpoints.has(id)) work.removeHungry(id)
    return endpoints
  }

  /** Webhooks whose due deliveries may be claimed now. What a locked organization had in flight must be recorded first. */
  function hungry(): [webhookId: string, organizationId: string][] {
    const now = ctx.clock()
    return work.hungry().filter(([id, organizationId]) => !locked.has(organizationId) && !places.isPaused(id, now))
  }

  /** Decides which deliveries may be claimed: none are claimed that would have to wait for a place. */
  function plan(
    found: readonly NewEvents[],
    attempts: readonly EndedAttempt[],
    endpoints: ReadonlyMap<string, EndpointRow>,
  ): Round {
    const now = ctx.clock()
    const planned = places.copy()
    const takes = (endpoint: EndpointRow | undefined): boolean => {
      if (!endpoint || isStopping || !planned.hasRoom(endpoint, now)) return false
      planned.take(endpoint)
      return true
    }
    // Where others are due, they come first; of the places of ended attempts, they get every second one.
    const takesNext = (id: string): boolean => {
      isTheirs = !isTheirs && work.isHungry(id)
      return !isTheirs && takes(endpoints.get(id))
    }
    const fanned = found.map((one): FannedEvents => {
      const own = [...endpoints.values()].filter(({ organization_id }) => organization_id === one.organizationId)
      const deliveries = fanOut(one.events, own).map(([delivery, event]) => {
        return {
          delivery,
          event,
          claim: !work.isHungry(delivery.webhook_id) && takes(endpoints.get(delivery.webhook_id)),
        }
      })
      return { ...one, deliveries }
    })
    return {
      ended: attempts.map((attempt) => ({ attempt, claim: takesNext(attempt.webhookId) })),
      fanned: fanned.filter((one) => one.deliveries.length > 0 || !events.skip(one)),
      planLanes: (became) => planLanes(endpoints, became),
      isFailing: (id) => endpoints.get(id)?.failing_since != null,
    }
  }

  /** What to claim on the places that are left: one for each webhook in turn, until there are none. */
  function planLanes(endpoints: ReadonlyMap<string, EndpointRow>, { claimed, unclaimed }: Became): Lane[] {
    const now = ctx.clock()
    const planned = places.copy()
    for (const endpoint of claimed.flatMap(({ webhook_id }) => endpoints.get(webhook_id) ?? [])) planned.take(endpoint)
    for (const { webhook_id, organization_id } of unclaimed) work.addHungry(webhook_id, organization_id)
    const lanes = new Map<string, Lane>()
    const knownOf = (id: string) => [
      ...(held.get(id) ?? []),
      ...claimed.flatMap((delivery) => (delivery.webhook_id === id ? [delivery.id] : [])),
    ]
    let open = isStopping ? [] : hungry().flatMap(([id]) => endpoints.get(id) ?? [])
    while (open.length > 0) {
      open = open.filter((endpoint) => {
        if (!planned.hasRoom(endpoint, now)) return false
        const { organization_id, id } = endpoint
        const lane = lanes.get(id) ?? { organization_id, webhook_id: id, room: 0, known: knownOf(id) }
        planned.take(endpoint)
        lane.room += 1
        lanes.set(id, lane)
        return true
      })
    }
    return [...lanes.values()]
  }

  async function write(round: Round, endpoints: ReadonlyMap<string, EndpointRow>): Promise<void> {
    locked = new Set()
    if (
      round.ended.length === 0 &&
      round.fanned.length === 0 &&
      round.planLanes({ claimed: [], unclaimed: [] }).length === 0
    )
      return
    const recorded = await recordRound(ctx, round)
    const { outdated, disabled } = recorded
    locked = recorded.locked
    const done = new Set(
      round.ended.flatMap(({ attempt }) => (locked.has(attempt.result.organization_id) ? [] : [attempt])),
    )
    ended = ended.filter((one) => !done.has(one))
    for (const { webhookId, result } of done) release(webhookId, result.id)
    for (const id of [...locked, ...outdated]) work.addFresh(id)
    for (const { organization_id, id, reason } of disabled) {
      ctx.log.warn({ organizationId: organization_id, webhookId: id, reason }, 'a webhook is disabled')
      work.addChanged(organization_id)
    }
    for (const { webhook_id, organization_id } of recorded.lanes) work.addHungry(webhook_id, organization_id)
    for (const id of recorded.emptied) work.removeHungry(id)
    for (const delivery of recorded.claimed) {
      const endpoint = endpoints.get(delivery.webhook_id)
      if (endpoint) start(endpoint, delivery)
    }
    const hasInserted = round.fanned.some(({ organizationId: id }) => !locked.has(id) && !outdated.has(id))
    if (done.size > 0 || hasInserted || recorded.claimed.length > 0) written += 1
  }

  function start(endpoint: EndpointRow, delivery: ClaimedDelivery): void {
    const ofWebhook = held.get(endpoint.id) ?? new Set()
    held.set(endpoint.id, ofWebhook.add(delivery.id))
    places.take(endpoint)
    const sent = attempt(endpoint, delivery, hangUp.signal).then((one) => {
      sending.delete(sent)
      places.give(endpoint, one)
      if (one === null) return release(endpoint.id, delivery.id)
      ended.push(one)
      if (one.result.status === 'delivered') delivered += 1
      else failed += 1
      loop?.wake()
    })
    sending.add(sent)
  }

  function release(webhookId: string, deliveryId: string): void {
    const ofWebhook = held.get(webhookId)
    ofWebhook?.delete(deliveryId)
    if (ofWebhook?.size === 0) held.delete(webhookId)
  }

  /** Runs rounds until nothing is left to do. */
  async function drainRounds(): Promise<void> {
    for (;;) {
      const hasMore = await round()
      if (locked.size > 0) await sleep(LOCKED_MS)
      else if (hasMore || ended.length > 0) continue
      else if (sending.size > 0) await Promise.race(sending)
      else return
    }
  }

  return {
    start: () => {
      stopListening = ctx.notifications.listen((notification) => {
        if (work.hear(notification)) loop?.wake()
      })
      loop = startLoop({
        round,
        pauseMs: () => (locked.size > 0 ? LOCKED_MS : work.pauseMs()),
        onFailure: (error) => ctx.log.warn({ err: error }, 'a round of webhook deliveries failed; trying again'),
      })
    },
    stop: async () => {
      stopListening()
      isStopping = true
      await loop?.stop()
      await Promise.race([Promise.all(sending), sleep(GRACE_MS, hangUp.signal)])
      hangUp.abort()
      await Promise.all(sending)
      try {
        for (let tries = 0; ended.length > 0 && tries < LAST_TRIES; tries++) {
          if (tries > 0) await sleep(LOCKED_MS)
          await write(plan([], ended, new Map()), new Map())
        }
      } catch (error) {
        ctx.log.warn({ err: error }, 'the last webhook attempts could not be recorded; they will be repeated')
      }
    },
    drain: async () => {
      for (let before = -1; before < written; ) {
        before = written
        work.lookSoon()
        await drainRounds()
      }
    },
    figures: () => ({ delivered, failed, inFlight: sending.size }),
  }
}
