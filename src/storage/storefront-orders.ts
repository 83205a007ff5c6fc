import type { Queryable } from '../database/pool.js'
import { statement } from '../database/statement.js'
import type { StorefrontOrder } from '../model/storefront-order.js'
import { foldUtm } from '../model/utm.js'
import { taskId } from './job-tasks.js'

// A shop learns of the visit later than of the order, and not every answer of it tells what it knows.
const keepVisit = (column: string) =>
  `${column} = CASE WHEN coalesce(excluded.utm_source, excluded.utm_campaign) IS NULL THEN o.${column} ELSE excluded.${column} END`

// In the order of the ids, so that two who write the same orders do not wait for each other in a circle.
const put = statement<never>(
  'storefrontOrders.put',
  `WITH noted AS (
     INSERT INTO storefront_webhooks (organization_id, id) SELECT $1, $3 WHERE $3::text IS NOT NULL
     ON CONFLICT DO NOTHING
     RETURNING id
   ), given AS (
     SELECT DISTINCT ON (id) *
     FROM jsonb_to_recordset($2) AS given (
       id text, name text, total_price numeric, currency text, ordered_at timestamptz, financial_status text, utm_source text,
       utm_campaign text, campaign text, is_test boolean, cancelled_at timestamptz, updated_at timestamptz
     )
     WHERE $3::text IS NULL OR EXISTS (SELECT FROM noted)
     ORDER BY id, updated_at DESC
   )
   INSERT INTO storefront_orders AS o (organization_id, id, name, total_price, currency, ordered_at, financial_status, utm_source,
     utm_campaign, campaign, is_test, cancelled_at, updated_at)
   SELECT $1, id, name, total_price, currency, ordered_at, financial_status, utm_source, utm_campaign, campaign, is_test,
     cancelled_at, updated_at
   FROM given
   ORDER BY id
   ON CONFLICT (organization_id, id) DO UPDATE SET
     name = excluded.name, total_price = excluded.total_price, currency = excluded.currency, ordered_at = excluded.ordered_at,
     financial_status = excluded.financial_status, is_test = excluded.is_test, cancelled_at = excluded.cancelled_at,
     updated_at = excluded.updated_at,
     ${keepVisit('utm_source')}, ${keepVisit('utm_campaign')}, ${keepVisit('campaign')}
   WHERE o.updated_at <= excluded.updated_at`,
)

// What the shop said of the order before may come later, and brings it back no more.
const cancel = statement<never>(
  'storefrontOrders.cancel',
  `UPDATE storefront_orders SET cancelled_at = coalesce(cancelled_at, $3), updated_at = greatest(updated_at, $3)
   WHERE organization_id = $1 AND id = $2`,
)

const prune = statement<never>(
  'storefrontOrders.pruneWebhooks',
  `DELETE FROM storefront_webhooks w USING organizations o WHERE w.organization_id = o.id AND w.received_at < $1`,
)

const findSync = statement<OrderSync>(
  'storefrontOrders.findSync',
  'SELECT url, access_token, orders_synced_until AS until FROM storefront_settings WHERE organization_id = $1',
)

const noteProgress = statement<{ noted: boolean }>(
  'storefrontOrders.noteProgress',
  `UPDATE storefront_settings SET orders_synced_until = $3 WHERE organization_id = $1 AND url = $2 RETURNING true AS noted`,
)

const noteEnd = statement<never>(
  'storefrontOrders.noteEnd',
  'UPDATE storefront_settings SET orders_synced_at = $3 WHERE organization_id = $1 AND url = $2',
)

const enqueueSync = statement<never>(
  'storefrontOrders.enqueueSync',
  `INSERT INTO graphile_worker._private_jobs (task_id, payload)
   SELECT ${taskId('sync_orders')}, json_build_object('organizationId', organization_id)
   FROM storefront_settings WHERE organization_id = $1`,
)

const enqueueAllSyncs = statement<never>(
  'storefrontOrders.enqueueAllSyncs',
  `INSERT INTO graphile_worker._private_jobs AS job (task_id, key, payload)
   SELECT ${taskId('sync_orders')}, 'sync_orders:' || organization_id, json_build_object('organizationId', organization_id)
   FROM storefront_settings
   ON CONFLICT (key) DO UPDATE SET attempts = 0, run_at = now() WHERE job.attempts >= job.max_attempts`,
)

// An order stands under one campaign only, so that none is summed twice.
const FITTING = `organization_id = $1 AND campaign = ANY ($2) AND utm_source = ANY ($3) AND NOT is_test AND cancelled_at IS NULL`

