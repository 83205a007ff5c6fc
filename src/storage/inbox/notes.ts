import type { Queryable } from '../../database/pool.js'
import { statement } from '../../database/statement.js'
import { newId } from '../../lib/bytes/id.js'
import type { NoteRow } from '../../model/conversations/note.js'
import { raiseEvents } from '../events/raise.js'

/** All columns of a note. */
const COLUMNS = 'organization_id, id, contact_id, after_seq, member_id, text, created_at'

// The locks keep the contact from being merged or erased meanwhile, and the author from leaving the team. The event
// names the note's place in the conversation.
const insert = statement<NoteRow>(
  'notes.insert',
  `WITH contact AS (
     SELECT id, last_seq FROM contacts WHERE organization_id = $1 AND id = $2 FOR KEY SHARE
   ), author AS (
     SELECT id FROM members WHERE organization_id = $1 AND id = $4 FOR KEY SHARE
   ), inserted AS (
     INSERT INTO notes (organization_id, id, contact_id, after_seq, member_id, text, event_seq)
     SELECT $1, $3, contact.id, contact.last_seq, (SELECT id FROM author), $5, nextval('events_seq') FROM contact
     RETURNING ${COLUMNS}, event_seq
   ), event AS (
     ${raiseEvents({
       from: 'inserted',
       seq: 'event_seq',
       id: '$6',
       type: "'note.created'",
       contactId: 'contact_id',
       data: "jsonb_build_object('note', to_jsonb(inserted) - 'event_seq')",
     })}
   )
   SELECT ${COLUMNS} FROM inserted`,
  { raises: 'events' },
)

const find = statement<NoteRow>('notes.find', `SELECT ${COLUMNS} FROM notes WHERE organization_id = $1 AND id = $2`)

// The text is removed from the note.created event too, so that late readers of the feed do not get it.
const remove = statement<{ id: string }>(
  'notes.remove',
  `WITH removed AS (
     DELETE FROM notes WHERE organization_id = $1 AND id = $2 RETURNING ${COLUMNS}, event_seq
   ), blanked AS (
     UPDATE events SET data = jsonb_set(data, '{note,text}', '""')
     WHERE organization_id = $1 AND seq = (SELECT event_seq FROM removed)
   ), event AS (
     ${raiseEvents({
       from: 'removed',
       id: '$3',
       type: "'note.deleted'",
       contactId: 'contact_id',
       data: `jsonb_build_object('note', to_jsonb(removed) - 'event_seq' || '{"text": ""}')`,
     })}
   )
   SELECT id FROM removed`,
  { raises: 'events' },
)

/** Per range. */
const MAX_NOTES = 1_000

const list = statement<NoteRow>(
  'notes.list',
  `SELECT ${COLUMNS} FROM notes
   WHERE organization_id = $1 AND contact_id = $2 AND after_seq BETWEEN $3 AND $4
   ORDER BY after_seq DESC, id DESC
   LIMIT $5`,
)

/** Writes a note below the newest message of a contact, and raises note.created; null if there is no such contact. */
export async function insertNote(
  db: Queryable,
  organizationId: string,
  { id, contactId, memberId, text }: { id: string; contactId: string; memberId: string; text: string },
): Promise<NoteRow | null> {
  const rows = await db.raise(insert, [organizationId, contactId, id, memberId, text, newId()], [organizationId])
  return rows[0] ?? null
}

/** One note by its id, or null. */
export async function findNote(db: Queryable, organizationId: string, id: string): Promise<NoteRow | null> {
  const rows = await db.run(find, [organizationId, id])
  return rows[0] ?? null
}

/** Deletes a note, and raises note.deleted; false if there is none. */
export async function deleteNote(db: Queryable, organizationId: string, id: string): Promise<boolean> {
  const rows = await db.raise(remove, [organizationId, id, newId()], [organizationId])
  return rows.length > 0
}

/**
 * The notes of a contact below the messages whose numbers are in the range (both ends included), the last
 * `MAX_NOTES` of them, in order.
 */
export async function listNotes(
  db: Queryable,
  organizationId: string,
  contactId: string,
  { from, to }: { from: number; to: number },
): Promise<NoteRow[]> {
  const rows = await db.run(list, [organizationId, contactId, from, to, MAX_NOTES])
  return rows.reverse()
}
