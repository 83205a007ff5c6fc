import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/**
 * The parts of a WITH that update the counters of campaigns when messages change. `changed` names rows with
 * organization_id, campaign_id, broadcast_id, recipient_n, accepted_at, status and error of the messages; the last
 * three also with their old values as …_before. Failures are stored with the text of their error.
 */
export function countChanges(changed: string): string {
  return `counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT c.organization_id, c.campaign_id, d.counter, d.detail, sum(d.change)
     FROM ${changed} c CROSS JOIN LATERAL (VALUES
       ('sent', '', (c.accepted_at IS NOT NULL)::int - (c.accepted_at_before IS NOT NULL)::int),
       ('delivered', '', (c.status IN ('delivered', 'read'))::int - (c.status_before IN ('delivered', 'read'))::int),
       ('read', '', (c.status = 'read')::int - (c.status_before = 'read')::int),
       ('failed', '', (c.status = 'failed')::int - (c.status_before = 'failed')::int),
       ('error', coalesce(c.error ->> 'code', ''), (c.status = 'failed')::int),
       ('error', coalesce(c.error_before ->> 'code', ''), -(c.status_before = 'failed')::int)
     ) d (counter, detail, change)
     WHERE c.campaign_id IS NOT NULL AND d.change <> 0
     GROUP BY c.organization_id, c.campaign_id, d.counter, d.detail
     HAVING sum(d.change) <> 0
   ), failures AS (
     INSERT INTO broadcast_failures (organization_id, broadcast_id, n)
     SELECT c.organization_id, c.broadcast_id, c.recipient_n FROM ${changed} c
     WHERE c.recipient_n > 0 AND c.status = 'failed'
     ORDER BY c.organization_id, c.broadcast_id, c.recipient_n
     ON CONFLICT DO NOTHING
   ), worded AS (
     INSERT INTO campaign_errors (organization_id, code, text)
     SELECT DISTINCT ON (c.organization_id, c.error ->> 'code') c.organization_id, c.error ->> 'code', left(c.error ->> 'text', 1000)
     FROM ${changed} c
     WHERE c.campaign_id IS NOT NULL AND c.status = 'failed' AND c.error ->> 'code' IS NOT NULL
     ORDER BY c.organization_id, c.error ->> 'code'
     ON CONFLICT DO NOTHING
   )`
}

// Rows that another process rolls up are skipped.
const rollUp = sharedStatement<{ rolled_up: number }>(
  'campaignCounts.fold',
  `WITH taken AS (
     DELETE FROM campaign_deltas d
     USING (
       SELECT d.organization_id, d.campaign_id, d.id
       FROM campaign_deltas d JOIN organizations o ON o.id = d.organization_id
       LIMIT $1
       FOR UPDATE OF d SKIP LOCKED
     ) next
     WHERE d.organization_id = next.organization_id AND d.campaign_id = next.campaign_id AND d.id = next.id
     RETURNING d.organization_id, d.campaign_id, d.counter, d.detail, d.change
   ), added AS (
     INSERT INTO campaign_counts AS c (organization_id, campaign_id, counter, detail, value)
     SELECT organization_id, campaign_id, counter, detail, sum(change) FROM taken
     GROUP BY organization_id, campaign_id, counter, detail
     ORDER BY organization_id, campaign_id, counter, detail
     ON CONFLICT (organization_id, campaign_id, counter, detail) DO UPDATE SET value = c.value + excluded.value
   )
   SELECT count(*) AS rolled_up FROM taken`,
)

/** Rolls up to `limit` deltas into the counters; resolves to how many. Of all tenants. */
export async function rollUpCampaignCounts(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.run(rollUp, [limit])
  return row?.rolled_up ?? 0
}

/**
 * The part of a WITH that counts recipients as skipped and removes them from the total. `skipped`: rows with their
 * campaign_id.
 */
export function countSkipped(skipped: string): string {
  return `skips AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
     SELECT $1, campaign_id, counter, sum(change)
     FROM ${skipped} CROSS JOIN (VALUES ('total', -1), ('skipped', 1)) AS d (counter, change)
     GROUP BY campaign_id, counter
   )`
}

/** SQL: the counters of a campaign as a JSON object, without those that have a detail. */
export const countersOf = (organizationId: string, campaignId: string) => `(
  SELECT coalesce(jsonb_object_agg(k.counter, k.value), '{}')
  FROM (
    SELECT counter, sum(value) AS value
    FROM (
      SELECT counter, value FROM campaign_counts
      WHERE organization_id = ${organizationId} AND campaign_id = ${campaignId} AND detail = ''
      UNION ALL
      SELECT counter, change FROM campaign_deltas
      WHERE organization_id = ${organizationId} AND campaign_id = ${campaignId} AND detail = ''
    ) k
    GROUP BY counter
  ) k
)`
