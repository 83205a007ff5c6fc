import type { Queryable } from '../../database/pool.js'
import { sharedStatement, statement } from '../../database/statement.js'

interface TotalRow {
  total: number
}

/**
 * The INSERT that changes the counts of channels by `change`, an aggregate, for the messages `rows` with their
 * organization_id and instance_id; the organization's own number is not counted here.
 */
export const countOnChannels = (rows: string, change: string) =>
  `INSERT INTO line_counts (organization_id, instance_id, change)
     SELECT organization_id, instance_id, ${change} FROM ${rows} WHERE instance_id IS NOT NULL
     GROUP BY organization_id, instance_id`

const sumOfInstance = statement<TotalRow>(
  'lineCounts.sumOfInstance',
  `SELECT coalesce(sum(change), 0)::float8 AS total FROM line_counts WHERE organization_id = $1 AND instance_id = $2`,
)

const sumsOfInstances = statement<TotalRow & { line: string }>(
  'lineCounts.sumsOfInstances',
  `SELECT instance_id AS line, sum(change)::float8 AS total
   FROM line_counts
   WHERE organization_id = $1 AND instance_id = ANY ($2::uuid[])
   GROUP BY instance_id`,
)

// Conversations are numbered without gaps. While the messages of an erased contact are deleted, those on instances still
// count there.
const sumOfOrganization = statement<TotalRow>(
  'lineCounts.sumOfOrganization',
  `SELECT greatest(
     (SELECT coalesce(sum(last_seq - pruned_seq), 0) FROM contacts WHERE organization_id = $1)
     - (SELECT coalesce(sum(change), 0) FROM line_counts WHERE organization_id = $1),
     0
   )::float8 AS total`,
)

// Rows added meanwhile are not seen and stay; rows that another process rolls up are skipped. Sorted by channel, so
// that the rows of a channel meet. Rows of a deleted organization are not created again while they are deleted.
const fold = sharedStatement<{ folded: number }>(
  'lineCounts.fold',
  `WITH folded AS (
     DELETE FROM line_counts l
     USING (
       SELECT c.organization_id, c.instance_id, c.id
       FROM line_counts c JOIN organizations o ON o.id = c.organization_id
       WHERE EXISTS (
         SELECT FROM line_counts other
         WHERE other.organization_id = c.organization_id AND other.instance_id = c.instance_id AND other.id <> c.id
       )
       ORDER BY c.organization_id, c.instance_id
       LIMIT $1
       FOR UPDATE OF c SKIP LOCKED
     ) next
     WHERE l.organization_id = next.organization_id AND l.instance_id = next.instance_id AND l.id = next.id
     RETURNING l.organization_id, l.instance_id, l.change
   ), added AS (
     INSERT INTO line_counts (organization_id, instance_id, change)
     SELECT organization_id, instance_id, sum(change) FROM folded GROUP BY organization_id, instance_id
   )
   SELECT count(*) AS folded FROM folded`,
)

/** The number of numbered messages of a channel; null: the organization's own number. */
export async function findChannelTotal(
  db: Queryable,
  organizationId: string,
  channelId: string | null,
): Promise<number> {
  const [row] =
    channelId === null
      ? await db.run(sumOfOrganization, [organizationId])
      : await db.run(sumOfInstance, [organizationId, channelId])
  return (row as TotalRow).total
}

/** The numbers for several channels, by channel; channels without messages are left out. */
export async function findChannelTotals(
  db: Queryable,
  organizationId: string,
  channelIds: readonly (string | null)[],
): Promise<Map<string | null, number>> {
  const ownChannels = channelIds.filter((line) => line !== null)
  const rows = ownChannels.length === 0 ? [] : await db.run(sumsOfInstances, [organizationId, ownChannels])
  const totals = new Map<string | null, number>(rows.map(({ line, total }) => [line, total]))
  return channelIds.includes(null) ? totals.set(null, await findChannelTotal(db, organizationId, null)) : totals
}

/** Rolls up at most `limit` added rows and returns their number. Of all organizations. */
export async function rollUpChannelCounts(db: Queryable, limit: number): Promise<number> {
  const [row] = await db.run(fold, [limit])
  return row?.folded ?? 0
}
