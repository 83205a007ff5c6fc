import { MAX_NOTES } from '../../model/messages/trace.js'
import { EVENT_TRANSACTION_ID } from '../events/transaction-clock.js'

/**
 * SQL: the notes of the message `m` with a further one (SQL of type jsonb), which names this transaction: the events that
 * it raises are found by that.
 */
export function withNote(m: string, note: string): string {
  return `coalesce(${m}.trace, '[]') || (${note} || jsonb_build_object('x', ${EVENT_TRANSACTION_ID}::text))`
}

/** SQL condition: the message `m` has room for a note that describes no change of it. */
export function hasRoomForNote(m: string): string {
  return `coalesce(jsonb_array_length(${m}.trace), 0) < ${MAX_NOTES}`
}
