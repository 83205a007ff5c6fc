import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'

/** How many scheduled messages of an organization are paused. */
export interface PausedScheduled {
  slug: string
  count: number
}

// A paused message is one whose time has come: there are few others of that kind, since they are sent.
const count = sharedStatement<PausedScheduled>(
  'scheduled.countPaused',
  `SELECT o.slug, paused.count
   FROM organizations o CROSS JOIN LATERAL (
     SELECT count(*)::int AS count FROM scheduled_messages s
     WHERE s.organization_id = o.id AND s.ended_at IS NULL AND s.scheduled_at <= $1 AND s.status = 'paused'
   ) paused
   WHERE paused.count > 0
   ORDER BY paused.count DESC, o.slug`,
)

/**
 * The organizations whose scheduled messages are paused, after a restore or because their time is long past at `now`;
 * those with the most first.
 */
export function countPausedScheduled(db: Queryable, now: Date): Promise<PausedScheduled[]> {
  return db.run(count, [now])
}
