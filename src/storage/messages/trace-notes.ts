import { MAX_NOTES } from '../../model/messages/trace.js'
import { EVENT_TRANSACTION_ID } from '../events/transaction-clock.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'

// The newest note comes first, in the last column of the row, so that an update does not write the older notes to
// PostgreSQL's log again (docs/decisions/message-trace.md). Processes of 1.0 read another column, the oldest note first.

/** SQL: the values of the columns `trace, notes` of a new message with these notes (SQL of type jsonb), in order. */
export function firstNotes(...notes: readonly string[]): string {
  return `CASE WHEN ${WRITES_AS_BEFORE} THEN jsonb_build_array(${notes.join(', ')}) END,
       CASE WHEN NOT ${WRITES_AS_BEFORE} THEN jsonb_build_array(${[...notes].reverse().join(', ')}) END`
}

/** SQL: the assignments that add a note (SQL of type jsonb; NULL: none) to the message `m`. */
export function addNote(m: string, note: string): string {
  return `trace = CASE WHEN ${WRITES_AS_BEFORE} THEN coalesce(coalesce(${m}.trace, '[]') || ${note}, ${m}.trace) ELSE ${m}.trace END,
       notes = CASE WHEN ${WRITES_AS_BEFORE} THEN ${m}.notes ELSE coalesce(${note} || coalesce(${m}.notes, '[]'), ${m}.notes) END`
}

/** The same with a note of a change of the message. */
export function addNoteOfChange(m: string, note: string): string {
  return addNote(m, noteOfChange(note))
}

/** The same with a note of a callback that changed nothing. */
export function addIdleNote(m: string, note: string): string {
  return addNote(m, `(${note} || '{"idle": true}')`)
}

/** SQL: a note that names this transaction: the events that the change raises are found by that. */
export function noteOfChange(note: string): string {
  return `(${note} || jsonb_build_object('x', ${EVENT_TRANSACTION_ID}::text))`
}

/** SQL condition: the message `m` has room for the note of a callback that changed nothing, and does not have it yet. */
export function takesIdleNote(m: string, note: string): string {
  return `${hasRoomForNote(m)} AND NOT ${notesOf(m)} @> jsonb_build_array(${note} - ARRAY['at', 'done', 'said'])`
}

/** SQL condition: the message `m` has room for a note that describes no change of it. */
export function hasRoomForNote(m: string): string {
  return `jsonb_array_length(${notesOf(m)}) < ${MAX_NOTES}`
}

/** SQL: all notes of the message `m`, in no order. */
function notesOf(m: string): string {
  return `(coalesce(${m}.trace, '[]') || coalesce(${m}.notes, '[]'))`
}
