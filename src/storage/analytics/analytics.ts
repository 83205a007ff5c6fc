import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { DateRange } from '../../model/broadcasts/analytics.js'
import type { Broadcast, BroadcastStatus } from '../../model/broadcasts/broadcast.js'
import { ONE_OFF_CREATED_AT } from '../broadcasts/one-off-sends.js'
import { RECIPIENT_STATUS } from '../broadcasts/recipients.js'
import { countersOf } from '../counts/campaigns.js'

/** A broadcast, or the one-off sends of one template, language and day (`singles`). */
export interface CampaignRow {
  id: string
  kind: 'broadcast' | 'singles'
  name: string
  template_name: string
  status: BroadcastStatus
  created_at: Date
  /** The day on which it counts, YYYY-MM-DD. */
  day: string
}

/** A broadcast or one-off send for its analytics. */
export interface BroadcastRow
  extends Pick<Broadcast, 'id' | 'name' | 'template_name' | 'template' | 'status' | 'created_at' | 'counters'> {
  parameters: { buttons?: Record<string, string> } | null
  clicks: Record<string, number> | null
  utm_campaigns: string[]
  /** Null before it started. */
  started_at: Date | null
  /** Null before it ended. */
  completed_at: Date | null
}

const UTM_CAMPAIGNS = `ARRAY (
  SELECT utm_campaign FROM broadcast_utm_campaigns WHERE organization_id = $1 AND broadcast_id = $2 ORDER BY utm_campaign
)`

// Counts and deltas are read in one statement, because the job may roll up the deltas between two.
const findBroadcast = statement<BroadcastRow>(
  'analytics.findBroadcast',
  `SELECT b.id, b.name, b.template_name, b.template, b.status, b.parameters, b.created_at, b.started_at, b.completed_at,
     ${countersOf('$1', '$2')} AS counters,
     (
       SELECT jsonb_object_agg(text, value)
       FROM (
         SELECT detail AS text, sum(value) AS value
         FROM (
           SELECT detail, value FROM campaign_counts WHERE organization_id = $1 AND campaign_id = $2 AND counter = 'button'
           UNION ALL
           SELECT detail, change FROM campaign_deltas WHERE organization_id = $1 AND campaign_id = $2 AND counter = 'button'
         ) c
         GROUP BY detail
       ) pressed
     ) AS clicks,
     ${UTM_CAMPAIGNS} AS utm_campaigns
   FROM broadcasts b
   WHERE b.organization_id = $1 AND b.id = $2 AND b.kind = 'broadcast'`,
)

/**
 * What the recipient `r` of the broadcast `b` adds to the counters, with the message `m` (all NULL if there is none).
 */
const ADDS = `r.skip_reason IS NULL AS total, r.skip_reason IS NOT NULL AS skipped,
  m.id IS NOT NULL OR r.outcome IS NOT NULL AS recorded,
  m.accepted_at IS NOT NULL OR r.outcome ->> 'accepted_at' IS NOT NULL AS sent,
  ${RECIPIENT_STATUS} IN ('delivered', 'read') AS delivered, ${RECIPIENT_STATUS} = 'read' AS read, ${RECIPIENT_STATUS} = 'failed' AS failed,
  cardinality(r.clicked) > 0 AS clicked, r.opted_out_at IS NOT NULL AS opted_out`

const findOneOff = statement<BroadcastRow>(
  'analytics.findOneOff',
  `SELECT r.broadcast_id AS id, b.name, b.template_name, b.template, b.status, r.parameters,
     t.at AS created_at, t.at AS started_at, t.at AS completed_at,
     (SELECT jsonb_object_agg(counter, adds::text::boolean::int) FROM (SELECT ${ADDS}) a, jsonb_each(to_jsonb(a)) AS each (counter, adds))
       AS counters,
     (SELECT jsonb_object_agg(text, 1) FROM unnest(r.clicked) AS text) AS clicks,
     ${UTM_CAMPAIGNS} AS utm_campaigns
   FROM broadcast_recipients r
   JOIN broadcasts b ON b.organization_id = $1 AND b.id = r.campaign_id
   LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
   CROSS JOIN LATERAL (SELECT ${ONE_OFF_CREATED_AT} AS at) t
   WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = 0`,
)

