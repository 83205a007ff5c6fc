import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { SKIP_REASONS } from '../../model/broadcasts/broadcast.js'
import { OUTCOME_UNKNOWN } from '../../model/messages/message.js'
import { countSkipped } from '../counts/campaigns.js'

const skipDuplicates = statement<never>(
  'broadcastRecipients.skipDuplicates',
  `WITH twins AS (
     SELECT older.broadcast_id, older.n AS older_n, younger.n AS younger_n,
       older.outcome IS NOT NULL
         OR EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = older.message_id) AS older_sent,
       younger.outcome IS NOT NULL
         OR EXISTS (SELECT FROM messages m WHERE m.organization_id = $1 AND m.id = younger.message_id) AS younger_sent
     FROM broadcast_recipients younger
     JOIN broadcast_recipients older ON older.organization_id = $1 AND older.contact_id = $3 AND older.broadcast_id = younger.broadcast_id
     JOIN broadcasts b ON b.organization_id = $1 AND b.id = younger.broadcast_id
     WHERE younger.n <= b.prepared_n AND older.n <= b.prepared_n AND younger.organization_id = $1 AND younger.contact_id = $2
       AND younger.skip_reason IS NULL AND older.skip_reason IS NULL
   ), skipped AS (
     UPDATE broadcast_recipients r SET skip_reason = '${SKIP_REASONS.duplicate}'
     FROM twins
     WHERE r.organization_id = $1 AND r.broadcast_id = twins.broadcast_id
       AND r.n = CASE WHEN NOT twins.younger_sent THEN twins.younger_n WHEN NOT twins.older_sent THEN twins.older_n END
     RETURNING r.campaign_id
   ), ${countSkipped('skipped')}
   SELECT`,
)

const move = statement<never>(
  'broadcastRecipients.move',
  'UPDATE broadcast_recipients SET contact_id = $3 WHERE organization_id = $1 AND contact_id = $2',
)

/**
 * SQL: the outcome that a recipient keeps when its message `m` is deleted; `status` and `error` are SQL, too.
 */
export const outcomeOf = (m: string, status = `${m}.status`, error = `${m}.error`) =>
  `jsonb_build_object('accepted_at', ${m}.accepted_at, 'delivered_at', ${m}.delivered_at, 'read_at', ${m}.read_at,
         'status', ${status}, 'error', ${error})`

/**
 * The part of a WITH by which the recipients of deleted messages keep their outcome, and the buttons of links, without
 * other personal data. `deleted`: rows of messages of the organization $1.
 */
export const keepOutcomes = (deleted: string) => `recipients AS (
     UPDATE broadcast_recipients r
     SET number = NULL, name = NULL, message_id = NULL, outcome = ${outcomeOf('m')},
       parameters = CASE WHEN r.parameters ? 'buttons' THEN jsonb_build_object('buttons', r.parameters -> 'buttons') END
     FROM ${deleted} m
     WHERE ${ofOrganization('r.organization_id', '$1::uuid')} AND r.broadcast_id = m.broadcast_id AND r.n = m.recipient_n
       AND r.message_id = m.id
   )`

/**
 * The parts of a WITH by which the recipients `r` of an erased contact of the organization $1, with their messages `m`,
 * keep their outcome, without personal data. A pending recipient is skipped; an outstanding one fails as unknown.
 * Recipients that are not prepared yet are not counted. `rows`: what follows FROM, without conditions.
 */
export const eraseRecipients = (rows: string) => `recipients_before AS (
     SELECT r.broadcast_id, r.n, r.n <= b.prepared_n AND r.skip_reason IS NULL AND r.outcome IS NULL AND m.id IS NULL AS was_pending,
       m.id IS NOT NULL AS has_message, m.outcome IS NOT NULL AS is_outstanding, m.accepted_at, m.delivered_at, m.read_at,
       m.status, m.error
     FROM ${rows}
     JOIN broadcasts b ON ${ofOrganization('b.organization_id', '$1::uuid')} AND b.id = r.campaign_id
   ), recipients AS (
     UPDATE broadcast_recipients r
     SET contact_id = NULL, number = NULL, name = NULL, parameters = NULL, message_id = NULL,
       skip_reason = CASE WHEN b.was_pending THEN '${SKIP_REASONS.erased}' ELSE r.skip_reason END,
       outcome = CASE WHEN b.has_message THEN ${outcomeOf(
         'b',
         "CASE WHEN b.is_outstanding THEN 'failed' ELSE b.status END",
         `CASE WHEN b.is_outstanding THEN jsonb_build_object('code', '${OUTCOME_UNKNOWN}', 'text', 'The contact was erased')
           ELSE b.error END`,
       )} ELSE r.outcome END
     FROM recipients_before b
     WHERE ${ofOrganization('r.organization_id', '$1::uuid')} AND r.broadcast_id = b.broadcast_id AND r.n = b.n
     RETURNING r.broadcast_id, r.n, r.campaign_id, b.was_pending, b.is_outstanding
   ), recipients_failed AS (
     INSERT INTO broadcast_failures (organization_id, broadcast_id, n)
     SELECT $1, broadcast_id, n FROM recipients WHERE is_outstanding AND n > 0
     ON CONFLICT DO NOTHING
   ), recipients_counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT $1, r.campaign_id, d.counter, d.detail, sum(d.change)
     FROM recipients r CROSS JOIN LATERAL (VALUES
       ('total', '', -r.was_pending::int), ('skipped', '', r.was_pending::int),
       ('failed', '', r.is_outstanding::int), ('error', '${OUTCOME_UNKNOWN}', r.is_outstanding::int)
     ) d (counter, detail, change)
     WHERE d.change <> 0
     GROUP BY r.campaign_id, d.counter, d.detail
   )`

/**
 * Moves the recipients of one contact to another. If both are in one broadcast, one that has no message is skipped.
 * Both contacts must be locked.
 */
export async function moveRecipients(
  transaction: Queryable,
  organizationId: string,
  from: string,
  to: string,
): Promise<void> {
  await transaction.run(skipDuplicates, [organizationId, from, to])
  await transaction.run(move, [organizationId, from, to])
}
