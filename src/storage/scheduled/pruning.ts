import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import { enqueueJobs } from '../jobs/enqueue.js'
import { KEPT_SINCE } from '../organizations/retention.js'

// The file of one that was cancelled belongs to no message.
const prune = sharedStatement<{ count: number }>(
  'scheduled.prune',
  `WITH old AS (
     SELECT s.organization_id, s.id, s.status = 'cancelled' AND s.has_file AS has_file
     FROM organizations o CROSS JOIN LATERAL (
       SELECT * FROM scheduled_messages s
       WHERE s.organization_id = o.id AND s.ended_at < ${KEPT_SINCE}
       ORDER BY s.ended_at
       LIMIT $1
     ) s
     LIMIT $1
   ), pruned AS (
     DELETE FROM scheduled_messages s USING old
     WHERE s.organization_id = old.organization_id AND s.id = old.id
     RETURNING s.id
   ), files AS (
     DELETE FROM media f USING old
     WHERE old.has_file AND f.organization_id = old.organization_id AND f.id = old.id
   ), job AS (
     ${enqueueJobs({
       task: 'remove_media',
       organizationId: 'files.organization_id',
       from: '(SELECT organization_id, json_agg(id) AS ids FROM old WHERE has_file GROUP BY organization_id) files',
       payload: "jsonb_build_object('mediaIds', files.ids)",
     })}
   )
   SELECT count(*) FROM pruned`,
  { enqueues: 'later' },
)

/**
 * Deletes at most `limit` scheduled messages that have ended and are not kept at `now`, of all organizations, with the
 * files that they leave; returns their number.
 */
export async function pruneScheduled(db: Queryable, now: Date, limit: number): Promise<number> {
  const [row] = await db.run(prune, [limit, now])
  return row?.count ?? 0
}
