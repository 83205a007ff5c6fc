import { MAX_NOTES } from '../../model/messages/trace.js'
import { EVENT_TRANSACTION_ID } from '../events/transaction-clock.js'
import { WRITES_AS_BEFORE } from '../processes/version-before.js'

// `note` is SQL of type jsonb: a note, with the line that replaces it if it has one (writeNote in model/messages/trace).

/**
 * SQL: the notes of the message `m` with a further one, which names this transaction: the events that it raises are
 * found by that.
 */
export function withNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || ${named(note)}`
}

/** SQL: the notes of a new message, the only one of which names this transaction. */
export function onlyNote(note: string): string {
  return `jsonb_build_array(${named(note)})`
}

/** SQL: the same, of a message that raises no event yet. */
export function firstNote(note: string): string {
  return `jsonb_build_array(CASE WHEN ${hasNoLine(note)} THEN ${note} - 'line' ELSE ${note} -> 'line' END)`
}

/** SQL: the notes of the message `m` with one of a callback that changes nothing. */
export function withIdleNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || CASE WHEN ${hasNoLine(note)} THEN (${note} - 'line') || '{"idle": true}'
       ELSE to_jsonb((${note} ->> 'line') || ' idle') END`
}

/** SQL condition: no note of the message `m` says the same as one of a callback, whenever that was. */
export function lacksCallbackNote(m: string, note: string): string {
  return `NOT coalesce(${m}.trace, '[]') @> jsonb_build_array(${note} - ARRAY['at', 'done', 'said', 'line'])
       AND NOT EXISTS (
         SELECT FROM jsonb_array_elements_text(coalesce(${m}.trace, '[]')) AS noted (line)
         WHERE starts_with(noted.line, concat_ws(' ', 'callback', ${note} ->> 'id', coalesce(${note} ->> 'status', '-')) || ' ')
       )`
}

/** SQL condition: the message `m` has room for a note that describes no change of it. */
export function hasRoomForNote(m: string): string {
  return `coalesce(jsonb_array_length(${m}.trace), 0) < ${MAX_NOTES}`
}

function named(note: string): string {
  return `CASE WHEN ${hasNoLine(note)} THEN (${note} - 'line') || jsonb_build_object('x', ${EVENT_TRANSACTION_ID}::text)
       ELSE to_jsonb((${note} ->> 'line') || ' ' || ${EVENT_TRANSACTION_ID}::text) END`
}

function hasNoLine(note: string): string {
  return `${WRITES_AS_BEFORE} OR NOT ${note} ? 'line'`
}
