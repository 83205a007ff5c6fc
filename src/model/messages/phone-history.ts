import { asText } from '../../lib/text/json.js'
import type { MessageStatus } from './message.js'

// How the history of a phone becomes part of what is known, whatever comes first. A message has one row for each
// upstream id. What came as a message or as an echo wins over what a history says, a real message over a placeholder.

const STATUSES: Record<string, MessageStatus | undefined> = {
  sent: 'sent',
  delivered: 'delivered',
  read: 'read',
  // A voice note was played.
  played: 'read',
  pending: 'sent',
  error: 'failed',
}

/** The status of a message in a history, in capitals or not; null if it is not known. */
export function readHistoryStatus(word: unknown): MessageStatus | null {
  return STATUSES[(asText(word) ?? '').toLowerCase()] ?? null
}

/** Any evidence of delivery is later than a failure. */
const RANKS = { sent: 0, failed: 1, delivered: 2, read: 3 } as const satisfies Record<MessageStatus, number>

/** A recorded message, as far as a history may change it. */
export interface RecordedMessage {
  status: MessageStatus
  /** Whether it only says that there is a message. */
  isPlaceholder: boolean
  isDeleted: boolean
  /** Whether Parley sent it: then its statuses come as statuses, and count for its broadcast. */
  isOwn: boolean
}

/** A message in a history. */
export interface ToldMessage {
  status: MessageStatus | null
  isPlaceholder: boolean
}

/** What a history changes about a recorded message. */
export interface HistoryChange {
  /** Whether the message takes the place of a placeholder. */
  fills: boolean
  /** The new status; null: it stays. */
  status: MessageStatus | null
}

/** What a history changes about a recorded message: statuses only move forward, and what was deleted stays so. */
export function changeByHistory(recorded: RecordedMessage, told: ToldMessage): HistoryChange {
  const isLater = told.status !== null && RANKS[told.status] > RANKS[recorded.status]
  return {
    fills: recorded.isPlaceholder && !told.isPlaceholder && !recorded.isDeleted,
    status: isLater && !recorded.isOwn ? told.status : null,
  }
}

/** How many messages of a conversation fall at most, so that its contact is not locked for long. */
export const MAX_FALLING = 20_000

/** Messages of a conversation whose numbers fall together: those from `from` to `to`, by `by`. */
export interface Fall {
  from: number
  to: number
  by: number
}

/** Where the messages of a history have their place in a conversation. */
export interface Placement {
  /** Their numbers, in the given order. */
  seqs: number[]
  /** The messages before them, which make room, in ascending order. */
  falls: Fall[]
}

/**
 * Places messages by time into a numbered conversation: each before the first message that is newer, so after those of
 * the same time. Older messages fall to lower numbers, and the numbers of newer ones stay. `times`: those of the
 * conversation's messages from the first one, `firstSeq`, on; messages beyond them are taken for newer. `added`: those of
 * the new messages, in ascending order. All in ms.
 */
export function placeByTime(firstSeq: number, times: readonly number[], added: readonly number[]): Placement {
  const seqs: number[] = []
  const falls: Fall[] = []
  let passed = 0
  for (const [n, time] of added.entries()) {
    const begun = passed
    while (passed < times.length && (times[passed] as number) <= time) passed++
    const by = added.length - n
    if (passed > begun) falls.push({ from: firstSeq + begun, to: firstSeq + passed - 1, by })
    seqs.push(firstSeq - by + passed)
  }
  return { seqs, falls }
}
