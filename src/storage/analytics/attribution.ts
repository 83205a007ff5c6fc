import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { StorefrontOrder } from '../../model/broadcasts/storefront-order.js'
import { SUFFIX_PATTERN } from '../../model/broadcasts/utm.js'
import { MATCHING_ORDERS, ORDERED_UNTIL, type OrderFilter } from '../storefront/orders.js'

// Broadcasts whose messages all failed are left out. A long broadcast started before the orders that may be attributed
// to it.
const listBroadcasts = statement<BroadcastSending>(
  'attribution.listBroadcasts',
  `SELECT b.id, b.started_at, b.completed_at, b.parameters -> 'buttons' AS buttons, ARRAY (
     SELECT utm_campaign FROM broadcast_utm_campaigns u WHERE u.organization_id = $1 AND u.broadcast_id = b.id
   ) AS utm_campaigns
   FROM broadcasts b
   WHERE b.organization_id = $1 AND b.kind = 'broadcast' AND b.started_at < $3 AND coalesce(b.completed_at, 'infinity') >= $2
     AND (
       SELECT coalesce(sum(CASE counter WHEN 'recorded' THEN value ELSE -value END), 0)
       FROM (
         SELECT counter, value FROM campaign_counts c
         WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('recorded', 'failed')
         UNION ALL
         SELECT counter, change FROM campaign_deltas c
         WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('recorded', 'failed')
       ) c
     ) > 0`,
)

/**
 * $4: the broadcasts that orders of a campaign may be attributed to, with the periods in which the attribution is
 * certain; and the times of its one-off sends.
 */
const SENDINGS = `sendings AS MATERIALIZED (
     SELECT * FROM jsonb_to_recordset($4::jsonb) AS s (campaign text, ids uuid[], starts timestamptz[], bounds timestamptz[],
       plain boolean[], due uuid[])
   ), singles AS MATERIALIZED (
     SELECT min(noted_at) AS first, max(noted_at) + interval '1 day' AS last
     FROM sent_links
     WHERE organization_id = $1 AND campaign_id <> broadcast_id
       AND campaign IN (SELECT unnest($2::text[]) UNION SELECT regexp_replace(unnest($2::text[]), '${SUFFIX_PATTERN}', ''))
   )`

/** $5: for how many days an order is attributed to earlier messages. */
const EARLIEST = `o.until - $5::int * interval '24 hours'`
const BASES = `ARRAY[o.campaign, regexp_replace(o.campaign, '${SUFFIX_PATTERN}', '')]`

// If the message was deleted, the recipient stores when the message was accepted.
const ACCEPTED_AT = `coalesce(m.accepted_at, (r.outcome ->> 'accepted_at')::timestamptz)`
const STATUS = `coalesce(m.status, r.outcome ->> 'status')`

/** SQL: the last message sent to the buyer of the order `o`, by a broadcast of its campaign or by a one-off send. */
const SENT_TO_BUYER = `(
       SELECT r.broadcast_id
       FROM broadcast_recipients r LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
       WHERE r.organization_id = $1 AND r.contact_id = o.contact_id AND r.skip_reason IS NULL AND ${STATUS} <> 'failed'
         AND ${ACCEPTED_AT} BETWEEN ${EARLIEST} AND o.until
         AND (r.broadcast_id = ANY (s.ids) OR r.n = 0 AND EXISTS (
           SELECT FROM sent_links l
           WHERE l.organization_id = $1 AND l.broadcast_id = r.broadcast_id AND l.n = 0 AND l.campaign = ANY (${BASES})
         ))
       ORDER BY ${ACCEPTED_AT} DESC, r.broadcast_id DESC
       LIMIT 1
     )`

/**
 * The broadcast of the order's campaign that started last before the order `o`, unless it reached the buyer only later.
 */
