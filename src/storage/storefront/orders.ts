import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { StorefrontOrder } from '../../model/broadcasts/storefront-order.js'
import { campaignBases, normalizeUtm } from '../../model/broadcasts/utm.js'
import { ONLY_ONE } from '../../model/jobs.js'
import { enqueueJobs } from '../jobs/enqueue.js'

// A shop learns of the visit after the order, and not every report includes it.
const preferNewVisit = (column: string) =>
  `${column} = CASE WHEN coalesce(excluded.utm_source, excluded.utm_campaign) IS NULL THEN o.${column} ELSE excluded.${column} END`

// A click that was found is kept, because visits are pruned, and not every report names the buyer.
const preferOldClick = (column: string) =>
  `${column} = CASE WHEN excluded.clicked_broadcast_id IS NULL THEN o.${column} ELSE excluded.${column} END`

/** The end of what counts as before the order `o`: shops report whole seconds. */
export const ORDERED_UNTIL = `o.ordered_at + CASE WHEN o.ordered_at = date_trunc('second', o.ordered_at)
    THEN interval '999999 microseconds' ELSE interval '0' END`

// If a link was given to several recipients, its visitor is unknown.
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

// Buyers are locked first, in the order of their ids, so that two transactions with the same orders cannot deadlock.
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
     contact_id = coalesce(excluded.contact_id, o.contact_id), ${preferOldClick('clicked_broadcast_id')}, ${preferOldClick('clicked_at')},
     ${preferNewVisit('utm_source')}, ${preferNewVisit('utm_campaign')}, ${preferNewVisit('campaign')}
   WHERE o.updated_at <= excluded.updated_at`,
)

// Late data from before the cancellation must not revive the order.
const cancel = statement<never>(
  'storefrontOrders.cancel',
  `UPDATE storefront_orders SET cancelled_at = coalesce(cancelled_at, $3), updated_at = greatest(updated_at, $3)
   WHERE organization_id = $1 AND id = $2`,
)

const prune = sharedStatement<{ count: number }>(
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

const updateProgress = statement<{ noted: boolean }>(
  'storefrontOrders.noteProgress',
  `UPDATE storefront_settings SET orders_synced_until = $3 WHERE organization_id = $1 AND url = $2 RETURNING true AS noted`,
)

const updateEnd = statement<never>(
  'storefrontOrders.noteEnd',
  'UPDATE storefront_settings SET orders_synced_at = $3 WHERE organization_id = $1 AND url = $2',
)

const enqueueSync = statement<never>(
  'storefrontOrders.enqueueSync',
  enqueueJobs({
    task: 'sync_orders',
    organizationId: 'organization_id',
    key: `'${ONLY_ONE}'`,
    from: 'storefront_settings WHERE organization_id = $1',
  }),
  { enqueues: 'now' },
)

const enqueueAllSyncs = sharedStatement<never>(
  'storefrontOrders.enqueueAllSyncs',
  enqueueJobs({
    task: 'sync_orders',
    organizationId: 'organization_id',
    key: `'${ONLY_ONE}'`,
    from: 'storefront_settings',
  }),
  { enqueues: 'now' },
)

/**
 * The orders of the organization $1 that count, with the normalized campaigns $2 and sources $3. An order has one
 * campaign, so none is summed twice.
 */
export const MATCHING_ORDERS = `organization_id = $1 AND campaign = ANY ($2) AND utm_source = ANY ($3) AND NOT is_test AND cancelled_at IS NULL`

const sum = statement<OrderSum>(
  'storefrontOrders.sum',
  `SELECT currency, campaign, sum(orders)::bigint AS "orderCount", round(sum(total), 2)::float8 AS revenue,
     round(sum(total) / sum(orders), 2)::float8 AS "avgOrderValue"
   FROM (
     SELECT currency, campaign, count(*) AS orders, sum(total_price) AS total
     FROM storefront_orders
     WHERE ${MATCHING_ORDERS}
     GROUP BY currency, campaign
   ) o
   GROUP BY GROUPING SETS ((currency), (currency, campaign))
   ORDER BY currency, campaign`,
)

/**
 * Records orders of a storefront; newer data that is stored already is kept. `webhookId`: the webhook that reported
 * them; a repeated webhook changes nothing.
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

/** Records that an order was deleted at `at`; unknown orders are ignored. */
export async function cancelStorefrontOrder(
  db: Queryable,
  organizationId: string,
  id: string,
  at: Date,
): Promise<void> {
  await db.run(cancel, [organizationId, id, at])
}

/** Deletes at most `limit` webhooks received before `before`; resolves to how many. Of all tenants. */
export async function pruneStorefrontWebhooks(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
}

/** A storefront and how far its orders are known; the token is encrypted. */
export interface OrderSync {
  url: string
  access_token: Buffer
  until: Date | null
}

/** How far the orders of an organization's storefront are known; null if it has none. */
export async function findOrderSync(db: Queryable, organizationId: string): Promise<OrderSync | null> {
  const rows = await db.run(findSync, [organizationId])
  return rows[0] ?? null
}

/** Records how far the orders are known; false if the organization has another storefront by now. */
export async function recordOrderProgress(
  db: Queryable,
  organizationId: string,
  url: string,
  until: Date,
): Promise<boolean> {
  const rows = await db.run(updateProgress, [organizationId, url, until])
  return rows.length > 0
}

/** Records when all orders were known. */
export async function recordOrderSyncEnd(db: Queryable, organizationId: string, url: string, at: Date): Promise<void> {
  await db.run(updateEnd, [organizationId, url, at])
}

/** Enqueues a sync of the organization's storefront, if there is one. */
export async function enqueueOrderSync(db: Queryable, organizationId: string): Promise<void> {
  await db.run(enqueueSync, [organizationId])
}

/** Enqueues a sync for every storefront that has no waiting one. */
export async function enqueueAllOrderSyncs(db: Queryable): Promise<void> {
  await db.run(enqueueAllSyncs, [])
}

/** Which orders; `campaigns` and `sources` are normalized. */
export interface OrderFilter {
  campaigns: readonly string[]
  sources: readonly string[]
}

/** The sum of the orders of a currency: of one campaign, or of all (null). */
export interface OrderSum {
  currency: string
  /** Normalized. */
  campaign: string | null
  orderCount: number
  /** With two decimals, like the average, which is rounded half up. */
  revenue: number
  avgOrderValue: number
}

/** Sums the matching orders, without tests and cancelled ones. */
export function sumStorefrontOrders(
  db: Queryable,
  organizationId: string,
  { campaigns, sources }: OrderFilter,
): Promise<OrderSum[]> {
  return db.run(sum, [organizationId, campaigns, sources])
}
