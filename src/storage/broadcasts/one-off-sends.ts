import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { Recipient, ShownBroadcast } from '../../model/broadcasts/broadcast.js'
import { countChanges } from '../counts/campaigns.js'
import { RECIPIENT_COLUMNS, RECIPIENT_JOINS } from './recipients.js'

/** When the one-off send `r` with the message `m` was created; without a message, its UUIDv7 has the time. */
export const ONE_OFF_CREATED_AT = `coalesce(m.created_at,
  to_timestamp(('x0000' || left(replace(r.broadcast_id::text, '-', ''), 12))::bit(64)::bigint / 1000.0))`

// The state of a one-off send is in its own recipient row.
const oneOffs = (
  recipients: string,
) => `SELECT r.organization_id, r.broadcast_id AS id, b.name, b.template_name, b.template_language,
     CASE WHEN m.outcome IS NULL THEN 'completed' ELSE 'running' END AS status, NULL AS status_reason,
     NULL::timestamptz AS scheduled_at, t.at AS started_at,
     CASE WHEN m.id IS NULL THEN t.at WHEN m.outcome IS NULL THEN coalesce(m.failed_at, m.accepted_at) END AS completed_at,
     t.at AS created_at,
     jsonb_build_object('total', (r.skip_reason IS NULL)::int, 'skipped', (r.skip_reason IS NOT NULL)::int) AS counters
   FROM (${recipients}) r
   JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.campaign_id
   LEFT JOIN messages m ON m.organization_id = r.organization_id AND m.id = r.message_id
   CROSS JOIN LATERAL (SELECT ${ONE_OFF_CREATED_AT} AS at) t`

const findOneOff = statement<ShownBroadcast>(
  'broadcastRecipients.findOneOff',
  oneOffs('SELECT * FROM broadcast_recipients WHERE organization_id = $1 AND broadcast_id = $2 AND n = 0'),
)

const listOneOffs = statement<ShownBroadcast>(
  'broadcastRecipients.listOneOffs',
  `${oneOffs(`
     SELECT * FROM broadcast_recipients WHERE organization_id = $1 AND n = 0
     ORDER BY broadcast_id DESC
     LIMIT $2 OFFSET $3`)}
   ORDER BY r.broadcast_id DESC`,
)

const countOneOffs = statement<{ count: number }>(
  'broadcastRecipients.countOneOffs',
  `SELECT coalesce(sum(c.value), 0)::bigint AS count
   FROM broadcasts b CROSS JOIN LATERAL (
     SELECT value FROM campaign_counts c
     WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('total', 'skipped')
     UNION ALL
     SELECT change FROM campaign_deltas c
     WHERE c.organization_id = $1 AND c.campaign_id = b.id AND c.counter IN ('total', 'skipped')
   ) c
   WHERE b.organization_id = $1 AND b.kind = 'singles'`,
)

const findOneOffRecipient = statement<Recipient>(
  'broadcastRecipients.findOneOffRecipient',
  `SELECT ${RECIPIENT_COLUMNS}
   FROM broadcast_recipients r JOIN broadcasts b ON b.organization_id = r.organization_id AND b.id = r.campaign_id
   ${RECIPIENT_JOINS}
   WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = 0`,
)

const insertUnsentOneOff = statement<never>(
  'broadcastRecipients.insertUnsentSingle',
  `WITH inserted AS (
     INSERT INTO broadcast_recipients (organization_id, broadcast_id, n, campaign_id, contact_id, parameters, skip_reason, outcome)
     VALUES ($1, $2, 0, $3, $4, $5, $6, $7)
     ON CONFLICT DO NOTHING
     RETURNING organization_id, campaign_id, skip_reason, outcome
   ), tried AS (
     SELECT organization_id, campaign_id, NULL::uuid AS broadcast_id, NULL::int AS recipient_n, NULL::timestamptz AS accepted_at,
       NULL::timestamptz AS accepted_at_before, 'failed' AS status, 'sent' AS status_before, outcome -> 'error' AS error,
       NULL::jsonb AS error_before
     FROM inserted WHERE outcome IS NOT NULL
   ), ${countChanges('tried')}
   INSERT INTO campaign_deltas (organization_id, campaign_id, counter, change)
   SELECT $1, campaign_id, counter, 1
   FROM inserted CROSS JOIN unnest(ARRAY['skipped', 'total', 'recorded']) AS counter
   WHERE (counter = 'skipped') = (skip_reason IS NOT NULL)`,
)

/** One one-off send in the shape of a broadcast, or null. */
export async function findOneOffBroadcast(
  db: Queryable,
  organizationId: string,
  id: string,
): Promise<ShownBroadcast | null> {
  const rows = await db.run(findOneOff, [organizationId, id])
  return rows[0] ?? null
}

/** A page of one-off sends, newest first, and the total. */
export async function listOneOffBroadcasts(
  db: Queryable,
  organizationId: string,
  { limit, offset }: { limit: number; offset: number },
): Promise<{ broadcasts: ShownBroadcast[]; total: number }> {
  const broadcasts = await db.run(listOneOffs, [organizationId, limit, offset])
  const [row] = await db.run(countOneOffs, [organizationId])
  return { broadcasts, total: row?.count ?? 0 }
}

/** The recipient of a one-off send, or null. */
export async function findRecipientOfOneOff(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
): Promise<Recipient | null> {
  const rows = await db.run(findOneOffRecipient, [organizationId, broadcastId])
  return rows[0] ?? null
}

/** A one-off send without a message: skipped with a reason, or failed. */
export interface UnsentOneOff {
  broadcastId: string
  campaignId: string
  contactId: string
  parameters: unknown
  skipReason: string | null
  error: { code: number | string; text: string } | null
}

/** Records a one-off send that has no message, once. */
export async function insertUnsentOneOffRecipient(
  db: Queryable,
  organizationId: string,
  { broadcastId, campaignId, contactId, parameters, skipReason, error }: UnsentOneOff,
): Promise<void> {
  await db.run(insertUnsentOneOff, [
    organizationId,
    broadcastId,
    campaignId,
    contactId,
    JSON.stringify(parameters),
    skipReason,
    error === null ? null : JSON.stringify({ status: 'failed', error }),
  ])
}
