import { MEBIBYTE } from '../../lib/text/units.js'
import { WAITING_REASONS } from '../broadcasts/broadcast.js'
import { toIso } from '../contacts/contact.js'
import type { GivenParts } from '../templates/fill-parts.js'
import type { TemplateParameters } from '../templates/parameters.js'
import type { Cause } from './cause.js'
import type { ContentWith, ReadyContent } from './content.js'
import type { MessageError } from './message.js'

/**
 * `sending`: its time has come, and a process sends it. `paused`: it waits for somebody. The others are not shown in
 * lists: it has become a message, or was cancelled.
 */
export type ScheduledStatus = (typeof WAITING_STATUSES)[number] | 'sent' | 'failed' | 'cancelled'
export const WAITING_STATUSES = ['scheduled', 'sending', 'paused'] as const

export { WAITING_REASONS }

/** How many messages of an organization may wait for their time. */
export const MAX_SCHEDULED = 10_000
/** How many bytes they may have together, with their files. */
export const MAX_SCHEDULED_BYTES = 2_048 * MEBIBYTE

/** The file of a scheduled message: it is stored, under the message's id. */
export interface KeptFile {
  kept: true
}

/** What is sent when the time has come, as it is stored. */
export type ScheduledCommand =
  | {
      kind: 'chat'
      content: ContentWith<KeptFile>
      /** As in SendCommand. */
      replyTo: { id: string; field: string } | null
    }
  | {
      kind: 'template'
      templateName: string
      language: string
      parameters: TemplateParameters
      parts: GivenParts
    }

/** A recorded message that the upstream has certainly not accepted, and how often it was tried. */
export interface UnsentMessage {
  /** When it was not accepted first; ISO 8601. */
  since: string
  tries: number
  /** The contact's. */
  chatId: string
  recipient: { phone: string } | { userId: string } | { group: string }
  content: ReadyContent
  replyToUpstreamId: string | null
}

/** How a scheduled message will show. */
export interface ScheduledLooks {
  message_type: string
  text: string
  media_type: string | null
  content: unknown
  /** The template's name; null if it is none. */
  template: string | null
  language: string | null
}

/** Who asked for it, as it is stored. */
export type ScheduledCause = Pick<Cause, 'by' | 'id' | 'requestId' | 'idempotencyKey'>

/** A scheduled message with what is shown of its contact and instance. In events the dates are ISO strings. */
export interface ShownScheduled {
  id: string
  contact_id: string
  /** The contact's. */
  chat_id: string
  /** The name of the instance that sends it; null: the organization's own number, or it is deleted, as `error` says. */
  instance: string | null
  member_id: string | null
  shown: Omit<ScheduledLooks, 'content'>
  status: ScheduledStatus
  reason: string | null
  error: MessageError | null
  scheduled_at: Date | string
  created_at: Date | string
}

/** A scheduled message, as its row is stored. */
export interface Scheduled extends ShownScheduled {
  shown: ScheduledLooks
  instance_id: string | null
  command: ScheduledCommand
  has_file: boolean
  cause: ScheduledCause
  unsent: UnsentMessage | null
}

/** The scheduled message as interfaces and events show it. */
export function presentScheduled({ shown, error, ...scheduled }: ShownScheduled) {
  return {
    id: scheduled.id,
    scheduled_at: toIso(scheduled.scheduled_at),
    status: scheduled.status,
    reason: scheduled.reason,
    error: error && { code: error.code, text: error.text },
    contact_id: scheduled.contact_id,
    chat_id: scheduled.chat_id,
    message: shown.text,
    message_type: shown.message_type,
    media_type: shown.media_type,
    templateName: shown.template,
    language: shown.language,
    instance: scheduled.instance,
    memberId: scheduled.member_id,
    created_at: toIso(scheduled.created_at),
  }
}
