import { MAX_NOTES } from '../../model/messages/trace.js'
import { EVENT_TRANSACTION_ID } from '../events/transaction-clock.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'

/**
 * SQL: the notes of the message `m` with a further one (SQL of type jsonb), which names this transaction: the events that
 * it raises are found by that.
 */
export function withNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || (${note} || jsonb_build_object('x', ${EVENT_TRANSACTION_ID}::text))`
}

/** The same for the note of a callback. */
export function withCallbackNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || ${storedCallback(note)}`
}

/** SQL: the first note of a message that a callback brought, as an array. */
export function onlyCallbackNote(note: string): string {
  return `jsonb_build_array(${storedCallback(note)})`
}

/** SQL: the notes of the message `m` with one of a callback that changes nothing. */
export function withIdleNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || CASE WHEN ${WRITES_AS_BEFORE} THEN ${note} || '{"idle": true}'
       ELSE to_jsonb(${writtenCallback(note, "'-'")} || ' idle') END`
}

/** SQL condition: no note of the message `m` says the same as one of a callback, whenever that was. */
export function lacksCallbackNote(m: string, note: string): string {
  return `NOT coalesce(${m}.trace, '[]') @> jsonb_build_array(${note} - ARRAY['at', 'done', 'said'])
       AND NOT EXISTS (
         SELECT FROM jsonb_array_elements_text(coalesce(${m}.trace, '[]')) AS noted (line)
         WHERE starts_with(noted.line, ${namedCallback(note)} || ' ')
       )`
}

/** SQL condition: the message `m` has room for a note that describes no change of it. */
export function hasRoomForNote(m: string): string {
  return `coalesce(jsonb_array_length(${m}.trace), 0) < ${MAX_NOTES}`
}

function storedCallback(note: string): string {
  return `CASE WHEN ${WRITES_AS_BEFORE} THEN ${note} || jsonb_build_object('x', ${EVENT_TRANSACTION_ID}::text)
       ELSE to_jsonb(${writtenCallback(note, `${EVENT_TRANSACTION_ID}::text`)}) END`
}

/** SQL: the note of a callback as text (readNote in model/messages/trace): every message has some, so they are short. */
function writtenCallback(note: string, transactionId: string): string {
  return `concat_ws(' ', ${namedCallback(note)}, ${note} ->> 'at', (${note} ->> 'done')::bigint - (${note} ->> 'at')::bigint,
         ${transactionId}, coalesce(${note} ->> 'said', '-'))`
}

function namedCallback(note: string): string {
  return `concat_ws(' ', 'callback', ${note} ->> 'id', coalesce(${note} ->> 'status', '-'))`
}
