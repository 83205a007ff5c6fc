import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import { LATE } from '../../model/broadcasts/broadcast.js'
import { gatewayType } from '../../model/instances/gateway-message.js'
import { mediaExpiry } from '../../model/messages/media.js'
import type { MessageError } from '../../model/messages/message.js'
import type { Scheduled, UnsentMessage } from '../../model/messages/scheduled.js'
import type { AskedNote, CallsNote } from '../../model/messages/trace.js'
import { HISTORY_GOES_ON } from '../events/histories.js'
import { raiseEvents } from '../events/raise.js'
import { messageEvents } from '../messages/message-events.js'
import { trackNewMessages } from '../messages/new-messages.js'
import { addNote, firstNotes, hasRoomForNote } from '../messages/trace-notes.js'
import { FORGET_LOOKS, scheduledEvent } from './scheduled.js'

const ONE = `${ofOrganization('organization_id', '$1::uuid')} AND id = $2`

/** How long a message waits for earlier ones to the same contact. */
const IN_ORDER = "interval '10 minutes'"

// None after a restore, until the messages are paused with the new history. One whose process died is claimed again.
// Those of one contact keep their order, unless one is late for long.
const claim = statement<{ id: string }>(
  'scheduled.claim',
  `UPDATE scheduled_messages s SET status = 'sending'
   WHERE ${ONE} AND status IN ('scheduled', 'sending') AND scheduled_at <= $3 AND ${HISTORY_GOES_ON} AND NOT EXISTS (
     SELECT FROM scheduled_messages e
     WHERE ${ofOrganization('e.organization_id', '$1::uuid')} AND e.contact_id = s.contact_id
       AND (e.scheduled_at, e.id) < (s.scheduled_at, s.id) AND e.scheduled_at > $3::timestamptz - ${IN_ORDER}
       AND e.status IN ('scheduled', 'sending')
   )
   RETURNING id`,
)

const HAS_MESSAGE = `EXISTS (
     SELECT FROM messages m WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id = $2
   )`

const putBack = statement<never>(
  'scheduled.putBack',
  `UPDATE scheduled_messages SET status = 'scheduled', error = $3 WHERE ${ONE} AND status = 'sending' AND NOT ${HAS_MESSAGE}`,
)

const pause = statement<never>(
  'scheduled.pause',
  `WITH paused AS (
     UPDATE scheduled_messages SET status = 'paused', reason = '${LATE}'
     WHERE ${ONE} AND status = 'sending' AND NOT ${HAS_MESSAGE}
     RETURNING *
   ), raised AS (
     ${raiseEvents(scheduledEvent('paused', "'message.scheduled'", '$3'))}
   )
   SELECT`,
  { raises: 'events' },
)

// The message stays as being sent: it is in the conversation, so that it can be neither changed nor cancelled.
const defer = statement<{ id: string }>(
  'scheduled.defer',
  `WITH deferred AS (
     UPDATE scheduled_messages SET unsent = $3, error = $4 WHERE ${ONE} AND status = 'sending' RETURNING id
   ), noted AS (
     UPDATE messages m SET ${addNote('m', '$5::jsonb')}
     WHERE ${ofOrganization('m.organization_id', '$1::uuid')} AND m.id IN (SELECT id FROM deferred) AND ${hasRoomForNote('m')}
   )
   SELECT id FROM deferred`,
)

const takeUnsent = statement<{ id: string }>(
  'scheduled.takeUnsent',
  `UPDATE scheduled_messages SET unsent = NULL
   WHERE ${ONE} AND status = 'sending' AND unsent IS NOT NULL AND ${HISTORY_GOES_ON}
   RETURNING id`,
)

/** SQL: what a row loses when its message holds the same. */
const FORGET = `command = '{}', shown = ${FORGET_LOOKS}, unsent = NULL`

// Whatever the row says: its message is recorded.
const finish = statement<never>(
  'scheduled.finish',
  `UPDATE scheduled_messages SET status = $3, error = $4, ended_at = $5, ${FORGET} WHERE ${ONE} AND ended_at IS NULL`,
)

