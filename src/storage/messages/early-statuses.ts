import type { Queryable } from '../../database/pool.js'
import { FEW_ROWS, ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import type { ReportedStatus } from './statuses.js'

/** How many days the status of an unknown message is kept. */
export const KEPT_DAYS = 1

const keep = statement<never>(
  'earlyStatuses.keep',
  `INSERT INTO early_statuses (organization_id, upstream_id, status, reported)
   SELECT $1, given.upstream_id, given.status, given.reported
   FROM json_to_recordset($2) AS given (upstream_id text, status text, reported jsonb)
   ${FEW_ROWS}
   ON CONFLICT DO NOTHING`,
)

const take = statement<{ reported: StoredStatus }>(
  'earlyStatuses.take',
  `DELETE FROM early_statuses e
   WHERE ${ofOrganization('e.organization_id', '$1::uuid')} AND e.upstream_id = ANY ($2) AND EXISTS (
     SELECT FROM messages m
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.upstream_id = e.upstream_id AND m.sender_type <> 'user-chat'
     OFFSET 0
   )
   RETURNING e.reported`,
)

const prune = sharedStatement<{ count: number }>(
  'earlyStatuses.prune',
  `WITH old AS (
     SELECT organization_id, upstream_id, status FROM early_statuses WHERE received_at < $1 ORDER BY received_at LIMIT $2
   ), pruned AS (
     DELETE FROM early_statuses e USING old
     WHERE e.organization_id = old.organization_id AND e.upstream_id = old.upstream_id AND e.status = old.status
     RETURNING 1
   )
   SELECT count(*) FROM pruned`,
)

type StoredStatus = Omit<ReportedStatus, 'organizationId' | 'at'> & { at: string }

/** Keeps statuses of messages that are not known yet, without their recipients. One that is kept already stays. */
export async function keepEarlyStatuses(
  db: Queryable,
  organizationId: string,
  statuses: readonly ReportedStatus[],
): Promise<void> {
  const rows = statuses.map(({ organizationId: _, ...reported }) => ({
    upstream_id: reported.upstreamId,
    status: reported.status,
    reported: { ...reported, alias: null, userAddress: null },
  }))
  await db.run(keep, [organizationId, JSON.stringify(rows)])
}

/** Takes out the kept statuses of those messages that are known by now, in the order of their times. */
export async function takeEarlyStatuses(
  db: Queryable,
  organizationId: string,
  upstreamIds: readonly string[],
): Promise<ReportedStatus[]> {
  const rows = await db.run(take, [organizationId, upstreamIds])
  return rows
    .map(({ reported }) => ({ ...reported, organizationId, at: new Date(reported.at) }))
    .sort((one, other) => one.at.getTime() - other.at.getTime())
}

/** Deletes at most `limit` statuses from before `before`; resolves to how many. Of all organizations. */
export async function pruneEarlyStatuses(db: Queryable, before: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [before, limit])
  return row?.count ?? 0
}
