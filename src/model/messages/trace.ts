import type { AttemptRow, Delivery } from '../webhooks/webhook.js'
import type { Asker } from './cause.js'
import type { MessageError, MessageStatus, Outcome, SenderType } from './message.js'

// What is stored about the life of a message: notes, with its row (storage/messages/trace-notes). Times are Unix
// milliseconds, durations milliseconds. Names are short, because every message has some. `x`: the transaction that wrote
// the note; it also raised the events of the same change, which are found by it.

/** Why a send waited. */
export type WaitReason = 'file' | 'send_slot' | 'recipient_limit' | 'retry'

/** A wait of a send that has ended, and how long it lasted. */
export type Wait = readonly [reason: WaitReason, at: number, ms: number]

/** What a call to the upstream brought. */
export type CallOutcome = 'accepted' | 'refused' | 'not_accepted' | 'unknown'

/** A call to the upstream. */
export interface CallNote {
  at: number
  ms: number
  outcome: CallOutcome
  /** The HTTP status; absent if there was no answer, or if the channel does not speak HTTP. */
  status?: number
  /** The upstream's error code. */
  code?: number | string
  text?: string
  /** The upstream's own id of the request. */
  upstream?: string
}

/** The message was asked for and recorded. */
export interface AskedNote {
  k: 'asked'
  at: number
  by: Asker
  id: string
  request?: string
  key?: string
  trace?: string
  /** The process that records and sends the message. */
  process: number
  waits?: readonly Wait[]
}

/** The upstream was called. */
export interface CallsNote {
  k: 'calls'
  /** When it was noted. */
  at: number
  calls: readonly CallNote[]
  /** How long it took to record the message before the first call. */
  recorded?: number
  waits?: readonly Wait[]
  /** When the message is to be sent again. */
  again?: number
}

/** A message that was put back is sent again. */
export interface TakenNote {
  k: 'taken'
  at: number
  process: number
}

/** Nothing is waited for any more: the service decided the outcome itself. */
export interface SettledNote {
  k: 'settled'
  at: number
}

/** The answer of the first request was given again. */
export interface RepeatedNote {
  k: 'repeated'
  at: number
  request: string
}

/** The answer to the request reported a failure; one that reports success is not noted. */
export interface FailureNote {
  k: 'failure'
  at: number
  request: string
  /** The HTTP status. */
  status: number
  /** What went wrong, as the answer named it. */
  text: string
}

/** A callback of the upstream reported something about the message. */
export interface CallbackNote {
  k: 'callback'
  id: string
  /** When the callback was received. */
  at: number
  /** When it was processed. */
  done: number
  /** The reported status; absent if the callback brought the message itself. */
  status?: string
  /** The upstream's time of it. */
  said?: number
  /** It changed nothing. */
  idle?: true
}

/** An attempt to fetch the file of a received message. */
export interface FileNote {
  k: 'file'
  at: number
  ms: number
  outcome: 'stored' | 'retried' | 'missing'
  text?: string
}

export type TraceNote = (
  | AskedNote
  | CallsNote
  | TakenNote
  | SettledNote
  | RepeatedNote
  | FailureNote
  | CallbackNote
  | FileNote
) & {
  x?: string
}

/** A message has at most about this many notes; later ones that change nothing else are not written. */
export const MAX_NOTES = 60

/** A message as far as its trace needs it. */
export interface TracedMessage {
  id: string
  contact_id: string
  /** Null for reactions, edits and revocations. */
  seq: number | null
  upstream_id: string | null
  sender_type: SenderType
  status: MessageStatus
  outcome: Outcome | null
  error: MessageError | null
  recorded_at: Date
  accepted_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
  failed_at: Date | null
  broadcast_id: string | null
  /** In the order in which they were written. */
  notes: TraceNote[]
}

/** An event of a message. */
export interface TraceEvent {
  seq: number
  id: string
  type: string
  created_at: Date
}

/** A delivery of such an event. */
export interface TraceDelivery extends Pick<Delivery, 'id' | 'webhook_id' | 'event_id' | 'event_type' | 'status'> {
  /** Null if the webhook was deleted. */
  url: string | null
  attempts: AttemptRow[]
  next_attempt_at: Date | null
  created_at: Date
}

/** Another message that belongs to its life: a change of it, or the answer to it. */
export interface TraceRelative {
  id: string
  message_type: string
  sender_type: SenderType
  recorded_at: Date
}

/** What an entry of a trace describes. */
export const TRACE_KINDS = [
  'requested',
  'answer_repeated',
  'failure_answered',
  'waited',
  'recorded',
  'called',
  'put_back',
  'resumed',
  'unanswered',
  'given_up',
  'callback_received',
  'file_fetched',
  'status_changed',
  'event_raised',
  'delivery_created',
  'delivery_attempted',
  'changed',
  'answered',
] as const

export type TraceKind = (typeof TRACE_KINDS)[number]

/** One entry of a trace, as the API shows it. Which fields it has depends on its kind. */
export interface TraceEntry {
  /** ISO 8601. */
  at: string
  kind: TraceKind
  duration_ms?: number
  by?: { type: Asker; id: string; name: string | null }
  request_id?: string
  idempotency_key?: string
  reason?: WaitReason
  outcome?: string
  http_status?: number
  error_code?: number | string
  text?: string
  upstream_request_id?: string
  retry_at?: string
  callback_id?: string
  status?: string
  upstream_time?: string
  is_new?: boolean
  event_id?: string
  event_type?: string
  delivery_id?: string
  webhook_id?: string
  webhook_host?: string
  attempt?: number
  message_id?: string
  change?: string
}

/** The life of a message, as the API shows it. */
export interface MessageTrace {
  message_id: string
  contact_id: string
  direction: 'inbound' | 'outbound'
  status: MessageStatus
  outcome: Outcome | null
  /** The id of the W3C trace that it belongs to; null if the request named none. */
  trace_id: string | null
  /** True if entries were left out. */
  is_cut: boolean
  /** In the order of time, at the same time in that of cause and effect. */
  entries: TraceEntry[]
}