// The index returns a few days too many, to cover every time zone.
const listStarted = statement<CampaignRow>(
  'analytics.listStarted',
  `SELECT id, kind, name, template_name, status, created_at, day::text AS day
   FROM (
     SELECT id, kind, name, template_name, status, created_at, coalesce(day, (started_at AT TIME ZONE $4)::date) AS day
     FROM broadcasts
     WHERE organization_id = $1 AND started_at >= $2::date - 2 AND started_at < $3::date + 3
   ) b
   WHERE day BETWEEN $2::date AND $3::date
   ORDER BY created_at DESC, id DESC`,
)

const COUNTERS = ['total', 'recorded', 'sent', 'delivered', 'read', 'failed'] as const

/** The counters in the analytics of many campaigns. */
export type Sums = Record<(typeof COUNTERS)[number], number>

const sumsOf = (value: string) =>
  COUNTERS.map((name) => `coalesce(sum(${value}) FILTER (WHERE counter = '${name}'), 0)::bigint AS ${name}`).join(', ')

const REQUESTED = `organization_id = $1 AND campaign_id = ANY ($2::uuid[])`

// The sums of a campaign, in one or two rows, and the number of failures by error. Each part is summed separately in
// index order; one query would have to hash them, which takes twice as long.
const sumCounts = statement<Sums & { campaign_id: string | null; code: string | null }>(
  'analytics.sumCounts',
  `SELECT campaign_id, NULL AS code, ${sumsOf('value')} FROM campaign_counts WHERE ${REQUESTED} GROUP BY campaign_id
   UNION ALL
   SELECT campaign_id, NULL, ${sumsOf('change')} FROM campaign_deltas WHERE ${REQUESTED} GROUP BY campaign_id
   UNION ALL
   SELECT NULL, detail, 0, 0, 0, 0, 0, sum(value)::bigint
   FROM (
     SELECT detail, value FROM campaign_counts WHERE ${REQUESTED} AND counter = 'error'
     UNION ALL
     SELECT detail, change FROM campaign_deltas WHERE ${REQUESTED} AND counter = 'error'
   ) e
   GROUP BY detail
   HAVING sum(value) <> 0`,
)

const listErrorTexts = statement<{ code: string; text: string }>(
  'analytics.listErrorTexts',
  `SELECT code, text FROM campaign_errors WHERE organization_id = $1 AND code = ANY ($2::text[])`,
)

const listCampaigns = statement<CampaignName>(
  'analytics.listCampaigns',
  'SELECT id, name, kind, day::text FROM broadcasts WHERE organization_id = $1 ORDER BY created_at, id',
)