const sum = statement<OrderSum>(
  'storefrontOrders.sum',
  `SELECT currency, campaign, count(*) AS "orderCount", round(sum(total_price), 2)::float8 AS revenue,
     round(sum(total_price) / count(*), 2)::float8 AS "avgOrderValue"
   FROM storefront_orders
   WHERE ${FITTING}
   GROUP BY GROUPING SETS ((currency), (currency, campaign))
   ORDER BY currency, campaign`,
)

const listNewest = statement<FittingOrder>(
  'storefrontOrders.listNewest',
  `SELECT name, round(total_price, 2)::float8 AS total_price, currency, ordered_at, financial_status, utm_campaign
   FROM storefront_orders
   WHERE ${FITTING}
   ORDER BY ordered_at DESC, id DESC
   LIMIT $4`,
)

/**
 * Records what a storefront says of orders; what it said later already stands. `webhookId`: who told; what came by it before
 * is not recorded again.
 */
export async function putStorefrontOrders(
  db: Queryable,
  organizationId: string,
  orders: readonly StorefrontOrder[],
  webhookId: string | null,
): Promise<void> {
  const rows = orders.map((order) => ({ ...order, campaign: order.utm_campaign && foldUtm(order.utm_campaign) }))
  await db.run(put, [organizationId, JSON.stringify(rows), webhookId])
}

/** Notes that an order is no more since `at`; nothing where it is not known. */
export async function cancelStorefrontOrder(
  db: Queryable,
  organizationId: string,
  id: string,
  at: Date,
): Promise<void> {
  await db.run(cancel, [organizationId, id, at])
}

/** Forgets webhooks received before `before`. Of all tenants. */
export async function pruneStorefrontWebhooks(db: Queryable, before: Date): Promise<void> {
  await db.run(prune, [before])
}

/** A storefront and up to which change its orders are known; the token is sealed. */
export interface OrderSync {
  url: string
  access_token: Buffer
  until: Date | null
}

/** How far the orders of an organization's storefront are known; null where it has none. */
export async function findOrderSync(db: Queryable, organizationId: string): Promise<OrderSync | null> {
  const rows = await db.run(findSync, [organizationId])
  return rows[0] ?? null
}

/** Notes up to which change the orders are known; false when the organization has another storefront by now. */
export async function noteOrdersSynced(
  db: Queryable,
  organizationId: string,
  url: string,
  until: Date,
): Promise<boolean> {
  const rows = await db.run(noteProgress, [organizationId, url, until])
  return rows.length > 0
}

/** Notes when all orders were known. */
export async function noteOrderSyncEnd(db: Queryable, organizationId: string, url: string, at: Date): Promise<void> {
  await db.run(noteEnd, [organizationId, url, at])
}

/** Leaves a job that asks the organization's storefront for orders, where there is one. */
export async function enqueueOrderSync(db: Queryable, organizationId: string): Promise<void> {
  await db.run(enqueueSync, [organizationId])
}

/** The same for every storefront, but for those that a job is still to ask. */
export async function enqueueAllOrderSyncs(db: Queryable): Promise<void> {
  await db.run(enqueueAllSyncs, [])
}

/** Which orders: `campaigns` and `sources` folded. */
export interface OrderFilter {
  campaigns: readonly string[]
  sources: readonly string[]
}

/** Orders of a currency added up: those of one campaign, and with null as campaign those of all. */
export interface OrderSum {
  currency: string
  /** Folded. */
  campaign: string | null
  orderCount: number
  /** Two decimals, as is the average, which is rounded half up. */
  revenue: number
  avgOrderValue: number
}

/** Adds up the orders that fit, but for tests and cancelled ones. */
export function sumStorefrontOrders(
  db: Queryable,
  organizationId: string,
  { campaigns, sources }: OrderFilter,
): Promise<OrderSum[]> {
  return db.run(sum, [organizationId, campaigns, sources])
}

/** An order as it is listed; its price with two decimals. */
export type FittingOrder = Pick<
  StorefrontOrder,
  'name' | 'currency' | 'ordered_at' | 'financial_status' | 'utm_campaign'
> & { total_price: number }

/** The newest `limit` of the orders that fit, newest first. */
export function listStorefrontOrders(
  db: Queryable,
  organizationId: string,
  { campaigns, sources }: OrderFilter,
  limit: number,
): Promise<FittingOrder[]> {
  return db.run(listNewest, [organizationId, campaigns, sources, limit])
}
