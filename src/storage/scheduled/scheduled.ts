import type { Queryable } from '../../database/pool.js'
import { ofOrganization, statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import {
  MAX_SCHEDULED,
  MAX_SCHEDULED_BYTES,
  type Scheduled,
  type ScheduledCause,
  type ScheduledCommand,
  type ScheduledLooks,
  type ShownScheduled,
} from '../../model/messages/scheduled.js'
import { type RaisedEvents, raiseEvents } from '../events/raise.js'
import { enqueueJobs, withdrawJob } from '../jobs/enqueue.js'

/** The error that a message that waits has from the deletion of its instance on. */
const NO_INSTANCE = `'{"code": "instance_not_found", "text": "The instance that was to send the message is deleted"}'::jsonb`

/** What lists and events have of the scheduled message `s`, its contact `c` and its instance `i`, but its looks. */
const BASE_COLUMNS = `s.id, s.contact_id, c.chat_id, i.name AS instance, s.member_id, s.status, s.reason,
  CASE WHEN s.ended_at IS NULL AND s.instance_id IS NOT NULL AND i.id IS NULL THEN ${NO_INSTANCE} ELSE s.error END AS error,
  s.scheduled_at, s.created_at`

const SHOWN_COLUMNS = `${BASE_COLUMNS}, s.shown - 'content' AS shown`

const COLUMNS = `${BASE_COLUMNS}, s.shown, s.instance_id, s.command, s.has_file, s.cause, s.unsent`

/** SQL: the rows `s` with their contacts and instances. */
const joined = (rows: string) => `${rows} s
   JOIN contacts c ON ${ofOrganization('c.organization_id', '$1::uuid')} AND c.id = s.contact_id
   LEFT JOIN instances i ON ${ofOrganization('i.organization_id', '$1::uuid')} AND i.id = s.instance_id`

/** SQL: the job that sends the one row of `from` with the id $2; a little late, as that of enqueueStart. */
const enqueueSend = (from: string) =>
  enqueueJobs({
    task: 'send_scheduled',
    key: '$2::uuid',
    payload: "jsonb_build_object('scheduledId', $2::uuid)",
    from,
    runAt: `${from}.scheduled_at + interval '200 milliseconds'`,
  })

/** An event about the one row of `from`; `type` and `id` are SQL. */
export const scheduledEvent = (from: string, type: string, id: string): RaisedEvents => ({
  from: `(SELECT ${SHOWN_COLUMNS}, c AS contact FROM ${joined(from)}) e`,
  id,
  type,
  contactId: 'e.contact_id',
  data: "jsonb_build_object('scheduled', to_jsonb(e) - 'contact', 'contact', to_jsonb(e.contact))",
})

/** SQL: whether a further message of so many bytes may wait; counted up to the limit. */
const hasRoomFor = (size: string) => `(
       SELECT count(*) < ${MAX_SCHEDULED} AND coalesce(sum(waiting.size), 0) + ${size} <= ${MAX_SCHEDULED_BYTES} FROM (
         SELECT size FROM scheduled_messages WHERE organization_id = $1 AND ended_at IS NULL LIMIT ${MAX_SCHEDULED}
       ) waiting
     )`

const hasRoom = statement<{ has_room: boolean }>('scheduled.hasRoom', `SELECT ${hasRoomFor('1')} AS has_room`)

// The lock keeps the contact from being merged or erased meanwhile. Requests of the same moment may pass the limit by
// as many as there are of them.
const insert = statement<{ has_contact: boolean; has_room: boolean }>(
  'scheduled.insert',
  `WITH contact AS (
     SELECT id FROM contacts WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $3 FOR KEY SHARE
   ), room AS (
     SELECT ${hasRoomFor('$13::bigint')} AS is_free
   ), inserted AS (
     INSERT INTO scheduled_messages (organization_id, id, contact_id, instance_id, member_id, command, shown, has_file, cause,
       status, scheduled_at, created_at, size)
     SELECT $1, $2, contact.id, $4, $5, $6, $7, $8, $9, 'scheduled', $10, $11, $13
     FROM contact, room WHERE room.is_free
     RETURNING *
   ), kept AS (
     UPDATE media SET message_id = $2 WHERE organization_id = $1 AND id = $2 AND EXISTS (SELECT FROM inserted)
   ), job AS (
     ${enqueueSend('inserted')}
   ), raised AS (
     ${raiseEvents(scheduledEvent('inserted', "'message.scheduled'", '$12'))}
   )
   SELECT EXISTS (SELECT FROM contact) AS has_contact, (SELECT is_free FROM room) AS has_room`,
  { raises: 'events', enqueues: 'later' },
)

const find = statement<Scheduled>(
  'scheduled.find',
  `SELECT ${COLUMNS}
   FROM ${joined(`(SELECT * FROM scheduled_messages WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2)`)}`,
)

const list = statement<ShownScheduled>(
  'scheduled.list',
  `SELECT ${SHOWN_COLUMNS}
   FROM ${joined(`(
     SELECT * FROM scheduled_messages
     WHERE organization_id = $1 AND ended_at IS NULL
       AND ($2::uuid IS NULL OR contact_id = $2) AND ($3::text IS NULL OR status = $3)
     ORDER BY scheduled_at, id
     LIMIT $4 OFFSET $5
   )`)}
   ORDER BY s.scheduled_at, s.id`,
)

const count = statement<{ count: number }>(
  'scheduled.count',
  `SELECT count(*) FROM scheduled_messages
   WHERE organization_id = $1 AND ended_at IS NULL
     AND ($2::uuid IS NULL OR contact_id = $2) AND ($3::text IS NULL OR status = $3)`,
)

// A job that waits for an earlier time looks at the row then, and waits for the new one.
const change = statement<{ id: string }>(
  'scheduled.change',
  `WITH changed AS (
     UPDATE scheduled_messages
     SET scheduled_at = coalesce($3, scheduled_at), status = CASE WHEN $3 IS NULL THEN status ELSE 'scheduled' END,
       reason = CASE WHEN $3 IS NULL THEN reason END, error = CASE WHEN $3 IS NULL THEN error END,
       command = CASE WHEN $4::text IS NULL THEN command ELSE jsonb_set(command, '{content,text}', to_jsonb($4)) END,
       shown = CASE WHEN $4 IS NULL THEN shown ELSE jsonb_set(shown, '{text}', to_jsonb($4)) END
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 AND status IN ('scheduled', 'paused')
     RETURNING *
   ), job AS (
     ${enqueueSend('changed')}
   ), raised AS (
     ${raiseEvents(scheduledEvent('changed', "'message.scheduled'", '$5'))}
   )
   SELECT id FROM changed`,
  { raises: 'events', enqueues: 'later' },
)

/** SQL: how a message without words shows. */
export const FORGET_LOOKS = `shown || '{"text": "", "content": null}'`

// Only the console is told: a cancelled message has had no effect. Nothing of it is kept, unless the organization is
// under a legal hold.
const cancel = statement<{ id: string }>(
  'scheduled.cancel',
  `WITH waiting AS (
     SELECT id, has_file, (SELECT legal_hold IS NOT NULL FROM organizations WHERE id = $1) AS is_kept
     FROM scheduled_messages
     WHERE ${ofOrganization('organization_id', '$1::uuid')} AND id = $2 AND status IN ('scheduled', 'paused')
     FOR UPDATE
   ), cancelled AS (
     UPDATE scheduled_messages s
     SET status = 'cancelled', ended_at = $3, has_file = s.has_file AND is_kept,
       command = CASE WHEN is_kept THEN command ELSE '{}' END, shown = CASE WHEN is_kept THEN shown ELSE ${FORGET_LOOKS} END
     FROM waiting
     WHERE ${ofOrganization('s.organization_id', '$1::uuid')} AND s.id = waiting.id
     RETURNING s.*
   ), job AS (
     ${withdrawJob('send_scheduled', '(SELECT id::text FROM waiting)')}
   ), files AS (
     DELETE FROM media
     WHERE organization_id = $1 AND id = $2 AND EXISTS (SELECT FROM waiting WHERE has_file AND NOT is_kept)
   ), files_job AS (
     ${enqueueJobs({
       task: 'remove_media',
       from: 'waiting WHERE has_file AND NOT is_kept',
       payload: "jsonb_build_object('mediaIds', jsonb_build_array(waiting.id))",
     })}
   ), raised AS (
     ${raiseEvents(scheduledEvent('cancelled', "'scheduled.cancelled'", '$4'))}
   )
   SELECT id FROM cancelled`,
  { raises: 'events', enqueues: 'now' },
)

/** A message to be sent later. */
export interface NewScheduled {
  id: string
  contactId: string
  instanceId: string | null
  memberId: string | null
  command: ScheduledCommand
  shown: ScheduledLooks
  /** The size of its file in bytes, which is stored under its id; null: it has none. */
  fileSize: number | null
  cause: ScheduledCause
  scheduledAt: Date
  createdAt: Date
}

/** Whether a further message may wait. */
export async function hasRoomForScheduled(db: Queryable, organizationId: string): Promise<boolean> {
  const [row] = await db.run(hasRoom, [organizationId])
  return row?.has_room === true
}

/**
 * Stores a message to be sent later, enqueues the job that sends it, and raises message.scheduled. `no_contact`: the
 * contact is gone; `too_many`: more than MAX_SCHEDULED or MAX_SCHEDULED_BYTES would wait. Fails with a unique violation
 * if the id is taken.
 */
export async function insertScheduled(
  db: Queryable,
  organizationId: string,
  scheduled: NewScheduled,
): Promise<'inserted' | 'no_contact' | 'too_many'> {
  const command = JSON.stringify(scheduled.command)
  const shown = JSON.stringify(scheduled.shown)
  const size = (scheduled.fileSize ?? 0) + Buffer.byteLength(command) + Buffer.byteLength(shown)
  const values = [
    organizationId,
    scheduled.id,
    scheduled.contactId,
    scheduled.instanceId,
    scheduled.memberId,
    command,
    shown,
    scheduled.fileSize !== null,
    JSON.stringify(scheduled.cause),
    scheduled.scheduledAt,
    scheduled.createdAt,
    newId(),
    size,
  ]
  const [row] = await db.raise(insert, values, [organizationId])
  if (row?.has_contact !== true) return 'no_contact'
  return row.has_room ? 'inserted' : 'too_many'
}

/** One scheduled message by its id, ended or not; null if there is none. */
export async function findScheduled(db: Queryable, organizationId: string, id: string): Promise<Scheduled | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/** A page of the messages that wait, the next one first, and their number. Null: no filter. */
export async function listScheduled(
  db: Queryable,
  organizationId: string,
  {
    contactId,
    status,
    limit,
    offset,
  }: { contactId: string | null; status: string | null; limit: number; offset: number },
): Promise<{ scheduled: ShownScheduled[]; total: number }> {
  const scheduled = await db.run(list, [organizationId, contactId, status, limit, offset])
  const [row] = await db.run(count, [organizationId, contactId, status])
  return { scheduled, total: row?.count ?? 0 }
}

/**
 * Changes the time, the text, or both, of a message that waits, and raises message.scheduled; with a new time, a paused
 * one is scheduled again. Null: unchanged. False if it does not wait.
 */
export async function changeScheduled(
  db: Queryable,
  organizationId: string,
  id: string,
  { scheduledAt, text }: { scheduledAt: Date | null; text: string | null },
): Promise<boolean> {
  const rows = await db.raise(change, [organizationId, id, scheduledAt, text, newId()], [organizationId])
  return rows.length > 0
}

/** Cancels a message that waits, and removes its file; false if it does not wait. */
export async function cancelScheduled(db: Queryable, organizationId: string, id: string, at: Date): Promise<boolean> {
  const rows = await db.raise(cancel, [organizationId, id, at, newId()], [organizationId])
  return rows.length > 0
}
