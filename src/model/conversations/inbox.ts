import { presentBroadcast } from '../broadcasts/broadcast.js'
import { type Contact, presentContact, toIso } from '../contacts/contact.js'
import type { InstanceKind, InstanceState } from '../instances/instance.js'
import { type MediaAddress, type Message, presentMessage, type ShownMessage } from '../messages/message.js'
import { presentTemplate } from '../templates/template.js'
import type { EventRow } from '../webhooks/event.js'
import { presentWebhook } from '../webhooks/webhook.js'
import { presentNote } from './note.js'

export { type Note, presentNote } from './note.js'

/** What the inbox's list shows of a conversation's newest message. */
export interface LastMessage {
  id: string
  seq: number
  /** At most 200 characters. */
  text: string
  message_type: string
  media_type: string | null
  sender_type: Message['sender_type']
  status: Message['status']
  created_at: Date | string
  has_error: boolean
}

/** A contact as it stands in the inbox. */
export interface InboxRow extends Contact {
  /** When something happened last in the conversation. */
  active_at: Date | string
  last_message: LastMessage | null
}

/** The message that another one answers, as far as it shows above it. */
export interface QuotedMessage {
  id: string
  seq: number | null
  text: string
  sender_type: Message['sender_type']
  message_type: string
  media_type: string | null
}

/** A message of a thread, with what other tables add to it. */
export interface ThreadRow extends ShownMessage {
  /** The name of the instance that it went through; null: the organization's own number. */
  instance_name: string | null
  quoted: QuotedMessage | null
  /** What was done to it since by who wrote it. */
  changed: 'edited' | 'revoked' | null
}

/** What a live event tells beside the rows of its event. */
export interface LiveSurroundings {
  /** When something happened last in the contact's conversation; null where the contact is gone. */
  activeAt: Date | string | null
  /** The name of the message's instance. */
  instanceName: string | null
}

/** The connection by which an answer to a contact leaves. */
export interface ReplyChannel {
  /** The gateway's name of it; null: the organization's own number, or none at all. */
  instance: string | null
  /** Null: there is none. */
  kind: InstanceKind | null
  /** Whether only templates may be sent when the contact has not written for 24 hours. */
  has_window: boolean
  /** Whether a message can leave by it now. */
  is_ready: boolean
}

/** The contact without its newest message, as live events carry it. */
function presentInboxFields(contact: Contact, activeAt: Date | string, now: Date) {
  return {
    ...presentContact(contact, now),
    // Events from before there were assignees know of none.
    assignee_id: contact.assignee_id ?? null,
    last_seq: contact.last_seq,
    last_inbound_at: toIso(contact.last_inbound_at),
    opted_out_at: toIso(contact.opted_out_at ?? null),
    active_at: toIso(activeAt),
  }
}

/** The contact as the inbox shows it: as everywhere, with what the list needs. */
export function presentInboxContact(row: InboxRow, now: Date) {
  return { ...presentInboxFields(row, row.active_at, now), last_message: presentLastMessage(row.last_message) }
}

export type InboxContact = ReturnType<typeof presentInboxContact>

function presentLastMessage(message: LastMessage | null) {
  return message && { ...message, created_at: toIso(message.created_at) }
}

/** The message as a thread shows it: as everywhere, with its number, its stored content, and the message that it answers. */
export function presentThreadMessage(row: ThreadRow, mediaAddress: MediaAddress) {
  return {
    ...presentMessage(row, mediaAddress),
    contact_id: row.contact_id,
    seq: row.seq,
    content: row.content ?? null,
    instance: row.instance_name,
    context: row.quoted && presentQuoted(row.quoted),
    changed: row.changed,
  }
}

export type ThreadMessage = ReturnType<typeof presentThreadMessage>

/** A message that was searched for, with its number, by which it is found in its thread. */
export function presentHit(message: ShownMessage, mediaAddress: MediaAddress) {
  return { ...presentMessage(message, mediaAddress), seq: message.seq }
}

export type Hit = ReturnType<typeof presentHit>

function presentQuoted({ id, seq, text, sender_type, message_type, media_type }: QuotedMessage) {
  return { id, seq, message: text, sender_type, message_type, media_type }
}

/** The event as `GET /console/api/live` tells it; which objects there are depends on its kind. */
export function presentLiveEvent(event: EventRow, around: LiveSurroundings, mediaAddress: MediaAddress) {
  const { id, type, contact_id, created_at, data } = event
  const at = new Date(created_at)
  return {
    id,
    type,
    timestamp: toIso(at),
    contact_id,
    ...(data.contact && { contact: presentInboxFields(data.contact, around.activeAt ?? at, at) }),
    ...(data.message && {
      message: presentThreadMessage(
        { ...data.message, instance_name: around.instanceName, quoted: null, changed: null },
        mediaAddress,
      ),
    }),
    ...(data.erased && { erased: { id: data.erased.id } }),
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

/** The state that the event leaves its instance in; null where the event does not tell. */
function stateAfter({ type, data }: EventRow): InstanceState | null {
  if (data.connection) return data.connection.state
  return type === 'instance.qrcode' ? 'connecting' : null
}
