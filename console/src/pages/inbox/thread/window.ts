import type { Note, ThreadMessage } from '../../../../../src/model/conversations/inbox.js'

export type { Note, ThreadMessage }

/** A page of a conversation, as the service returns it. */
export interface ThreadPage {
  /** Ascending by number, without gaps. */
  messages: ThreadMessage[]
  notes: Note[]
  /** The number of the conversation's oldest message that is kept. */
  first_seq: number
  /** The number of the conversation's newest message. */
  last_seq: number
}

/** The loaded part of a conversation: one run of messages without gaps. */
export type ThreadWindow = ThreadPage

/** Maximum number of loaded messages; those far from the reader are dropped. */
const MAX_LOADED = 1_000

/** The message's number, which every message of a thread has. */
export function seqOf({ seq }: ThreadMessage): number {
  return seq ?? 0
}

/** Reads the number of a message in a URL; null: there is none. Those of the history of a phone are below 1. */
export function readSeq(given: string | null): number | null {
  return given !== null && /^-?[0-9]+$/.test(given) && Number.isSafeInteger(Number(given)) ? Number(given) : null
}

/** The number of the first loaded message. Without messages, the number of the next one. */
export function firstSeq({ messages, last_seq }: ThreadWindow): number {
  return messages[0]?.seq ?? last_seq + 1
}

/** The number of the last loaded message. */
export function lastLoaded({ messages, last_seq }: ThreadWindow): number {
  return messages.at(-1)?.seq ?? last_seq
}

/** Whether the message of this number is loaded. */
export function isLoaded(window: ThreadWindow, seq: number): boolean {
  return seq >= firstSeq(window) && seq <= lastLoaded(window)
}

/** Whether the newest message is loaded. */
export function isAtEnd(window: ThreadWindow): boolean {
  return lastLoaded(window) >= window.last_seq
}

/** Whether the page overlaps or adjoins the window. */
export function touches(loaded: ThreadWindow, { messages }: ThreadPage): boolean {
  const [first, last] = [messages[0], messages.at(-1)]
  if (!first || !last) return true
  if (loaded.messages.length === 0) return false
  return seqOf(first) <= lastLoaded(loaded) + 1 && seqOf(last) >= firstSeq(loaded) - 1
}

/** The window with a page; unchanged if the page neither overlaps nor adjoins it. `side` as in withPage. */
export function joined(window: ThreadWindow, page: ThreadPage, side: 'older' | 'newer'): ThreadWindow {
  return touches(window, page) ? withPage(window, page, side) : window
}

/**
 * The window with a page that overlaps or adjoins it. `side`: where the reader is; messages at the other end are
 * dropped.
 */
export function withPage(loaded: ThreadWindow, page: ThreadPage, side: 'older' | 'newer'): ThreadWindow {
  const bySeq = new Map(loaded.messages.map((message) => [seqOf(message), message]))
  for (const message of page.messages) bySeq.set(seqOf(message), merged(bySeq.get(seqOf(message)), message))
  const all = [...bySeq.values()].sort((a, b) => seqOf(a) - seqOf(b))
  const messages = side === 'older' ? all.slice(0, MAX_LOADED) : all.slice(-MAX_LOADED)
  return {
    messages,
    notes: page.notes.reduce(withNote, loaded.notes),
    first_seq: Math.max(loaded.first_seq, page.first_seq),
    last_seq: Math.max(loaded.last_seq, page.last_seq),
  }
}

/** The window with a message: replaced in place, or appended if it is the next one. */
export function withMessage(loaded: ThreadWindow, message: ThreadMessage): ThreadWindow {
  const seq = seqOf(message)
  const last_seq = Math.max(loaded.last_seq, seq)
  const at = seq - firstSeq(loaded)
  const old = loaded.messages[at]
  if (old?.id === message.id) return { ...loaded, last_seq, messages: loaded.messages.with(at, merged(old, message)) }
  const isNext = seq === lastLoaded(loaded) + 1
  if (!isNext) return { ...loaded, last_seq }
  const messages = [...loaded.messages, withQuoted(message, loaded.messages)].slice(-MAX_LOADED)
  return { ...loaded, last_seq, messages }
}

/** The window with a note. */
export function withNewNote(loaded: ThreadWindow, note: Note): ThreadWindow {
  return { ...loaded, notes: withNote(loaded.notes, note) }
}

/** The window without a note. */
export function withoutNote(loaded: ThreadWindow, id: string): ThreadWindow {
  return { ...loaded, notes: loaded.notes.filter((note) => note.id !== id) }
}

function withNote(notes: Note[], note: Note): Note[] {
  return [...notes.filter(({ id }) => id !== note.id), note].sort((a, b) => a.created_at.localeCompare(b.created_at))
}

const RANKS = { sent: 0, failed: 1, delivered: 2, read: 3 } as const

/** Events may arrive late: a status never goes back, and fields that an event leaves out are kept. */
function merged(old: ThreadMessage | undefined, update: ThreadMessage): ThreadMessage {
  if (!old || old.id !== update.id) return update
  const isOlder = RANKS[update.message_status] < RANKS[old.message_status]
  return {
    ...update,
    ...(isOlder && { message_status: old.message_status, error: old.error, outcome: old.outcome }),
    context: update.context ?? old.context,
    changed: update.changed ?? old.changed,
    assignee: update.assignee ?? old.assignee,
    media_url: update.media_url ?? old.media_url,
    voice_note_transcription: update.voice_note_transcription ?? old.voice_note_transcription,
  }
}

/** Events leave out the quoted message, which is usually loaded. */
function withQuoted(message: ThreadMessage, loaded: ThreadMessage[]): ThreadMessage {
  if (message.context || message.context_message_id === null) return message
  const quoted = findByAnyId(loaded, message.context_message_id)
  return quoted ? { ...message, context: quoteOf(quoted) } : message
}

/** The message with this id, Parley's or WhatsApp's. */
export function findByAnyId(messages: ThreadMessage[], id: string): ThreadMessage | undefined {
  return messages.findLast((message) => message.message_id === id || message.id === id)
}

/** The message as it is quoted above replies. */
export function quoteOf(quoted: ThreadMessage): NonNullable<ThreadMessage['context']> {
  const { id, seq, message, sender_type, message_type, media_type } = quoted
  return { id, seq, message: message.slice(0, 200), sender_type, message_type, media_type }
}
