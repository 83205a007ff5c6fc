import type { PendingSend } from '../../composer/pending-sends.js'
import { placeOfWish, type Wish } from '../../contact/wish.js'
import { startsOfStandby } from '../holder.js'
import { type Note, seqOf, type ThreadMessage, type ThreadWindow } from '../window.js'

/** An item of the list: a message with its notes and grouping. */
export interface Entry {
  /** The message's number. Pending sends follow the newest message. */
  seq: number
  message: ThreadMessage
  /** The pending send, if the message is not recorded yet. */
  pending: PendingSend | null
  /** Notes above the conversation's first message. */
  notesAbove: Note[]
  /** Notes below the message. */
  notes: Note[]
  /** The wish about marketing messages that came after the message, and before the next one. */
  wish: Wish | null
  /** Whether another app answers from this message on, and no hand-over before it says so. */
  startsStandby: boolean
  /** Whether it is the first message of its day. */
  startsDay: boolean
  /** Whether it continues a group: the previous message has the same sender and is recent. */
  continues: boolean
  /** Whether the next message continues the group. */
  isContinued: boolean
}

/** Maximum time between messages of a group. */
const GROUP_MS = 5 * 60_000

/** The items of the list, in order. */
export function toEntries(
  { messages, notes, first_seq, last_seq }: ThreadWindow,
  pendingSends: readonly PendingSend[],
  wish: Wish | null = null,
): Entry[] {
  const notesBySeq = groupNotes(notes, first_seq)
  const entries = [
    ...messages.map((message) => toEntry(message, seqOf(message), null, notesBySeq)),
    ...pendingSends.map((item, n) => toEntry(item.preview, last_seq + 1 + n, item, notesBySeq)),
  ]
  const [first] = entries
  if (first?.seq === first_seq) first.notesAbove = notesBySeq.get(first_seq - 1) ?? []
  const isEndLoaded = (entries.at(-1)?.seq ?? last_seq) >= last_seq
  const shown = entries.map((entry) => entry.message)
  const starts = startsOfStandby(shown, first?.seq === first_seq)
  const wishPlace = wish && placeOfWish(wish, shown, isEndLoaded)
  entries.forEach((entry, n) => {
    entry.startsStandby = starts.has(n)
    entry.wish = wishPlace === n ? wish : null
    const before = entries[n - 1]
    entry.startsDay = before === undefined || !isSameDay(before.message, entry.message)
    entry.continues = before !== undefined && !entry.startsDay && isGroup(before, entry)
    if (before) before.isContinued = entry.continues
  })
  return entries
}

/** Notes by the number of the message that they are below; those before the first message are below the number before it. */
function groupNotes(notes: Note[], firstSeq: number): Map<number, Note[]> {
  const groups = new Map<number, Note[]>()
  for (const note of notes) {
    const seq = Math.max(note.after_seq, firstSeq - 1)
    groups.set(seq, [...(groups.get(seq) ?? []), note])
  }
  return groups
}

function toEntry(
  message: ThreadMessage,
  seq: number,
  pending: PendingSend | null,
  notesBySeq: Map<number, Note[]>,
): Entry {
  return {
    seq,
    message,
    pending,
    notesAbove: [],
    // Notes below a pending send appear below the recorded message.
    notes: pending ? [] : (notesBySeq.get(seq) ?? []),
    wish: null,
    startsStandby: false,
    startsDay: false,
    continues: false,
    isContinued: false,
  }
}

function isSameDay(a: ThreadMessage, b: ThreadMessage): boolean {
  return new Date(a.created_at).toDateString() === new Date(b.created_at).toDateString()
}

function isGroup(before: Entry, { message }: Entry): boolean {
  const apart = Date.parse(message.created_at) - Date.parse(before.message.created_at)
  return before.notes.length === 0 && apart < GROUP_MS && senderOf(before.message) === senderOf(message)
}

function senderOf({ sender_type, assignee, instance, handled_by }: ThreadMessage): string {
  return [sender_type, sender_type === 'user-chat' ? '' : assignee?.id, instance, handled_by].join(' ')
}

/** Whether both entries render the same. */
export function isSameEntry(a: Entry, b: Entry): boolean {
  const hasSameNotes = (x: Note[], y: Note[]) => x.length === y.length && x.every((note, n) => note === y[n])
  return (
    a.message === b.message &&
    a.pending === b.pending &&
    a.seq === b.seq &&
    a.wish?.at === b.wish?.at &&
    a.wish?.words === b.wish?.words &&
    a.startsStandby === b.startsStandby &&
    a.startsDay === b.startsDay &&
    a.continues === b.continues &&
    a.isContinued === b.isContinued &&
    hasSameNotes(a.notes, b.notes) &&
    hasSameNotes(a.notesAbove, b.notesAbove)
  )
}
