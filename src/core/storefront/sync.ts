import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import type { Again } from '../../model/jobs.js'
import {
  enqueueAllOrderSyncs,
  findOrderSync,
  type OrderSync,
  recordOrderProgress,
  recordOrderSyncEnd,
} from '../../storage/storefront/orders.js'
import type { Failure, ListOrdersOutcome, OrderCursor, OrderPage, Shop } from '../../storefront/client.js'
import { recordOrders } from './record.js'
import { openShop } from './shop.js'

/** The command line uses it too. */
export type SyncContext = Pick<Context, 'database' | 'clock' | 'log' | 'secrets' | 'storefront'>

/**
 * The outcome of a sync. `done`: all orders are known; `more`: call it again for the rest; `not_connected`: there is no
 * storefront, or another one by now. `orders`: how many were recorded.
 */
export type SyncOutcome = { orders: number } & ({ outcome: 'done' | 'more' | 'not_connected' } | Failure)

const DAY_MS = 86_400_000
/** Reading older orders needs a separate permission of the shop. */
const FIRST_SYNC_MS = 60 * DAY_MS
/** A shop reports the visit that led to an order after the order, without changing the order's update time. */
const OVERLAP_MS = 2 * 3_600_000
/** After this time another job continues, since the queue gives a job at most four hours. */
const MAX_RUN_MS = 30 * 60_000
/** Longer lists continue with a new query, because GraphQL returns at most 25,000 orders of one list. */
const MAX_PAGES = 200
const RATE_LIMITED = 'the list of orders takes longer than half an hour, and another run would start at the same place'
const MAX_WAIT_MS = 60_000
/** How often in a row a shop may ask to wait. */
const MAX_WAITS = 5

/**
 * Records the orders that changed in an organization's storefront since the last sync; the first sync covers 60 days.
 * Progress is stored with every page, so after a crash a later sync continues there.
 */
export async function syncOrders(ctx: SyncContext, organizationId: string, signal?: AbortSignal): Promise<SyncOutcome> {
  const sync = await findOrderSync(ctx.database, organizationId)
  if (sync === null) return { outcome: 'not_connected', orders: 0 }
  const outcome = await readOrders(ctx, organizationId, sync, signal)
  if (outcome.outcome === 'done') await recordOrderSyncEnd(ctx.database, organizationId, sync.url, ctx.clock())
  return outcome
}

/** Like syncOrders, as a job: a storefront that cannot be reached is tried again within the hour. */
export async function syncOrdersAsJob(
  ctx: SyncContext,
  organizationId: string,
  signal?: AbortSignal,
): Promise<Again | null> {
  const { outcome, orders, ...failure } = await syncOrders(ctx, organizationId, signal)
  if (outcome === 'more') return { againInMs: 0 }
  if (outcome === 'done' || outcome === 'not_connected') return null
  ctx.log.warn(
    { organizationId, outcome, orders, ...failure },
    'the orders of a storefront could not be fetched completely',
  )
  return null
}

/** Enqueues a sync for every storefront that is due. */
export function scheduleOrderSyncs(ctx: Pick<Context, 'database'>): Promise<void> {
  return enqueueAllOrderSyncs(ctx.database)
}

async function readOrders(
  ctx: SyncContext,
  organizationId: string,
  sync: OrderSync,
  signal: AbortSignal | undefined,
): Promise<SyncOutcome> {
  const shop = openShop(ctx, organizationId, sync)
  const begun = ctx.clock()
  const since = beginOf(sync, begun)
  let reached = since
  let isInOrder = true
  let orders = 0
  let cursor: OrderCursor | null = null
  for (let pages = 1; ; pages++) {
    const listed = await listWithWaits(ctx, shop, since, cursor, signal)
    if (listed.outcome !== 'listed') return { ...listed, orders }
    await record(ctx, organizationId, listed.page)
    orders += listed.page.orders.length
    cursor = listed.page.next

    // In a list that is not in order, the position is known only at its end.
    isInOrder &&= listed.page.orders.every(
      (order, index, all) => order.updatedAt >= (all[index - 1]?.updatedAt ?? reached),
    )
    reached = latestOf(listed.page, reached)
    const isKnown = (isInOrder || cursor === null) && reached > since
    if (isKnown && !(await recordOrderProgress(ctx.database, organizationId, sync.url, reached))) {
      return { outcome: 'not_connected', orders }
    }
    if (cursor === null) return { outcome: 'done', orders }
    const hasGotOn = isInOrder && reached > (sync.until ?? since)
    const isTimeUp = ctx.clock().getTime() - begun.getTime() >= MAX_RUN_MS
    if (hasGotOn && (isTimeUp || pages >= MAX_PAGES)) return { outcome: 'more', orders }
    if (isTimeUp) return { outcome: 'unavailable', text: RATE_LIMITED, orders }
  }
}

function beginOf({ until }: OrderSync, now: Date): Date {
  return new Date(until === null ? now.getTime() - FIRST_SYNC_MS : until.getTime() - OVERLAP_MS)
}

function latestOf({ orders }: OrderPage, reached: Date): Date {
  return orders.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), reached)
}

/** Waits as long as the shop asks, up to a minute, and a limited number of times. */
async function listWithWaits(
  ctx: SyncContext,
  shop: Shop,
  since: Date,
  cursor: OrderCursor | null,
  signal: AbortSignal | undefined,
): Promise<ListOrdersOutcome> {
  for (let waits = 0; ; waits++) {
    const listed = await ctx.storefront.listOrders(shop, since, cursor)
    if (listed.outcome !== 'limited' || listed.retryAfterMs > MAX_WAIT_MS || waits === MAX_WAITS) return listed
    await sleep(listed.retryAfterMs, signal)
  }
}

async function record(ctx: SyncContext, organizationId: string, { orders, unreadable }: OrderPage): Promise<void> {
  if (orders.length > 0) await recordOrders(ctx, organizationId, orders, null)
  if (unreadable > 0) ctx.log.warn({ organizationId, unreadable }, 'orders of a storefront could not be read')
}