const LAST_BROADCAST = `SELECT k.id, k.at
         FROM unnest(s.ids, s.starts) AS k (id, at)
         WHERE k.at BETWEEN ${EARLIEST} AND o.until AND NOT EXISTS (
           SELECT FROM broadcast_recipients r LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
           WHERE r.organization_id = $1 AND r.contact_id = o.contact_id AND r.broadcast_id = k.id AND ${ACCEPTED_AT} > o.until
         )
         ORDER BY k.at DESC, k.id DESC
         LIMIT 1`

/** The last one-off send of the campaign before the order `o`. */
const LAST_ONE_OFF = `SELECT l.broadcast_id AS id, l.noted_at AS at
         FROM sent_links l
         JOIN broadcast_recipients r ON r.organization_id = $1 AND r.broadcast_id = l.broadcast_id AND r.n = 0
         LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
         WHERE l.organization_id = $1 AND l.campaign = base AND l.campaign_id <> l.broadcast_id
           AND l.noted_at BETWEEN ${EARLIEST} AND o.until AND ${ACCEPTED_AT} <= o.until AND ${STATUS} <> 'failed'
         ORDER BY l.noted_at DESC, l.broadcast_id DESC
         LIMIT 1`

/** The index of the period of its campaign with the order `o`; 0 or NULL: before the first one. */
const SPAN = 'width_bucket(o.until, s.bounds)'
const NO_ONE_OFF = `(o.until < singles.first OR ${EARLIEST} > singles.last OR singles.first IS NULL)`

/**
 * SQL: the id of the broadcast or one-off send that the order `o` is attributed to; NULL if none. The buyer's messages
 * are looked up only if they matter, because that is the expensive part.
 */
const ATTRIBUTED_TO = `coalesce(
     CASE WHEN o.clicked_at >= ${EARLIEST} THEN o.clicked_broadcast_id END,
     CASE WHEN coalesce(s.plain[${SPAN}], true) AND ${NO_ONE_OFF} THEN s.due[${SPAN}] ELSE coalesce(${SENT_TO_BUYER}, (
       SELECT last.id
       FROM (
         (${LAST_BROADCAST})
         UNION ALL
         SELECT single.id, single.at FROM unnest(${BASES}) AS base CROSS JOIN LATERAL (${LAST_ONE_OFF}) single
       ) last
       ORDER BY last.at DESC, last.id DESC
       LIMIT 1
     )) END
   )`

/**
 * Orders, given as SQL, each with the broadcasts of its campaign. OFFSET 0: `until` is computed once, not at each use.
 */
const withSendings = (orders: string) => `(
     SELECT o.*, ${ORDERED_UNTIL} AS until FROM (${orders}) o OFFSET 0
   ) o LEFT JOIN sendings s ON s.campaign = o.campaign CROSS JOIN singles`

// A broadcast that started at $7 cannot have led to earlier orders, and one that ended by $8 only by a click.
const sumOne = statement<AttributedSum>(
  'attribution.sumOne',
  `WITH ${SENDINGS}
   SELECT count(*) AS "orderCount", round(sum(total_price), 2)::float8 AS revenue,
     round(sum(total_price) / count(*), 2)::float8 AS "avgOrderValue"
   FROM ${withSendings(`SELECT * FROM storefront_orders
     WHERE ${MATCHING_ORDERS} AND currency = $9 AND ordered_at >= $7 AND (ordered_at <= $8 OR clicked_broadcast_id = $6)`)}
   WHERE ${ATTRIBUTED_TO} = $6
   HAVING count(*) > 0`,
)

/** How many orders are listed. */
const MAX_ORDERS = 1_000

