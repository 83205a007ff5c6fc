import type { Context } from '../../context.js'
import type { ThreadRow } from '../../model/conversations/inbox.js'
import type { NoteRow } from '../../model/conversations/note.js'
import { listNotes } from '../../storage/inbox/notes.js'
import { listThreadMessages } from '../../storage/inbox/threads.js'
import { requireContact } from '../contacts/find.js'

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
  /** The number of the oldest message that is kept, or will be the first. */
  firstSeq: number
}

/** A part of the conversation with a contact. Throws contact_not_found. */
export async function readThread(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  contactId: string,
  { place, limit }: { place: ThreadPlace; limit: number },
): Promise<Thread> {
  const { last_seq: lastSeq, pruned_seq } = await requireContact(ctx, organizationId, contactId)
  const ends = { firstSeq: pruned_seq + 1, lastSeq }
  const range = rangeOf(place, limit, ends)
  // Notes below deleted messages come before the first one that is kept.
  const noted = { from: range.from <= ends.firstSeq ? Number.MIN_SAFE_INTEGER : range.from, to: range.to }
  const [messages, notes] = await Promise.all([
    range.from > range.to ? [] : listThreadMessages(ctx.database, organizationId, contactId, range),
    listNotes(ctx.database, organizationId, contactId, noted),
  ])
  return { messages, notes, ...ends }
}

type Ends = Pick<Thread, 'firstSeq' | 'lastSeq'>

/** The numbers of a conversation have no gaps, so a part is a range of numbers. */
function rangeOf(place: ThreadPlace, limit: number, ends: Ends): { from: number; to: number } {
  const { lastSeq } = ends
  const from = beginOf(place, limit, ends)
  const to = place?.at === 'before' ? Math.min(place.seq - 1, lastSeq) : Math.min(from + limit - 1, lastSeq)
  return { from, to }
}

function beginOf(place: ThreadPlace, limit: number, { firstSeq, lastSeq }: Ends): number {
  const last = Math.max(firstSeq, lastSeq - limit + 1)
  switch (place?.at) {
    case 'before':
      return Math.max(firstSeq, Math.min(place.seq - 1, lastSeq) - limit + 1)
    case 'after':
      return Math.max(firstSeq, place.seq + 1)
    case 'around':
      // A part at either end of the conversation is as long as any other.
      return Math.max(firstSeq, Math.min(place.seq - Math.floor(limit / 2), last))
    default:
      return last
  }
}
