import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'
import type { Notice } from '../../model/organizations/notice.js'
import type { Restriction } from '../../model/organizations/restriction.js'
import { raiseEvents } from '../events/raise.js'

/** A notice to be recorded. */
export interface NewNotice extends Omit<Notice, 'instance_id' | 'closed_at' | 'at' | 'until'> {
  digest: Buffer
  instanceId: string | null
  at: Date
  until: Date | null
  /** The event that it raises; null: none. */
  event: string | null
  eventId: string
  /** What the numbers of the organization's account may not send from then on; null: it says nothing about that. */
  restrictions: Restriction[] | null
  /** The only number that they are about, digits; null: all numbers of the account. */
  onlyNumber: string | null
  /** Whether the running broadcasts of these numbers pause. */
  stopsBroadcasts: boolean
}

const COLUMNS = 'id, instance_id, field, kind, severity, title, advice, value, at, until, closed_at'

/** SQL: the digits of one of the organization's numbers; null if it was not checked. */
const digitsOf = (phoneNumberId: string) => `(
         SELECT regexp_replace(n.facts->>'display_phone_number', '[^0-9]', '', 'g') FROM number_states n
         WHERE n.organization_id = $1 AND n.phone_number_id = ${phoneNumberId}
       )`

const insert = statement<never>(
  'notices.insert',
  `WITH noted AS (
     -- Records the notice, unless it is a repetition.
     INSERT INTO upstream_notices
       (organization_id, id, digest, instance_id, field, kind, severity, title, advice, value, at, until)
     VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12)
     ON CONFLICT (organization_id, digest) DO NOTHING
     RETURNING ${COLUMNS}
   ), restricted AS (
     -- The newest report counts, and one that names a number counts only for that number.
     UPDATE upstream_settings u SET restrictions = $13::jsonb, restricted_at = $11
     FROM noted
     WHERE $13::jsonb IS NOT NULL AND u.organization_id = $1 AND (u.restricted_at IS NULL OR u.restricted_at <= $11)
       AND ($16::text IS NULL OR ${digitsOf('u.phone_number_id')} = $16)
     RETURNING u.phone_number_id
   ), further AS (
     -- The other numbers of the account.
     UPDATE instances i SET restrictions = $13::jsonb, restricted_at = $11
     FROM noted
     WHERE $13::jsonb IS NOT NULL AND i.organization_id = $1 AND i.kind = 'business_api' AND i.phone_number_id IS NOT NULL
       AND (i.restricted_at IS NULL OR i.restricted_at <= $11)
       AND CASE WHEN $16::text IS NULL
         THEN i.business_account_id = (SELECT business_account_id FROM upstream_settings WHERE organization_id = $1)
         ELSE coalesce(${digitsOf('i.phone_number_id')}, i.owner) = $16 END
     RETURNING i.phone_number_id
   ), paused AS (
     -- Pauses the broadcasts whose messages would only fail. The jobs of further numbers see by themselves whether they
     -- have recipients.
     UPDATE broadcasts b SET status = 'paused', status_reason = $8
     WHERE $17::boolean AND b.organization_id = $1 AND b.kind = 'broadcast' AND b.status = 'running'
       AND CASE WHEN b.from_number IS NULL THEN EXISTS (SELECT FROM restricted)
         ELSE b.from_number IN (SELECT phone_number_id FROM restricted UNION ALL SELECT phone_number_id FROM further) END
   ), raised AS (
     -- Raises the event of the notice.
     ${raiseEvents({
       from: 'noted WHERE $14::text IS NOT NULL',
       id: '$15',
       type: '$14::text',
       data: "jsonb_build_object('notice', to_jsonb(noted))",
     })}
   )
   SELECT`,
  { raises: 'events' },
)

const openOf = (severity: string) => `
   (SELECT ${COLUMNS} FROM upstream_notices
    WHERE organization_id = $1 AND closed_at IS NULL AND ${severity}
    ORDER BY at DESC, id DESC LIMIT $2)`

const listOpen = statement<Notice>(
  'notices.listOpen',
  `SELECT * FROM (${openOf("severity = 'critical'")} UNION ALL ${openOf("severity <> 'critical'")}) open
   ORDER BY severity = 'critical' DESC, at DESC, id DESC LIMIT $2`,
)

const close = statement<Notice>(
  'notices.close',
  `UPDATE upstream_notices SET closed_at = coalesce(closed_at, $3) WHERE organization_id = $1 AND id = $2
   RETURNING ${COLUMNS}`,
)

const prune = sharedStatement<{ count: number }>(
  'notices.prune',
  `WITH old AS (
     SELECT n.organization_id, n.id
     FROM organizations o CROSS JOIN LATERAL (
       SELECT organization_id, id FROM upstream_notices
       WHERE organization_id = o.id AND o.legal_hold IS NULL AND at < $1 AND (until IS NULL OR until < $1)
       ORDER BY at, id
       LIMIT $2
     ) n
     LIMIT $2
   ), pruned AS (
     DELETE FROM upstream_notices n USING old WHERE n.organization_id = old.organization_id AND n.id = old.id
     RETURNING n.id
   )
   SELECT count(*) FROM pruned`,
)

/**
 * Records a notice, what the account's numbers may not send from then on, and its event, and pauses the running
 * broadcasts that would only fail. A repetition changes nothing.
 */
export async function insertNotice(db: Queryable, organizationId: string, notice: NewNotice): Promise<void> {
  const { id, digest, instanceId, field, kind, severity, title, advice, value, at, until } = notice
  const row = [id, digest, instanceId, field, kind, severity, title, advice, value && JSON.stringify(value), at, until]
  const restrictions = notice.restrictions && JSON.stringify(notice.restrictions)
  const rest = [restrictions, notice.event, notice.eventId, notice.onlyNumber, notice.stopsBroadcasts]
  const values = [organizationId, ...row, ...rest]
  await db.raise(insert, values, [organizationId])
}

/** The notices that nobody has dealt with, critical ones first, then the newest first. */
export function listOpenNotices(db: Queryable, organizationId: string, limit: number): Promise<Notice[]> {
  return db.run(listOpen, [organizationId, limit])
}

/** Closes a notice; null if there is none. */
export async function closeNotice(db: Queryable, organizationId: string, id: string, at: Date): Promise<Notice | null> {
  const [closed] = await db.run(close, [organizationId, id, at])
  return closed ?? null
}

/** Deletes at most `limit` notices from before `before`; resolves to how many. Of all organizations without a hold. */
export async function pruneNotices(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
}
