import type { Context } from '../../context.js'
import { sleep } from '../../lib/async/backoff.js'
import { type Again, SLICE_MS } from '../../model/jobs.js'
import {
  enqueueAllOrderSyncs,
  findOrderSync,
  type OrderSync,
  recordOrderProgress,
  recordOrderSyncEnd,
} from '../../storage/storefront/orders.js'
import type { Failure, OrderCursor, OrderPage } from '../../storefront/client.js'
import { openShop } from '../organizations/shop.js'
import { recordOrders } from './record.js'

/** The command line uses it too. */
export type SyncContext = Pick<Context, 'database' | 'clock' | 'log' | 'secrets' | 'storefront'>

/** Where the list of an organization's orders continues, as the state of a job. Times are in ISO 8601. */
export interface OrderList {
  /** The storefront that is listed. */
  url: string
  since: string
  /** Up to when the orders were known when the list began. */
  known: string
  /** The latest change that the list has shown. */
  reached: string
  /** Whether it has shown all orders by the time of their change. */
  isInOrder: boolean
  /** Null: at its first page. */
  cursor: OrderCursor | null
  pages: number
  /** How often in a row the shop has asked to wait. */
  waits: number
}

/**
 * The outcome of a sync. `done`: all orders are known; `not_connected`: there is no storefront, or another one by now.
 * `orders`: how many were recorded.
 */
export type SyncOutcome = { orders: number } & ({ outcome: 'done' | 'not_connected' } | Failure)

/** `more`: there may be more orders; `list` continues in `inMs` milliseconds. Null: a new list. */
type SliceOutcome = SyncOutcome | { outcome: 'more'; orders: number; list: OrderList | null; inMs: number }

const DAY_MS = 86_400_000
/** Reading older orders needs a separate permission of the shop. */
const FIRST_SYNC_MS = 60 * DAY_MS
/** A shop reports the visit that led to an order after the order, without changing the order's update time. */
const OVERLAP_MS = 2 * 3_600_000
/** Longer lists continue with a new query, because GraphQL returns at most 25,000 orders of one list. */
const MAX_PAGES = 200
const MAX_WAIT_MS = 60_000
/** How often in a row a shop may ask to wait. */
const MAX_WAITS = 5

/**
 * Records the orders that changed in an organization's storefront since the last sync; the first sync covers 60 days.
 * Progress is stored with every page, so after a crash a later sync continues there.
 */
export async function syncOrders(ctx: SyncContext, organizationId: string): Promise<SyncOutcome> {
  let list: OrderList | null = null
  for (let orders = 0; ; ) {
    const slice = await syncSlice(ctx, organizationId, list)
    orders += slice.orders
    if (slice.outcome !== 'more') return { ...slice, orders }
    list = slice.list
    await sleep(slice.inMs)
  }
}

/**
 * Like syncOrders, as a job that continues `list` (null: begins) and gives its place back after a while, or while the
 * shop asks to wait. A storefront that cannot be reached is tried again within the hour.
 */
export async function syncOrdersAsJob(
  ctx: SyncContext,
  organizationId: string,
  list: OrderList | null,
): Promise<Again | null> {
  const slice = await syncSlice(ctx, organizationId, list)
  if (slice.outcome === 'more') return { againInMs: slice.inMs, payload: { list: slice.list } }
  const { outcome, orders, ...failure } = slice
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

/** Reads pages for a while. */
async function syncSlice(ctx: SyncContext, organizationId: string, given: OrderList | null): Promise<SliceOutcome> {
  const sync = await findOrderSync(ctx.database, organizationId)
  if (sync === null) return { outcome: 'not_connected', orders: 0 }
  const shop = openShop(ctx, organizationId, sync)
  const begun = ctx.clock()
  let list = given?.url === sync.url ? given : beginList(sync, begun)
  let orders = 0
  do {
    const listed = await ctx.storefront.listOrders(shop, new Date(list.since), list.cursor)
    if (listed.outcome === 'limited' && listed.retryAfterMs <= MAX_WAIT_MS && list.waits < MAX_WAITS)
      return { outcome: 'more', orders, list: { ...list, waits: list.waits + 1 }, inMs: listed.retryAfterMs }
    if (listed.outcome !== 'listed') return { ...listed, orders }
    await record(ctx, organizationId, listed.page)
    orders += listed.page.orders.length
    list = continueList(list, listed.page)
    if (!(await recordProgress(ctx, organizationId, list))) return { outcome: 'not_connected', orders }
    if (list.cursor === null) {
      await recordOrderSyncEnd(ctx.database, organizationId, sync.url, ctx.clock())
      return { outcome: 'done', orders }
    }
    if (list.pages >= MAX_PAGES && list.isInOrder && list.reached > list.known)
      return { outcome: 'more', orders, list: null, inMs: 0 }
  } while (ctx.clock().getTime() - begun.getTime() < SLICE_MS)
  return { outcome: 'more', orders, list, inMs: 0 }
}

function beginList({ url, until }: OrderSync, now: Date): OrderList {
  const since = new Date(until === null ? now.getTime() - FIRST_SYNC_MS : until.getTime() - OVERLAP_MS).toISOString()
  const known = until?.toISOString() ?? since
  return { url, since, known, reached: since, isInOrder: true, cursor: null, pages: 0, waits: 0 }
}

function continueList(list: OrderList, { orders, next }: OrderPage): OrderList {
  const times = orders.map(({ updatedAt }) => updatedAt.toISOString())
  const isInOrder = list.isInOrder && times.every((time, index) => time >= (times[index - 1] ?? list.reached))
  const reached = times.reduce((latest, time) => (time > latest ? time : latest), list.reached)
  return { ...list, reached, isInOrder, cursor: next, pages: list.pages + 1, waits: 0 }
}

/** In a list that is not in order, the position is known only at its end. False: the storefront is another one now. */
async function recordProgress(
  { database }: SyncContext,
  organizationId: string,
  { url, since, reached, isInOrder, cursor }: OrderList,
): Promise<boolean> {
  const isKnown = (isInOrder || cursor === null) && reached > since
  return !isKnown || recordOrderProgress(database, organizationId, url, new Date(reached))
}

async function record(ctx: SyncContext, organizationId: string, { orders, unreadable }: OrderPage): Promise<void> {
  if (orders.length > 0) await recordOrders(ctx, organizationId, orders, null)
  if (unreadable > 0) ctx.log.warn({ organizationId, unreadable }, 'orders of a storefront could not be read')
}
