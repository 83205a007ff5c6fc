import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import type { Person } from '../../model/templates/placeholders.js'
import { countSkipped } from '../counts/campaigns.js'
import { IS_UNSENT } from './runs.js'

const BATCH = 200

/** Which recipients a job sends to: those of one number. */
export interface Lane {
  /** Only those of the number of this instance; null: see `others`. */
  instanceId: string | null
  /** All but those of the numbers of these instances; null: all. */
  others: readonly string[] | null
}

/** All recipients. */
export const WHOLE: Lane = { instanceId: null, others: null }

/** SQL: whether what goes through an instance's number (null: the first) belongs to a lane. */
export const isOfLane = (instanceId: string, only: string, others: string) =>
  `(${only}::uuid IS NULL OR ${instanceId} = ${only}::uuid)
       AND (${others}::uuid[] IS NULL OR ${instanceId} IS NULL OR NOT ${instanceId} = ANY (${others}::uuid[]))`

/** SQL: the instance whose number sends to the contact `c` by default. */
const DEFAULT_NUMBER = `CASE WHEN c.business_group IS NULL THEN c.wrote_to ELSE (c.business_group ->> 'instance_id')::uuid END`

/** SQL: the same of a contact's id. */
const numberOf = (contactId: string) => `(
         SELECT ${DEFAULT_NUMBER} FROM contacts c
         WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = ${contactId}
       )`

const findPending = statement<PendingRecipient>(
  'broadcastRecipients.findPending',
  `SELECT r.n, r.message_id, r.parameters, c.id AS contact_id, c.chat_id, c.phone_number, c.full_name, c.email
   FROM broadcasts b JOIN broadcast_recipients r ON r.organization_id = b.organization_id AND r.broadcast_id = b.id
   LEFT JOIN LATERAL (
     SELECT * FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = r.contact_id OFFSET 0
   ) c ON true
   WHERE b.organization_id = $1 AND b.id = $2 AND b.status = 'running' AND b.generation = $3
     AND r.n > $4 AND r.n <= b.prepared_n AND ${isOfLane(`(${DEFAULT_NUMBER})`, '$6', '$7')} AND ${IS_UNSENT}
   ORDER BY r.n
   LIMIT $5`,
)

const hasPending = statement<{ pending: boolean }>(
  'broadcastRecipients.hasPending',
  `SELECT EXISTS (
     SELECT FROM broadcast_recipients r
     WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND ${isOfLane(numberOf('r.contact_id'), '$3', '$4')}
       AND ${IS_UNSENT}
   ) AS pending`,
)

const skip = statement<never>(
  'broadcastRecipients.skip',
  `WITH skipped AS (
     UPDATE broadcast_recipients r SET skip_reason = $4
     WHERE r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = $3 AND r.skip_reason IS NULL
       AND NOT EXISTS (SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = r.message_id)
     RETURNING r.campaign_id
   ), ${countSkipped('skipped')}
   SELECT`,
)