// A reaction has no number, and shows only on its target.
const fail = statement<{ is_recorded: boolean }>(
  'scheduled.fail',
  `WITH before AS (
     SELECT * FROM scheduled_messages WHERE ${ONE} AND status = 'sending' FOR UPDATE
   ), failed AS (
     UPDATE scheduled_messages SET status = 'failed', error = $3, ended_at = $4, ${FORGET}
     WHERE ${ONE} AND EXISTS (SELECT FROM before)
   ), numbered AS (
     -- Takes the next number of the conversation.
     UPDATE contacts c
     SET last_seq = c.last_seq + CASE WHEN before.shown ->> 'message_type' = 'reaction' THEN 0 ELSE 1 END
     FROM before
     WHERE ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = before.contact_id
     RETURNING c.*
   ), recorded AS (
     -- Records the message as failed.
     INSERT INTO messages (organization_id, id, contact_id, seq, sender_type, message_type, text, media_type, content, media_id,
       media_expires_at, status, error, assignee_id, created_at, recorded_at, failed_at, instance_id, gateway_type, trace, notes)
     SELECT $1, $2, c.id, CASE WHEN s.shown ->> 'message_type' = 'reaction' THEN NULL ELSE c.last_seq END,
       CASE WHEN s.member_id IS NULL THEN 'bot-chat' ELSE 'human-chat' END, s.shown ->> 'message_type', s.shown ->> 'text',
       s.shown ->> 'media_type', nullif(s.shown -> 'content', 'null'), CASE WHEN s.has_file THEN $2 END,
       CASE WHEN s.has_file THEN $7::timestamptz END, 'failed', $3, s.member_id, $4, $4, $4, s.instance_id, $6,
       ${firstNotes('$8::jsonb', '$9::jsonb')}
     FROM before s CROSS JOIN numbered c
     RETURNING *
   ), ${trackNewMessages(`SELECT $1::uuid AS organization_id, m.contact_id, m.instance_id, m.seq
     FROM recorded m
     WHERE m.seq IS NOT NULL`)}, raised AS (
     -- Raises message.failed.
     ${raiseEvents({ ...messageEvents("'message.failed'", '$5'), from: 'recorded m CROSS JOIN numbered c' })}
   )
   SELECT EXISTS (SELECT FROM recorded) AS is_recorded`,
  { raises: 'events', enqueues: 'later' },
)

/** Marks a message whose time has come as being sent; false if it does not wait, or an earlier one goes first. */
export async function claimScheduled(db: Queryable, organizationId: string, id: string, now: Date): Promise<boolean> {
  const rows = await db.run(claim, [organizationId, id, now])
  return rows.length > 0
}

/** Lets a claimed message wait for another attempt, unless it is recorded; `error`: why this one did not send it. */
export async function putBackScheduled(
  db: Queryable,
  organizationId: string,
  id: string,
  error: MessageError,
): Promise<void> {
  await db.run(putBack, [organizationId, id, JSON.stringify(error)])
}

/** Why a message that is recorded and was not accepted waits for another attempt. */
export interface Deferral {
  unsent: UnsentMessage
  error: MessageError
  /** The calls, for the message's trace. */
  note: CallsNote
}

/** Lets a claimed message whose message is recorded wait for another attempt; false if it is not claimed any more. */
export async function deferScheduled(
  db: Queryable,
  organizationId: string,
  id: string,
  { unsent, error, note }: Deferral,
): Promise<boolean> {
  const values = [organizationId, id, ...[unsent, error, note].map((value) => JSON.stringify(value))]
  const rows = await db.run(defer, values)
  return rows.length > 0
}

/** Takes what deferScheduled has kept, before a call, which may be interrupted. False: it is taken already. */
export async function takeUnsentMessage(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const rows = await db.run(takeUnsent, [organizationId, id])
  return rows.length > 0
}

/**
 * Lets a claimed message wait for somebody because its time is long past, unless it is recorded, and raises
 * message.scheduled.
 */
export async function pauseLateScheduled(db: Queryable, organizationId: string, id: string): Promise<void> {
  await db.raise(pause, [organizationId, id, newId()], [organizationId])
}

/** How a scheduled message has ended; `error`: why it failed. */
export interface ScheduledEnd {
  status: 'sent' | 'failed'
  error: MessageError | null
  at: Date
}

/** Marks a scheduled message as ended, whose message is recorded. */
export async function finishScheduled(
  db: Queryable,
  organizationId: string,
  id: string,
  { status, error, at }: ScheduledEnd,
): Promise<void> {
  await db.run(finish, [organizationId, id, status, error && JSON.stringify(error), at])
}

/**
 * Records a claimed message that cannot be sent as failed, in its conversation, and raises message.failed. False, and
 * nothing is recorded, if it is not claimed. Fails with a unique violation if its message is recorded.
 */
export async function failScheduled(
  db: Queryable,
  organizationId: string,
  { id, shown }: Pick<Scheduled, 'id' | 'shown'>,
  { error, at, asked }: { error: MessageError; at: Date; asked: AskedNote },
): Promise<boolean> {
  const type = gatewayType({ message_type: shown.message_type, content: shown.content, network: null })
  const notes = [asked, { k: 'settled', at: at.getTime() }].map((note) => JSON.stringify(note))
  const values = [organizationId, id, JSON.stringify(error), at, newId(), type, mediaExpiry(at), ...notes]
  const [row] = await db.raise(fail, values, [organizationId])
  return row?.is_recorded === true
}
