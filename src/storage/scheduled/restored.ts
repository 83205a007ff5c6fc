import type { Queryable } from '../../database/pool.js'
import { ofOrganization, sharedStatement, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { RESTORED } from '../../model/broadcasts/broadcast.js'
import { raiseEvents } from '../events/raise.js'
import { scheduledEvent } from './scheduled.js'

// The job of one whose message is recorded only ends it.
const hold = sharedStatement<HeldMessage>(
  'scheduled.hold',
  `WITH due AS (
     SELECT s.organization_id, s.id, EXISTS (
         SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', 's.organization_id')} AND m.id = s.id
       ) AS has_message
     FROM kept_organizations o JOIN scheduled_messages s ON s.organization_id = o.id
     WHERE s.ended_at IS NULL AND s.status IN ('scheduled', 'sending') AND s.scheduled_at <= $1
   ), recorded AS (
     -- It may have been sent after the point of the restore.
     UPDATE scheduled_messages s SET unsent = NULL FROM due
     WHERE s.organization_id = due.organization_id AND s.id = due.id AND due.has_message AND s.unsent IS NOT NULL
   )
   UPDATE scheduled_messages s SET status = 'paused', reason = '${RESTORED}' FROM due
   WHERE s.organization_id = due.organization_id AND s.id = due.id AND NOT due.has_message
   RETURNING s.organization_id, s.id`,
)

const tell = statement<never>(
  'scheduled.tell',
  `WITH held AS (
     SELECT * FROM scheduled_messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2
   )
   ${raiseEvents(scheduledEvent('held', "'message.scheduled'", '$3'))}`,
  { raises: 'events' },
)

/** A scheduled message that waits for somebody. */
export interface HeldMessage {
  organization_id: string
  id: string
}

/**
 * Pauses the messages whose time has come at `now`, because the database was restored, and raises message.scheduled of
 * each. Of all organizations.
 */
export async function holdScheduled(transaction: Queryable, now: Date): Promise<HeldMessage[]> {
  const held = await transaction.run(hold, [now])
  for (const { organization_id: organizationId, id } of held) {
    await transaction.raise(tell, [organizationId, id, newId()], [organizationId])
  }
  return held
}
