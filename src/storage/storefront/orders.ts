import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { StorefrontOrder } from '../../model/broadcasts/storefront-order.js'
import { campaignBases, normalizeUtm } from '../../model/broadcasts/utm.js'
import { taskId } from '../runtime/jobs.js'

// A shop learns of the visit later than of the order, and not every answer of it tells what it knows.
const keepVisit = (column: string) =>
  `${column} = CASE WHEN coalesce(excluded.utm_source, excluded.utm_campaign) IS NULL THEN o.${column} ELSE excluded.${column} END`

// Once a click was found it stands: visits are pruned, and not every report of an order tells who bought.
const keepClick = (column: string) =>
  `${column} = CASE WHEN excluded.clicked_broadcast_id IS NULL THEN o.${column} ELSE excluded.${column} END`

/** Up to when something counts as before the order `o`: shops tell whole seconds. */
export const ORDERED_UNTIL = `o.ordered_at + CASE WHEN o.ordered_at = date_trunc('second', o.ordered_at)
    THEN interval '999999 microseconds' ELSE interval '0' END`

// Of a link that others were given too nobody knows who followed it.
const LAST_CLICK = `SELECT l.broadcast_id, v.visited_at
     FROM broadcast_recipients r
     JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id AND m.status <> 'failed'
     JOIN sent_links l ON l.organization_id = $1 AND l.broadcast_id = r.broadcast_id AND l.n IN (0, r.n)
       AND l.campaign = ANY (given.bases)
     JOIN short_link_visits v ON v.organization_id = $1 AND v.code = l.code
       AND v.visited_at BETWEEN m.accepted_at AND ${ORDERED_UNTIL.replaceAll('o.ordered', 'given.ordered')}
     WHERE r.organization_id = $1 AND r.contact_id = buyers.id AND r.skip_reason IS NULL AND NOT EXISTS (
       SELECT FROM sent_links other
       JOIN broadcast_recipients x ON x.organization_id = $1 AND x.broadcast_id = other.broadcast_id AND other.n IN (0, x.n)
       WHERE other.organization_id = $1 AND other.code = l.code AND x.contact_id IS DISTINCT FROM buyers.id
         AND x.skip_reason IS NULL
     )
     ORDER BY v.visited_at DESC, m.accepted_at DESC, l.broadcast_id DESC
     LIMIT 1`

// The buyers are locked first, as everywhere. In the order of the ids, so that two who write the same orders do not wait for each other in a circle.
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
       utm_campaign text, campaign text, bases text[], contact_id uuid, is_test boolean, cancelled_at timestamptz, updated_at timestamptz
     )
     WHERE $3::text IS NULL OR EXISTS (SELECT FROM noted)
     ORDER BY id, updated_at DESC
   ), buyers AS (
     SELECT id FROM contacts WHERE organization_id = $1 AND id IN (SELECT contact_id FROM given) ORDER BY id FOR KEY SHARE
   )
   INSERT INTO storefront_orders AS o (organization_id, id, name, total_price, currency, ordered_at, financial_status, utm_source,
     utm_campaign, campaign, contact_id, clicked_broadcast_id, clicked_at, is_test, cancelled_at, updated_at)
   SELECT $1, given.id, name, total_price, currency, ordered_at, financial_status, utm_source, utm_campaign, campaign, buyers.id,
     click.broadcast_id, click.visited_at, is_test, cancelled_at, updated_at
   FROM given LEFT JOIN buyers ON buyers.id = given.contact_id
   LEFT JOIN LATERAL (${LAST_CLICK}) click ON true
   ORDER BY given.id
   ON CONFLICT (organization_id, id) DO UPDATE SET
     name = excluded.name, total_price = excluded.total_price, currency = excluded.currency, ordered_at = excluded.ordered_at,
     financial_status = excluded.financial_status, is_test = excluded.is_test, cancelled_at = excluded.cancelled_at,
     updated_at = excluded.updated_at,
     contact_id = coalesce(excluded.contact_id, o.contact_id), ${keepClick('clicked_broadcast_id')}, ${keepClick('clicked_at')},
     ${keepVisit('utm_source')}, ${keepVisit('utm_campaign')}, ${keepVisit('campaign')}
   WHERE o.updated_at <= excluded.updated_at`,
)

// What the shop said of the order before may come later, and brings it back no more.
const cancel = statement<never>(
  'storefrontOrders.cancel',
  `UPDATE storefront_orders SET cancelled_at = coalesce(cancelled_at, $3), updated_at = greatest(updated_at, $3)
   WHERE organization_id = $1 AND id = $2`,
)

const prune = statement<{ count: number }>(
  'storefrontOrders.pruneWebhooks',
  `WITH old AS (
     SELECT w.organization_id, w.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT organization_id, id FROM storefront_webhooks WHERE organization_id = o.id AND received_at < $1 LIMIT $2
     ) w
     LIMIT $2
   ), pruned AS (
     DELETE FROM storefront_webhooks w USING old WHERE w.organization_id = old.organization_id AND w.id = old.id
     RETURNING w.id
   )
   SELECT count(*) FROM pruned`,
)

const findSync = statement<OrderSync>(
  'storefrontOrders.findSync',
  `SELECT url, access_token, orders_synced_until AS until
   FROM storefront_settings s JOIN organizations o ON o.id = s.organization_id
   WHERE s.organization_id = $1`,
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
/** The orders that count for the organization $1, of the folded campaigns $2 and sources $3. */
export const FITTING = `organization_id = $1 AND campaign = ANY ($2) AND utm_source = ANY ($3) AND NOT is_test AND cancelled_at IS NULL`

const sum = statement<OrderSum>(
  'storefrontOrders.sum',
  `SELECT currency, campaign, sum(orders)::bigint AS "orderCount", round(sum(total), 2)::float8 AS revenue,
     round(sum(total) / sum(orders), 2)::float8 AS "avgOrderValue"
   FROM (
     SELECT currency, campaign, count(*) AS orders, sum(total_price) AS total
     FROM storefront_orders
     WHERE ${FITTING}
     GROUP BY currency, campaign
   ) o
   GROUP BY GROUPING SETS ((currency), (currency, campaign))
   ORDER BY currency, campaign`,
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
  const rows = orders.map((order) => {
    const campaign = order.utm_campaign && normalizeUtm(order.utm_campaign)
    return { ...order, campaign, bases: campaign === null ? null : campaignBases(campaign) }
  })
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

/** Forgets at most `limit` webhooks received before `before`; resolves to how many. Of all tenants. */
export async function pruneStorefrontWebhooks(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
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
