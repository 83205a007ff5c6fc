import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import {
  enqueueAllOrderSyncs,
  enqueueOrderSync,
  findOrderSync,
  noteOrderSyncEnd,
  noteOrdersSynced,
  type OrderSync,
} from '../../storage/storefront/orders.js'
import type { Failure, ListOrdersOutcome, OrderCursor, OrderPage, Shop } from '../../storefront/client.js'
import { recordOrders } from './record.js'
import { openShop } from './shop.js'

/** What asking storefronts for orders needs: the command line does it too. */
export type SyncContext = Pick<Context, 'database' | 'clock' | 'log' | 'secrets' | 'storefront'>

/**
 * How a sync ended. `done`: all orders are known; `more`: so many that it is to be called again; `not_connected`: there is no
 * storefront, or another one by now. `orders`: how many were recorded.
 */
export type SyncOutcome = { orders: number } & ({ outcome: 'done' | 'more' | 'not_connected' } | Failure)

const DAY_MS = 86_400_000
/** Older orders are shown to nobody without a permission of its own. */
const FIRST_REACH_MS = 60 * DAY_MS
/** What a shop says of the visit that led to an order comes later than the order, without a change to it. */
const OVERLAP_MS = 2 * 3_600_000
/** Then a further run goes on: no job may take as long as the queue gives it, which is four hours. */
const MAX_RUN_MS = 30 * 60_000
/** A list that is longer is begun anew where it stands: GraphQL shows no more than 25,000 orders of one. */
const MAX_PAGES = 200
const TOO_SLOW = 'half an hour did not do for the list of orders, and another run would begin where this one did'
const MAX_WAIT_MS = 60_000
/** How often in a row a shop may ask to wait. */
const MAX_WAITS = 5

/**
 * Records what has changed in the orders of an organization's storefront since the last time; at first those of 60 days. How far
 * it came is noted with every page, so that whoever goes on after a crash begins there.
 */
export async function syncOrders(ctx: SyncContext, organizationId: string, signal?: AbortSignal): Promise<SyncOutcome> {
  const sync = await findOrderSync(ctx.database, organizationId)
  if (sync === null) return { outcome: 'not_connected', orders: 0 }
  const outcome = await readOrders(ctx, organizationId, sync, signal)
  if (outcome.outcome === 'done') await noteOrderSyncEnd(ctx.database, organizationId, sync.url, ctx.clock())
  return outcome
}

/** The same as a job: a storefront that cannot be asked is asked again within the hour. */
export async function syncOrdersAsJob(ctx: SyncContext, organizationId: string, signal?: AbortSignal): Promise<void> {
  const { outcome, orders, ...failure } = await syncOrders(ctx, organizationId, signal)
  if (outcome === 'more') await enqueueOrderSync(ctx.database, organizationId)
  if (outcome === 'done' || outcome === 'more' || outcome === 'not_connected') return
  ctx.log.warn({ organizationId, outcome, orders, ...failure }, 'a storefront could not be asked for all of its orders')
}

/** Leaves a job for every storefront that is to be asked for orders. */
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
    const listed = await listPatiently(ctx, shop, since, cursor, signal)
    if (listed.outcome !== 'listed') return { ...listed, orders }
    await record(ctx, organizationId, listed.page)
    orders += listed.page.orders.length
    cursor = listed.page.next

    // Of a list in another order nothing is known before its end.
    isInOrder &&= listed.page.orders.every(
      (order, index, all) => order.updatedAt >= (all[index - 1]?.updatedAt ?? reached),
    )
    reached = latestOf(listed.page, reached)
    const isKnown = (isInOrder || cursor === null) && reached > since
    if (isKnown && !(await noteOrdersSynced(ctx.database, organizationId, sync.url, reached))) {
      return { outcome: 'not_connected', orders }
    }
    if (cursor === null) return { outcome: 'done', orders }
    const hasGotOn = isInOrder && reached > (sync.until ?? since)
    const isTimeUp = ctx.clock().getTime() - begun.getTime() >= MAX_RUN_MS
    if (hasGotOn && (isTimeUp || pages >= MAX_PAGES)) return { outcome: 'more', orders }
    if (isTimeUp) return { outcome: 'unavailable', text: TOO_SLOW, orders }
  }
}

function beginOf({ until }: OrderSync, now: Date): Date {
  return new Date(until === null ? now.getTime() - FIRST_REACH_MS : until.getTime() - OVERLAP_MS)
}

function latestOf({ orders }: OrderPage, reached: Date): Date {
  return orders.reduce((latest, { updatedAt }) => (updatedAt > latest ? updatedAt : latest), reached)
}

/** Waits as the shop asks for, some times and no longer than a minute each. */
async function listPatiently(
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
