import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import type { CallsNote, TakenNote } from '../../model/messages/trace.js'
import { HISTORY_GOES_ON } from '../events/histories.js'
import { userAddress } from '../messages/outgoing.js'
import { addNote, hasRoomForNote } from '../messages/trace-notes.js'
import { isOfLane, type Lane, type PendingRecipient } from './sending.js'

interface TakenRow extends PendingRecipient {
  since: Date
  attempts: number
  user_address: string | null
}

const defer = statement<never>(
  'broadcastDeferrals.defer',
  `WITH noted AS (
     UPDATE messages m SET ${addNote('m', '$8::jsonb')}
     WHERE m.organization_id = $1 AND m.id = $7 AND ${hasRoomForNote('m')}
   )
   INSERT INTO broadcast_deferrals (organization_id, broadcast_id, n, since, attempts, retry_at, instance_id)
   SELECT $1, $2, $3, $4, $5, now() + $6::float8 * interval '1 millisecond', $9
   WHERE EXISTS (SELECT FROM broadcasts WHERE organization_id = $1 AND id = $2)
   ON CONFLICT DO NOTHING`,
)

// The message may have an outcome by now, or may have been erased: then only its deferral is deleted. None is taken after
// a restore, until the broadcasts are paused with the new history.
const take = statement<TakenRow>(
  'broadcastDeferrals.take',
  `WITH next AS (
     SELECT n FROM broadcast_deferrals
     WHERE organization_id = $1 AND broadcast_id = $2 AND ($3 OR retry_at <= now()) AND ${isOfLane('instance_id', '$5', '$6')}
       AND ${HISTORY_GOES_ON}
     ORDER BY n
     LIMIT 1
     FOR UPDATE SKIP LOCKED
   ), taken AS (
     DELETE FROM broadcast_deferrals d USING next
     WHERE d.organization_id = $1 AND d.broadcast_id = $2 AND d.n = next.n
     RETURNING d.n, d.since, d.attempts
   ), noted AS (
     UPDATE messages m SET ${addNote('m', '$4::jsonb')}
     FROM taken JOIN broadcast_recipients r ON r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = taken.n
     WHERE m.organization_id = $1 AND m.id = r.message_id AND m.outcome IS NOT NULL AND ${hasRoomForNote('m')}
   )
   SELECT taken.since, taken.attempts, taken.n, m.id AS message_id, r.parameters, c.id AS contact_id, c.chat_id, c.phone_number,
     c.full_name, c.email, ${userAddress('c', 'false')} AS user_address
   FROM taken
   LEFT JOIN broadcast_recipients r ON r.organization_id = $1 AND r.broadcast_id = $2 AND r.n = taken.n
   LEFT JOIN messages m ON m.organization_id = $1 AND m.id = r.message_id AND m.outcome IS NOT NULL
   LEFT JOIN contacts c ON c.organization_id = $1 AND c.id = m.contact_id`,
)

const soonest = statement<{ in_ms: number }>(
  'broadcastDeferrals.soonest',
  `SELECT greatest(0, 1000 * extract(epoch FROM min(retry_at) - now())::float8) AS in_ms
   FROM broadcast_deferrals
   WHERE organization_id = $1 AND broadcast_id = $2 AND ${isOfLane('instance_id', '$3', '$4')}
   HAVING count(*) > 0`,
)

/** A recipient whose recorded message is to be sent again. */
export interface DeferredRecipient extends PendingRecipient {
  /** When the upstream was first called for it. */
  since: Date
  /** How often it was put back; over the pair limit, how often the upstream was called. */
  attempts: number
  /** The upstream's user id, if the contact has no phone number. */
  userId: string | null
}

/** Puts a recorded message back, to be sent again in `inMs` milliseconds. `note`: its calls, for its trace. */
export async function deferRecipient(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  deferred: {
    n: number
    messageId: string
    /** The instance whose number it goes through. */
    instanceId: string | null
    since: Date
    attempts: number
    inMs: number
    note: CallsNote
  },
): Promise<void> {
  const { n, messageId, instanceId, since, attempts, inMs, note } = deferred
  const values = [organizationId, broadcastId, n, since, attempts, inMs, messageId, JSON.stringify(note), instanceId]
  await db.run(defer, values)
}

/** Takes the next due message of a lane (with `early`: due or not); null if there is none. No other call gets it. */
export async function takeDeferred(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  { note, lane, early = false }: { note: TakenNote; lane: Lane; early?: boolean },
): Promise<DeferredRecipient | null> {
  for (;;) {
    const values = [organizationId, broadcastId, early, JSON.stringify(note), lane.instanceId, lane.others]
    const [row] = await db.run(take, values)
    if (!row) return null
    const { user_address, ...recipient } = row
    if (recipient.message_id !== null) return { ...recipient, userId: user_address?.slice('user:'.length) ?? null }
  }
}

/** Milliseconds until the next message of a lane is due, 0 if it is; null if there is none. */
export async function untilNextDeferred(
  db: Queryable,
  organizationId: string,
  broadcastId: string,
  lane: Lane,
): Promise<number | null> {
  const [row] = await db.run(soonest, [organizationId, broadcastId, lane.instanceId, lane.others])
  return row?.in_ms ?? null
}
