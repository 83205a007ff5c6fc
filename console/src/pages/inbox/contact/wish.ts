import type { InboxContact } from '../../../../../src/model/conversations/inbox.js'

/** What a contact last said about marketing messages, and did not take back. */
export interface Wish {
  wants: 'stop' | 'resume'
  /** ISO 8601 */
  at: string
  /** Where it was said: in WhatsApp, by a reply, on an imported list. Null: it is not known. */
  source: InboxContact['opt_out_source']
  /** The exact words; null if there are none. */
  words: string | null
}

/** The contact's last wish; null if it had none. */
export function wishOf({ opted_out_at, opted_in_at, opt_out_source, consent_words: words }: InboxContact): Wish | null {
  if (opted_out_at !== null) return { wants: 'stop', at: opted_out_at, source: opt_out_source, words }
  return opted_in_at === null ? null : { wants: 'resume', at: opted_in_at, source: null, words }
}

/**
 * The index of the last message before the wish; null if that or the next one is not loaded, or if the conversation shows
 * the wish as a message, as it shows a reply.
 */
export function placeOfWish(
  { wants, at, source, words }: Wish,
  messages: readonly { created_at: string }[],
  isEndLoaded: boolean,
): number | null {
  const isBeside = wants === 'stop' ? source === 'upstream' : words !== null
  const place = messages.findLastIndex(({ created_at }) => created_at <= at)
  return isBeside && place !== -1 && (isEndLoaded || place < messages.length - 1) ? place : null
}
