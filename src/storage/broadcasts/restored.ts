import type { Queryable } from '../../database/pool.js'
import { sharedStatement } from '../../database/statement.js'
import { type BroadcastStatus, type Counters, RESTORED } from '../../model/broadcasts/broadcast.js'
import { countersOf } from '../counts/campaigns.js'

/**
 * SQL: the broadcasts `b` that would send at $1 without anybody asking for it; those of suspended organizations would
 * with their resumption.
 */
const UNDER_WAY = `b.kind = 'broadcast' AND b.status IN ('scheduled', 'running')
     AND (b.status = 'running' OR b.scheduled_at <= $1)`

// Messages that were put back may have been sent since: without their deferrals they are not sent again, and their
// outcome is unknown.
const hold = sharedStatement<UnderWay>(
  'broadcasts.hold',
  `WITH held AS (
     UPDATE broadcasts b SET status = 'paused', status_reason = '${RESTORED}'
     FROM kept_organizations o
     WHERE b.organization_id = o.id AND ${UNDER_WAY}
     RETURNING b.organization_id, b.id
   ), forgotten AS (
     DELETE FROM broadcast_deferrals d USING held
     WHERE d.organization_id = held.organization_id AND d.broadcast_id = held.id
   )
   SELECT organization_id, id FROM held`,
)

const listUnderWay = sharedStatement<BroadcastUnderWay>(
  'broadcasts.listUnderWay',
  `SELECT b.organization_id, o.slug AS organization, b.id, b.name, b.status, b.prepared_at IS NOT NULL AS is_prepared,
     ${countersOf('b.organization_id', 'b.id')} AS counters
   FROM kept_organizations o JOIN broadcasts b ON b.organization_id = o.id
   WHERE ${UNDER_WAY}
   ORDER BY b.id`,
)

/** A broadcast that runs or is due. */
export interface UnderWay {
  organization_id: string
  id: string
}

/** The same, with what an operator decides by. */
export interface BroadcastUnderWay extends UnderWay {
  /** The organization's slug. */
  organization: string
  name: string
  status: BroadcastStatus
  /** False: more recipients are to come. */
  is_prepared: boolean
  counters: Counters
}

/** Pauses the broadcasts that run or are due at `now`, because the database was restored. Of all organizations. */
export function holdBroadcasts(transaction: Queryable, now: Date): Promise<UnderWay[]> {
  return transaction.run(hold, [now])
}

/** The broadcasts that run or are due at `now`, oldest first. Of all organizations. */
export function listBroadcastsUnderWay(db: Queryable, now: Date): Promise<BroadcastUnderWay[]> {
  return db.run(listUnderWay, [now])
}