// One campaign is counted in one snapshot. Recipients that are not prepared are not counted.
const findDrift = statement<Drift>(
  'analytics.findDrift',
  `WITH recipients AS (
     SELECT ${ADDS}, coalesce(m.error, r.outcome -> 'error') ->> 'code' AS code, r.clicked AS buttons
     FROM broadcasts b
     CROSS JOIN LATERAL (
       SELECT * FROM broadcast_recipients r WHERE r.organization_id = $1 AND r.broadcast_id = b.id AND r.n BETWEEN 1 AND b.prepared_n
       UNION ALL
       SELECT * FROM broadcast_recipients r WHERE r.organization_id = $1 AND r.campaign_id = b.id AND r.n = 0
     ) r
     LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
     WHERE b.organization_id = $1 AND b.id = $2
   ), recounted AS (
     SELECT v.counter, '' AS detail, v.value
     FROM (
       SELECT count(*) FILTER (WHERE total) AS total, count(*) FILTER (WHERE skipped) AS skipped,
         count(*) FILTER (WHERE recorded) AS recorded, count(*) FILTER (WHERE sent) AS sent,
         count(*) FILTER (WHERE delivered) AS delivered, count(*) FILTER (WHERE read) AS read,
         count(*) FILTER (WHERE failed) AS failed, count(*) FILTER (WHERE clicked) AS clicked,
         count(*) FILTER (WHERE opted_out) AS opted_out
       FROM recipients
     ) s CROSS JOIN LATERAL (VALUES
       ('total', s.total), ('skipped', s.skipped), ('recorded', s.recorded), ('sent', s.sent), ('delivered', s.delivered),
       ('read', s.read), ('failed', s.failed), ('clicked', s.clicked), ('opted_out', s.opted_out)
     ) v (counter, value)
     UNION ALL
     SELECT 'error', coalesce(code, ''), count(*) FROM recipients WHERE failed GROUP BY coalesce(code, '')
     UNION ALL
     SELECT 'button', text, count(*) FROM recipients CROSS JOIN unnest(buttons) AS text GROUP BY text
   ), counted AS (
     SELECT counter, detail, sum(value) AS value
     FROM (
       SELECT counter, detail, value FROM campaign_counts WHERE organization_id = $1 AND campaign_id = $2
       UNION ALL
       SELECT counter, detail, change FROM campaign_deltas WHERE organization_id = $1 AND campaign_id = $2
     ) c
     GROUP BY counter, detail
   )
   SELECT counter, detail, coalesce(c.value, 0)::bigint AS counted, coalesce(r.value, 0)::bigint AS recounted
   FROM counted c FULL JOIN recounted r USING (counter, detail)
   WHERE coalesce(c.value, 0) <> coalesce(r.value, 0)
   ORDER BY counter, detail`,
)

/** The name of a campaign. */
export type CampaignName = Pick<CampaignRow, 'id' | 'name' | 'kind'> & {
  /** For one-off sends: YYYY-MM-DD, in the organization's time zone. */
  day: string | null
}

/** A counter that differs from its rows. */
export interface Drift {
  counter: string
  /** The code of an error or the text of a button; else ''. */
  detail: string
  counted: number
  recounted: number
}

/** A broadcast, or the one-off send with this broadcast id; null if there is none. */
export async function findMeasuredBroadcast(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
): Promise<BroadcastRow | null> {
  const [broadcast] = await db.run(findBroadcast, [organizationId, broadcastId])
  if (broadcast) return broadcast
  const [oneOff] = await db.run(findOneOff, [organizationId, broadcastId])
  return oneOff ?? null
}

/** The campaigns that started on the days of a range in that time zone, newest first. */
export function listStartedCampaigns(
  db: Queryable,
  organizationId: string,
  { from, to }: DateRange,
  timezone: string,
): Promise<CampaignRow[]> {
  return db.run(listStarted, [organizationId, from, to, timezone])
}

/**
 * The sums of campaigns by their id, and the number of failures by error code. Campaigns without counters are left out.
 */
export async function sumCampaignCounts(
  db: Queryable,
  organizationId: string,
  campaignIds: readonly string[],
): Promise<{ sums: Map<string, Sums>; errors: Map<string, number> }> {
  const sums = new Map<string, Sums>()
  const errors = new Map<string, number>()
  for (const row of await db.run(sumCounts, [organizationId, campaignIds])) {
    if (row.code !== null) errors.set(row.code, row.failed)
    else if (row.campaign_id !== null) sums.set(row.campaign_id, add(sums.get(row.campaign_id), row))
  }
  return { sums, errors }
}

function add(sums: Sums | undefined, row: Sums): Sums {
  if (sums) for (const name of COUNTERS) row[name] += sums[name]
  return row
}

/** The known texts of errors, by their codes. */
export async function findErrorTexts(
  db: Queryable,
  organizationId: string,
  codes: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db.run(listErrorTexts, [organizationId, codes])
  return new Map(rows.map(({ code, text }) => [code, text]))
}

/** Every campaign of the organization, oldest first. */
export function listAllCampaigns(db: Queryable, organizationId: string): Promise<CampaignName[]> {
  return db.run(listCampaigns, [organizationId])
}

/** Counts a campaign's recipients and messages again; resolves to the counters that differ. */
export function findCampaignDrift(db: Queryable, organizationId: string, campaignId: string): Promise<Drift[]> {
  return db.run(findDrift, [organizationId, campaignId])
}
