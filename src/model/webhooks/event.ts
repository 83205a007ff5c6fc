import type { JsonObject } from '../../lib/text/json.js'
import { presentBroadcast, type ShownBroadcast } from '../broadcasts/broadcast.js'
import { type Contact, presentContact, toIso } from '../contacts/contact.js'
import type { MergeNews, UnmergeNews } from '../contacts/merge.js'
import type { NoteRow } from '../conversations/note.js'
import type { InstanceState, ShownInstance } from '../instances/instance.js'
import { readCall } from '../messages/call.js'
import { readHandover } from '../messages/handover.js'
import { type MediaAddress, type MessageStatus, presentMessageOf, type ShownMessage } from '../messages/message.js'
import type { Price } from '../messages/price.js'
import { presentScheduled, type ShownScheduled } from '../messages/scheduled.js'
import { type Notice, presentNotice } from '../organizations/notice.js'
import { type NumberState, presentNumberState } from '../organizations/number-state.js'
import type { BusinessNumbers } from '../organizations/own-number.js'
import { type PhoneHistory, presentPhoneHistory } from '../organizations/phone-history.js'
import { presentTemplate, type Template } from '../templates/template.js'
import { presentWebhook, type ShownWebhook } from './webhook.js'

/**
 * An event with the affected rows. Of an event of a message, the status of the message, its error and its reactions are
 * those of then; its contact and all else of it are as they are when the event is read.
 */
export interface EventRow {
  organization_id: string
  /** Larger than those of all events that it follows from; see storage/events/events. */
  seq: number
  id: string
  type: string
  /** The contact that it is about; null if there is none. */
  contact_id: string | null
  /** The message whose row and contact readers have added, as of now; null: the event has its rows as of then. */
  message_id: string | null
  transaction_id: string
  created_at: Date | string
  data: EventData
}

/** The rows of an event, as JSON; which ones are present depends on its type. Edits and deletions have them as of then. */
export interface EventData {
  /**
   * `recipient_n`: its recipient of a broadcast; 0 for a one-off send, null for other messages. `traceparent`: the trace
   * of the request that caused it, if it is recorded.
   */
  message?: ShownMessage & { recipient_n?: number | null; traceparent?: string | null }
  contact?: Contact
  previous_status?: MessageStatus
  /** Of `message.edited`: the text before; null in other events of changes. */
  previous_message?: string | null
  /** Of a status: what it says about the price. */
  pricing?: Price | null
  scheduled?: ShownScheduled
  broadcast?: ShownBroadcast
  template?: Template
  /** Of `template.quality_changed`. */
  quality?: string
  previous_quality?: string | null
  /** Of `number.updated` by a check. */
  number?: NumberState
  /** Of the number; null before its first check. */
  previous_state?: NumberState['state']
  webhook?: ShownWebhook
  /** Of `account.updated`, and of `number.updated` by a callback. */
  notice?: Notice
  /** Of `history.imported`. */
  history?: PhoneHistory
  reason?: string
  /** Of `contact.opted_in`: who reported it. */
  source?: 'reply' | 'upstream'
  /** Of `contact.merged`; `contact` is the one that stays. */
  merged?: MergeNews
  /** Of `contact.unmerged`; `contact` is the one that was restored. */
  unmerged?: UnmergeNews
  /** Of `note.…`, which Interface A never shows. */
  note?: NoteRow
  /** Of `contact.erased`, which Interface A never shows; the event has no contact_id. */
  erased?: { id: string }
  /** Of `instance.…`, events of the gateway that Interface A never shows. */
  instance?: ShownInstance
  /** `statusReason`: the network's code; null if it gave none. */
  connection?: { state: InstanceState; statusReason: number | null }
  /** Encrypted (`instance.qrcode`), base64: {code, pairingCode, count} as JSON. */
  qrcode?: { sealed: string }
  /** Of `instance.signal`. */
  signal?: GatewaySignal
}

/** What the network of a linked device tells besides messages and statuses, under the gateway's name, as it came. */
export interface GatewaySignal {
  event:
    | 'presence.update'
    | 'call'
    | 'groups.upsert'
    | 'groups.update'
    | 'group-participants.update'
    | 'messages.update'
  data: JsonObject | JsonObject[]
}

/** An event as endpoints and the feed show it. */
export interface ShownEvent {
  type: string
  /** When it happened, ISO 8601. */
  timestamp: string
  data: Record<string, unknown>
}

/** The event with its objects as the API shows them. Message and contact may have changed since an earlier attempt. */
export function presentEvent(
  event: EventRow,
  mediaAddress: MediaAddress,
  numbers: BusinessNumbers,
  now: Date,
): ShownEvent {
  const { type, created_at, data } = event
  return {
    type,
    timestamp: toIso(created_at),
    data: {
      ...(data.message && { message: presentMessageOf(data.message, mediaAddress, numbers) }),
      ...(data.scheduled && { scheduled: presentScheduled(data.scheduled) }),
      ...(type === 'conversation.handed_over' && { handover: readHandover(data.message?.content) }),
      ...(type.startsWith('call.') && { call: readCall(data.message?.content) }),
      ...(data.contact && { contact: presentContact(data.contact, contactTime(event, now)) }),
      ...presentConsent(type, data),
      ...(data.previous_status && { previous_status: data.previous_status }),
      ...(data.pricing && { pricing: data.pricing }),
      ...(typeof data.previous_message === 'string' && { previous_message: data.previous_message }),
      ...(data.broadcast && { broadcast: presentBroadcast(data.broadcast) }),
      ...(data.template && { template: presentTemplate(data.template) }),
      ...(data.number && {
        number: presentNumberState(data.number),
        previous_state: data.previous_state ?? null,
      }),
      ...(data.quality !== undefined && { quality: data.quality, previous_quality: data.previous_quality ?? null }),
      ...(data.notice && { notice: presentNotice(data.notice) }),
      ...(data.history && { history: presentPhoneHistory(data.history) }),
      ...(data.webhook && { webhook: presentWebhook(data.webhook) }),
      ...(data.reason !== undefined && { reason: data.reason }),
      ...(data.merged && { merged_contact_id: data.merged.id, cause: data.merged.cause }),
      ...(data.unmerged && { kept_contact_id: data.unmerged.id }),
    },
  }
}

/** The time as of which the event has its contact. */
export function contactTime({ message_id, created_at }: EventRow, now: Date): Date {
  return message_id === null ? new Date(created_at) : now
}

/** Who reported an opt-out or opt-in, in which words and when; empty for other events. */
function presentConsent(type: string, { contact, source }: EventData) {
  if (!contact) return {}
  const { consent_words: words = null, opt_out_source, opted_out_at, opted_in_at } = contact
  if (type === 'contact.opted_out') return { source: opt_out_source, words, at: toIso(opted_out_at) }
  return type === 'contact.opted_in' ? { source, words, at: toIso(opted_in_at) } : {}
}