// The newest of each campaign first, since an index has them in this order.
const listNewest = statement<ListedOrder>(
  'attribution.listNewest',
  `WITH ${SENDINGS}
   SELECT name, round(total_price, 2)::float8 AS total_price, currency, ordered_at, financial_status, utm_campaign,
     coalesce(${ATTRIBUTED_TO} = $6, false) AS attributed
   FROM ${withSendings(`SELECT newest.*
     FROM unnest($2::text[]) AS one (campaign) CROSS JOIN LATERAL (
       SELECT * FROM storefront_orders
       WHERE organization_id = $1 AND campaign = one.campaign AND utm_source = ANY ($3) AND NOT is_test AND cancelled_at IS NULL
       ORDER BY ordered_at DESC, id DESC
       LIMIT $7
     ) newest
     ORDER BY ordered_at DESC, id DESC
     LIMIT $7`)}
   ORDER BY ordered_at DESC, id DESC`,
)

// The campaigns of the days of one-off sends are stored with each send.
const listCampaigns = statement<SentCampaigns>(
  'attribution.listCampaigns',
  `SELECT b.id, b.parameters -> 'buttons' AS buttons, ARRAY (
     SELECT utm_campaign FROM broadcast_utm_campaigns u WHERE u.organization_id = $1 AND u.broadcast_id = b.id
     UNION
     SELECT l.campaign
     FROM broadcast_recipients r JOIN sent_links l ON l.organization_id = $1 AND l.broadcast_id = r.broadcast_id AND l.n = 0
     WHERE b.kind = 'singles' AND r.organization_id = $1 AND r.campaign_id = b.id AND r.n = 0
   ) AS utm_campaigns
   FROM broadcasts b
   WHERE b.organization_id = $1 AND b.id = ANY ($2)`,
)

const PLACES = 'unnest($5::int[], $6::text[]) AS p (place, campaign)'

const sumPlaces = statement<PlaceSum>(
  'attribution.sumPlaces',
  `SELECT p.place, count(*) AS "orderCount", round(sum(o.total_price), 2)::float8 AS revenue,
     round(sum(o.total_price) / count(*), 2)::float8 AS "avgOrderValue"
   FROM (SELECT campaign, total_price FROM storefront_orders WHERE ${MATCHING_ORDERS} AND currency = $4) o
   JOIN ${PLACES} ON p.campaign = o.campaign
   GROUP BY p.place`,
)

// A one-off send counts with those of its template and day. OFFSET 0: an order's attribution is found once, not per
// place.
const sumAttributedPlaces = statement<PlaceSum>(
  'attribution.sumAttributedPlaces',
  `WITH ${SENDINGS}
   SELECT p.place, count(*) AS "orderCount", round(sum(o.total_price), 2)::float8 AS revenue,
     round(sum(o.total_price) / count(*), 2)::float8 AS "avgOrderValue"
   FROM (SELECT total_price, ${ATTRIBUTED_TO} AS due FROM ${withSendings(`SELECT * FROM storefront_orders WHERE ${MATCHING_ORDERS} AND currency = $7 AND ordered_at >= $6`)} OFFSET 0) o
   LEFT JOIN broadcast_recipients r ON r.organization_id = $1 AND r.broadcast_id = o.due AND r.n = 0
   JOIN unnest($8::uuid[], $9::int[]) AS p (id, place) ON p.id = coalesce(r.campaign_id, o.due)
   GROUP BY GROUPING SETS ((p.place), ())
   HAVING count(*) > 0`,
)

/** The sources of the campaigns of a broadcast, or of the one-off sends of a day. */
export interface SentCampaigns {
  id: string
  /** The common button parameters, which may contain a link's code. */
  buttons: Record<string, string> | null
  /** Campaigns of links in the parameters of single recipients. */
  utm_campaigns: string[]
}

/** The sources of the campaigns of these broadcasts and days of one-off sends. */
export function listSentCampaigns(
  db: Queryable,
  organizationId: string,
  ids: readonly string[],
): Promise<SentCampaigns[]> {
  return db.run(listCampaigns, [organizationId, ids])
}

/** The sum of the orders of one place; null: of all. */
export type PlaceSum = AttributedSum & { place: number | null }

