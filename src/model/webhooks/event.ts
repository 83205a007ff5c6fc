import { presentBroadcast, type ShownBroadcast } from '../broadcasts/broadcast.js'
import { type Contact, presentContact, toIso } from '../contacts/contact.js'
import type { NoteRow } from '../conversations/note.js'
import type { InstanceState, ShownInstance } from '../instances/instance.js'
import { type MediaAddress, type MessageStatus, presentMessage, type ShownMessage } from '../messages/message.js'
import { presentTemplate, type Template } from '../templates/template.js'
import { presentWebhook, type ShownWebhook } from './webhook.js'

/** An event as its row is stored: what happened, with the rows that it is about as they were then. */
export interface EventRow {
  organization_id: string
  /** Later than everything that it follows from; see storage/events/events. */
  seq: number
  id: string
  type: string
  /** Whom it is about; null where it is about nobody. */
  contact_id: string | null
  transaction_id: string
  created_at: Date | string
  data: EventData
}

/** The rows of an event, as JSON; which of them there are depends on its kind. */
export interface EventData {
  /** `recipient_n`: which recipient of a broadcast it is for; 0 of a single, and null of other messages. */
  message?: ShownMessage & { recipient_n?: number | null }
  contact?: Contact
  previous_status?: MessageStatus
  broadcast?: ShownBroadcast
  template?: Template
  webhook?: ShownWebhook
  reason?: string
  /** Of a note, which Interface A never shows either (`note.…`). */
  note?: NoteRow
  /** Whom there is no more (`contact.erased`), which Interface A never shows; the event is of no contact, and names none. */
  erased?: { id: string }
  /** The instance that an event of the gateway alone is about (`instance.…`); these Interface A never shows. */
  instance?: ShownInstance
  /** `statusReason`: the network's code; null where it gave none. */
  connection?: { state: InstanceState; statusReason: number | null }
  /** Sealed (`instance.qrcode`), base64: {code, pairingCode, count} as JSON. */
  qrcode?: { sealed: string }
}

/** What an endpoint gets and the feed shows of an event (contract 4, Webhooks). */
export interface ShownEvent {
  type: string
  /** When it happened, ISO 8601. */
  timestamp: string
  data: Record<string, unknown>
}

/** The event with its objects as the API shows them; the same at every time, so that every attempt to deliver it sends the same bytes. */
export function presentEvent({ type, created_at, data }: EventRow, mediaAddress: MediaAddress): ShownEvent {
  const at = new Date(created_at)
  return {
    type,
    timestamp: toIso(at),
    data: {
      ...(data.message && { message: presentMessage(data.message, mediaAddress) }),
      ...(data.contact && { contact: presentContact(data.contact, at) }),
      ...(data.previous_status && { previous_status: data.previous_status }),
      ...(data.broadcast && { broadcast: presentBroadcast(data.broadcast) }),
      ...(data.template && { template: presentTemplate(data.template) }),
      ...(data.webhook && { webhook: presentWebhook(data.webhook) }),
      ...(data.reason !== undefined && { reason: data.reason }),
    },
  }
}