// Failed recipients become pending again with a new message id; the failed message stays in its conversation. Of two
// recipients that are the same person by now, only the first is sent to again, and neither if one received the message
// or is pending. OFFSET 0, the arrays and `useKeyLookups` make PostgreSQL look up each recipient by its key: right after
// a large broadcast, without statistics, it would read all recipients for each failed one.
const resetFailed = statement<{ reset: number }>(
  'broadcastRecipients.resetFailed',
  `WITH failed AS (
     SELECT r.n, m.id
     FROM broadcast_failures f CROSS JOIN LATERAL (
       SELECT n, contact_id, message_id, skip_reason FROM broadcast_recipients
       WHERE organization_id = $1 AND broadcast_id = $2 AND n = f.n
       OFFSET 0
     ) r JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id
     WHERE f.organization_id = $1 AND f.broadcast_id = $2 AND m.status = 'failed' AND r.skip_reason IS NULL
       AND m.recorded_at <= $4
       AND NOT EXISTS (
         SELECT FROM broadcast_recipients twin
         LEFT JOIN messages of_twin ON of_twin.organization_id = $1 AND of_twin.id = twin.message_id
         WHERE twin.organization_id = $1 AND twin.contact_id = r.contact_id AND twin.broadcast_id = $2 AND twin.n <> r.n
           AND twin.skip_reason IS NULL AND (twin.n < r.n OR of_twin.status IS DISTINCT FROM 'failed')
         OFFSET 0
       )
     ORDER BY m.id
     LIMIT cardinality($3::uuid[])
     FOR NO KEY UPDATE OF m
   ), unlinked AS (
     UPDATE messages m SET campaign_id = NULL, broadcast_id = NULL, recipient_n = NULL
     FROM failed
     WHERE m.organization_id = $1 AND m.id = failed.id
     RETURNING failed.n, m.accepted_at, m.error
   ), relinked AS (
     UPDATE broadcast_recipients
     SET message_id = ($3::uuid[])[array_position(ARRAY(SELECT n FROM unlinked ORDER BY n), n)]
     WHERE organization_id = $1 AND broadcast_id = $2 AND n = ANY (ARRAY(SELECT n FROM unlinked))
   ), forgotten AS (
     DELETE FROM broadcast_failures
     WHERE organization_id = $1 AND broadcast_id = $2 AND n = ANY (ARRAY(SELECT n FROM unlinked))
   ), counted AS (
     INSERT INTO campaign_deltas (organization_id, campaign_id, counter, detail, change)
     SELECT $1, $2, d.counter, d.detail, -count(*)
     FROM unlinked CROSS JOIN LATERAL (VALUES
       ('recorded', ''), ('failed', ''), ('error', coalesce(unlinked.error ->> 'code', '')),
       (CASE WHEN unlinked.accepted_at IS NOT NULL THEN 'sent' END, '')
     ) d (counter, detail)
     WHERE d.counter IS NOT NULL
     GROUP BY d.counter, d.detail
   )
   SELECT count(*) AS reset FROM unlinked`,
)

const forbidScans = sharedStatement<never>(
  'broadcastRecipients.forbidScans',
  `SELECT set_config('enable_seqscan', 'off', true), set_config('enable_hashjoin', 'off', true),
     set_config('enable_mergejoin', 'off', true)`,
)

/** A pending recipient with its contact; null if the contact was erased. */
export interface PendingRecipient extends Person {
  n: number
  message_id: string
  parameters: { body?: Record<string, string>; buttons?: Record<string, string> } | null
  contact_id: string | null
}

/** The next recipients of a lane without a message; none if the broadcast is not running in this generation. */
export function findPendingRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { generation, after, lane }: { generation: number; after: number; lane: Lane },
): Promise<PendingRecipient[]> {
  return db.run(findPending, [organizationId, broadcastId, generation, after, BATCH, lane.instanceId, lane.others])
}

/** Whether any recipient of a lane is pending. */
export async function hasPendingRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  lane: Lane,
): Promise<boolean> {
  const [row] = await db.run(hasPending, [organizationId, broadcastId, lane.instanceId, lane.others])
  return row?.pending === true
}

/** Skips a recipient that has no message yet. */
export async function skipRecipient(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { n, reason }: { n: number; reason: string },
): Promise<void> {
  await db.run(skip, [organizationId, broadcastId, n, reason])
}

/** Makes PostgreSQL look rows up by key until the end of the transaction, regardless of its statistics. */
export async function useKeyLookups(transaction: Queryable): Promise<void> {
  await transaction.run(forbidScans, [])
}

/**
 * Makes failed recipients whose message was recorded by `until` pending again, at most one per new message id; resolves
 * to how many.
 */
export async function resetFailedRecipients(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { until, messageIds }: { until: Date; messageIds: readonly string[] },
): Promise<number> {
  const [row] = await db.run(resetFailed, [organizationId, broadcastId, messageIds, until])
  return row?.reset ?? 0
}