/** Sums the orders of a currency by place, which is a list of campaigns: `places` pairs them. */
export function sumOrdersByPlace(
  db: Queryable,
  organizationId: string,
  { campaigns, sources }: OrderFilter,
  { currency, places }: { currency: string; places: readonly { place: number; campaign: string }[] },
): Promise<PlaceSum[]> {
  const columns = [places.map(({ place }) => place), places.map(({ campaign }) => campaign)]
  return db.run(sumPlaces, [organizationId, campaigns, sources, currency, ...columns])
}

/**
 * Sums the orders of a currency since `from` by the place that they are attributed to, a list of broadcasts and days of
 * one-off sends.
 */
export function sumAttributedByPlace(
  db: Queryable,
  organizationId: string,
  attribution: Attribution,
  { from, currency, places }: { from: Date; currency: string; places: readonly { place: number; id: string }[] },
): Promise<PlaceSum[]> {
  const columns = [places.map(({ id }) => id), places.map(({ place }) => place)]
  return db.run(sumAttributedPlaces, [...valuesOf(organizationId, attribution), from, currency, ...columns])
}

/** A broadcast that may have led to orders. */
export interface BroadcastSending extends SentCampaigns {
  started_at: Date
  completed_at: Date | null
}

/** The broadcasts that reached a recipient and were sending during this period. */
export function listBroadcastSendings(
  db: Queryable,
  organizationId: string,
  { from, to }: Span,
): Promise<BroadcastSending[]> {
  return db.run(listBroadcasts, [organizationId, from, to])
}

/** The period from `from` to `to`. */
export interface Span {
  from: Date
  to: Date
}

/** The broadcasts of a campaign, normalized and with its suffix, as in orders. */
export interface Sendings {
  campaign: string
  /** Latest first. */
  ids: string[]
  starts: Date[]
  /** Times in ascending order: a period lies between two of them. */
  bounds: Date[]
  /**
   * For each period: whether every order in it is attributed to `due`, or to nothing (null). Orders before the first
   * period are not attributed.
   */
  plain: boolean[]
  due: (string | null)[]
}

/** The input of an attribution: the orders, what they may be attributed to, and for how many days. */
export interface Attribution extends OrderFilter {
  sendings: readonly Sendings[]
  windowDays: number
}

/** The sum of attributed orders; amounts with two decimals, the average rounded half up. */
export interface AttributedSum {
  orderCount: number
  revenue: number
  avgOrderValue: number
}

/**
 * Sums the orders in a currency attributed to one broadcast or one-off send that was sent in `span`; null: nothing was
 * sent.
 */
export async function sumAttributedOrders(
  db: Queryable,
  organizationId: string,
  attribution: Attribution,
  { broadcastId, span, currency }: { broadcastId: string; span: Span; currency: string },
): Promise<AttributedSum | null> {
  const values = [...valuesOf(organizationId, attribution), broadcastId, span.from, span.to, currency]
  const [sum] = await db.run(sumOne, values)
  return sum ?? null
}

/** A listed order; its price with two decimals. */
export type ListedOrder = Pick<
  StorefrontOrder,
  'name' | 'currency' | 'ordered_at' | 'financial_status' | 'utm_campaign'
> & {
  total_price: number
  /** Whether it is attributed to the requested broadcast. */
  attributed: boolean
}

/**
 * The newest matching orders, `MAX_ORDERS` at most, newest first, and whether they are attributed to the broadcast or
 * one-off send.
 */
export function listAttributedOrders(
  db: Queryable,
  organizationId: string,
  attribution: Attribution,
  broadcastId: string,
): Promise<ListedOrder[]> {
  return db.run(listNewest, [...valuesOf(organizationId, attribution), broadcastId, MAX_ORDERS])
}

function valuesOf(organizationId: string, { campaigns, sources, sendings, windowDays }: Attribution): unknown[] {
  return [organizationId, campaigns, sources, JSON.stringify(sendings), windowDays]
}
