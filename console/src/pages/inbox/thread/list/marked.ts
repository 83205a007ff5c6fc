/** A message up to which a conversation is read. */
export interface Mark {
  id: string
  seq: number
}

/**
 * Whether a conversation that was marked as read up to `last` is to be marked up to `newest`. The history of a phone
 * gives messages numbers below 1, and a number may pass to another message.
 */
export function isToMark(last: Mark | undefined, newest: Mark): boolean {
  return last === undefined || (newest.id !== last.id && newest.seq >= last.seq)
}
