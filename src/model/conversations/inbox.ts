import { presentBroadcast } from '../broadcasts/broadcast.js'
import { type Contact, presentContact, toIso } from '../contacts/contact.js'
import type { InstanceKind, InstanceState } from '../instances/instance.js'
import { type MediaAddress, type Message, presentMessage, type ShownMessage } from '../messages/message.js'
import { systemEventOf } from '../messages/shown/records.js'
import type { ShownContent } from '../messages/shown/schemas.js'
import { presentTemplate } from '../templates/template.js'
import { contactTime, type EventRow } from '../webhooks/event.js'
import { presentWebhook } from '../webhooks/webhook.js'
import { presentNote } from './note.js'

export { type Note, presentNote } from './note.js'

/** The newest message of a conversation, as the inbox shows it. */
export interface LastMessage {
  id: string
  seq: number
  /** At most 200 characters. */
  text: string
  message_type: string
  media_type: string | null
  /**
   * Of a call its outcome, of a hand-over who answers now, of a change of a person or a group what happened, of what is not
   * passed on what it was, of the answer to a request to call the answer.
   */
  detail: string | null
  sender_type: Message['sender_type']
  status: Message['status']
  created_at: Date | string
  has_error: boolean
}

/** A contact in the inbox. */
export interface InboxRow extends Contact {
  /** The latest activity of the conversation. */
  active_at: Date | string
  last_message: LastMessage | null
}

/** A quoted message, as shown above its answer. */
export interface QuotedMessage {
  id: string
  seq: number | null
  text: string
  sender_type: Message['sender_type']
  message_type: string
  media_type: string | null
}

/** A message of a thread, with data of other tables. */
export interface ThreadRow extends ShownMessage {
  /** The name of the instance that it went through; null: the organization's own number. */
  instance_name: string | null
  quoted: QuotedMessage | null
  /** Whether its author edited or revoked it, by the records of the changes; null in live events. */
  changed: 'edited' | 'revoked' | null
}

/** Data of a live event besides the rows of its event. */
export interface LiveSurroundings {
  /** The latest activity of the contact's conversation; null if the contact was erased. */
  activeAt: Date | string | null
  /** The name of the message's instance. */
  instanceName: string | null
}

/** The channel for answers to a contact. */
export interface ReplyChannel {
  /** The instance's name; null: the organization's own number, or no channel. */
  instance: string | null
  /** Null: there is no channel. */
  kind: InstanceKind | null
  /** Whether only templates may be sent if the contact has not written for 24 hours. */
  has_window: boolean
  /** Whether it can send now. */
  is_ready: boolean
}

/** A business number that may be chosen to answer a contact, of an organization that has several. */
export interface ReplyNumber extends ReplyChannel {
  /** Its id, which chooses it. */
  from: string
  /** As people know it. */
  label: string
  /** When the contact last wrote to it; null: not lately. */
  last_inbound_at: string | null
}

/** The contact without its newest message, as in live events. */
function presentInboxFields(contact: Contact, activeAt: Date | string, now: Date) {
  return {
    ...presentContact(contact, now),
    // Older events have no assignee.
    assignee_id: contact.assignee_id ?? null,
    last_seq: contact.last_seq,
    // Older events have none.
    message_count: contact.last_seq - (contact.pruned_seq ?? 0),
    last_inbound_at: toIso(contact.last_inbound_at),
    opted_out_at: toIso(contact.opted_out_at ?? null),
    opt_out_source: contact.opt_out_source ?? null,
    opted_in_at: toIso(contact.opted_in_at ?? null),
    consent_words: contact.consent_words ?? null,
    active_at: toIso(activeAt),
  }
}

/** The contact as the inbox shows it: the public fields and those of the list. */
export function presentInboxContact(row: InboxRow, now: Date) {
  return { ...presentInboxFields(row, row.active_at, now), last_message: presentLastMessage(row.last_message) }
}

export type InboxContact = ReturnType<typeof presentInboxContact>

function presentLastMessage(message: LastMessage | null) {
  if (message === null) return null
  const { message_type, detail, created_at } = message
  return {
    ...message,
    detail: message_type === 'system' ? systemEventOf(detail) : detail,
    created_at: toIso(created_at),
  }
}

/** The message as a thread shows it: the public fields, its number, and the quoted message. */
export function presentThreadMessage(row: ThreadRow, mediaAddress: MediaAddress) {
  const message = presentMessage(row, mediaAddress)
  return {
    ...message,
    contact_id: row.contact_id,
    seq: row.seq,
    instance: row.instance_name,
    context: row.quoted && presentQuoted(row.quoted),
    changed: row.changed ?? changeOf(message.content),
  }
}

/** The mark of a change; messages that were changed before the marks were kept have none. */
function changeOf(content: ShownContent | null): ThreadRow['changed'] {
  if (content?.deleted_at !== undefined) return 'revoked'
  return content?.edited_at === undefined ? null : 'edited'
}

export type ThreadMessage = ReturnType<typeof presentThreadMessage>

/** A search hit: the message with its number, to find it in its thread. */
export function presentHit(message: ShownMessage, mediaAddress: MediaAddress) {
  return { ...presentMessage(message, mediaAddress), seq: message.seq }
}

export type Hit = ReturnType<typeof presentHit>

function presentQuoted({ id, seq, text, sender_type, message_type, media_type }: QuotedMessage) {
  return { id, seq, message: text, sender_type, message_type, media_type }
}

/** The event as `GET /console/api/live` sends it; which objects it has depends on its type. */
export function presentLiveEvent(event: EventRow, around: LiveSurroundings, mediaAddress: MediaAddress, now: Date) {
  const { id, type, contact_id, created_at, data } = event
  return {
    id,
    type,
    timestamp: toIso(created_at),
    contact_id,
    ...(data.contact && {
      contact: presentInboxFields(data.contact, around.activeAt ?? created_at, contactTime(event, now)),
    }),
    ...(data.message && {
      message: presentThreadMessage(
        { ...data.message, instance_name: around.instanceName, quoted: null, changed: null },
        mediaAddress,
      ),
    }),
    ...(data.erased && { erased: { id: data.erased.id } }),
    ...(data.merged && { merged: { id: data.merged.id } }),
    ...(data.unmerged && { unmerged: { id: data.unmerged.id } }),
    ...(data.note && { note: presentNote(data.note) }),
    ...(data.broadcast && { broadcast: presentBroadcast(data.broadcast) }),
    ...(data.template && { template: presentTemplate(data.template) }),
    ...(data.webhook && { webhook: presentWebhook(data.webhook) }),
    ...(data.instance && {
      instance: {
        id: data.instance.id,
        name: data.instance.name,
        kind: data.instance.kind,
        state: stateAfter(event),
      },
    }),
  }
}

export type LiveEvent = ReturnType<typeof presentLiveEvent>

/** The state of the instance after the event; null if the event has none. */
function stateAfter({ type, data }: EventRow): InstanceState | null {
  if (data.connection) return data.connection.state
  return type === 'instance.qrcode' ? 'connecting' : null
}
