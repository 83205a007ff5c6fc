import type { Context } from '../../context.js'
import type { ThreadRow } from '../../model/conversations/inbox.js'
import type { NoteRow } from '../../model/conversations/note.js'
import { listNotes } from '../../storage/conversations/notes.js'
import { listThreadMessages } from '../../storage/conversations/threads.js'
import { requireContact } from './find.js'

/** Which part of a thread: before, after or around a number (only `around` includes the number); null: its end. */
export type ThreadPlace = { at: 'before' | 'after' | 'around'; seq: number } | null

/**
 * A part of a thread: messages in ascending order, the notes below them, and the number of the newest message of the
 * thread.
 */
export interface Thread {
  messages: ThreadRow[]
  notes: NoteRow[]
  lastSeq: number
}

/** Per part. */
const MAX_NOTES = 1_000

/** A part of the conversation with a contact. Throws contact_not_found. */
export async function readThread(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  contactId: string,
  place: ThreadPlace,
  limit: number,
): Promise<Thread> {
  const { last_seq: lastSeq } = await requireContact(ctx, organizationId, contactId)
  const range = rangeOf(place, limit, lastSeq)
  const noted = { from: range.from === 1 ? 0 : range.from, to: range.to }
  const [messages, notes] = await Promise.all([
    range.from > range.to ? [] : listThreadMessages(ctx.database, organizationId, contactId, range),
    listNotes(ctx.database, organizationId, contactId, noted, MAX_NOTES),
  ])
  return { messages, notes, lastSeq }
}

/** The numbers of a conversation have no gaps, so a part is a range of numbers. */
function rangeOf(place: ThreadPlace, limit: number, lastSeq: number): { from: number; to: number } {
  const from = beginOf(place, limit, lastSeq)
  const to = place?.at === 'before' ? Math.min(place.seq - 1, lastSeq) : Math.min(from + limit - 1, lastSeq)
  return { from, to }
}

function beginOf(place: ThreadPlace, limit: number, lastSeq: number): number {
  const last = Math.max(1, lastSeq - limit + 1)
  switch (place?.at) {
    case 'before':
      return Math.max(1, Math.min(place.seq - 1, lastSeq) - limit + 1)
    case 'after':
      return place.seq + 1
    case 'around':
      // A part at either end of the conversation is as long as any other.
      return Math.max(1, Math.min(place.seq - Math.floor(limit / 2), last))
    default:
      return last
  }
}
