import { toIso } from '../contacts/contact.js'
import type { TemplateParameters } from '../templates/parameters.js'
import type { Template } from '../templates/template.js'

export const BROADCAST_STATUSES = ['scheduled', 'running', 'paused', 'cancelled', 'completed'] as const
export type BroadcastStatus = (typeof BROADCAST_STATUSES)[number]

/** `reason` of a broadcast that waits for somebody since the database was restored. */
export const RESTORED = 'restored'
/** `reason` of a broadcast that waits for somebody because its time was long past when it was to start. */
export const LATE = 'late'
/** What would begin later than this after its time waits for somebody. */
export const LATE_MS = 6 * 60 * 60_000
export const WAITING_REASONS = [RESTORED, LATE] as const

export const RECIPIENT_STATUSES = ['pending', 'skipped', 'sent', 'delivered', 'read', 'failed'] as const
export type RecipientStatus = (typeof RECIPIENT_STATUSES)[number]

/** The counters of a campaign without a detail; a missing counter is 0. */
export type Counters = Partial<
  Record<'total' | 'skipped' | 'recorded' | 'sent' | 'delivered' | 'read' | 'failed' | 'clicked' | 'opted_out', number>
>

/** A broadcast, as its row is stored, with its counters. */
export interface Broadcast {
  organization_id: string
  id: string
  name: string
  template_name: string
  template_language: string
  /** As it was when the broadcast was created. */
  template: Template
  /** The parameters of all recipients. */
  parameters: TemplateParameters
  header_media: string | null
  media_id: string | null
  channel_media_id: string | null
  handed_over_at: Date | null
  audience: Audience
  status: BroadcastStatus
  /** Why it was paused automatically: RESTORED, LATE, or a sentence about what the upstream does. */
  status_reason: string | null
  /** The id of the number that sends it; null: for each recipient the one that it last wrote to, else the first. */
  from_number: string | null
  generation: number
  prepared_n: number
  prepared_contact: string | null
  prepared_at: Date | null
  scheduled_at: Date | null
  started_at: Date | null
  completed_at: Date | null
  created_at: Date
  /** Contacts created later are not in its audience. */
  stored_at: Date
  counters: Counters
}

/** The public fields of a broadcast or a one-off send. In events the dates are ISO strings. */
export type ShownBroadcast = Pick<
  Broadcast,
  'id' | 'name' | 'template_name' | 'template_language' | 'status' | 'status_reason' | 'counters'
> & {
  scheduled_at: Date | string | null
  started_at: Date | string | null
  completed_at: Date | string | null
  created_at: Date | string
  /** Older events have none. */
  from_number?: string | null
}

/** Who becomes a recipient, besides the listed ones. */
export interface Audience {
  tags?: string[]
  all?: boolean
  /** As what the numbers of listed recipients are read; absent: as those of the API. */
  numbers?: 'table'
  /** The uploaded audience whose recipients follow the listed ones. */
  uploaded?: UploadedPart
}

/** An uploaded audience as a part of a broadcast's. */
export interface UploadedPart {
  id: string
  /** How many listed recipients come before. */
  after: number
  /** The names of the parameters that its recipients have. */
  body: string[]
  buttons: string[]
}

/** A recipient with its status. */
export interface Recipient {
  n: number
  contact_id: string | null
  number: string | null
  name: string | null
  status: RecipientStatus
  reason: string | null
  upstream_id: string | null
  error: { code: number | string; text: string } | null
  sent_at: Date | null
  delivered_at: Date | null
  read_at: Date | null
}

/** Why a recipient is skipped. */
export const SKIP_REASONS = {
  notNumber: 'not a number',
  noContact: 'no such contact',
  duplicate: 'duplicate',
  blocked: 'blocked',
  unreachable: 'not reachable',
  optedOut: 'opted out',
  unwanted: 'allow_broadcast is false',
  missingValue: 'missing value',
  noNumber: 'no phone number',
  erased: 'contact erased',
  cancelled: 'cancelled',
} as const

/** Why a recipient is pending. */
export const WAIT_REASONS = {
  scheduled: 'broadcast scheduled',
  paused: 'broadcast paused',
  turn: 'not its turn yet',
  recipientLimit: 'limit of messages to this person',
  again: 'to be sent again',
  outcome: 'no outcome yet',
} as const

/**
 * How many recipients are sent to and how many are skipped. In a cancelled broadcast, recipients without a message
 * count as skipped.
 */
export function countRecipients({ status, counters }: Pick<Broadcast, 'status' | 'counters'>): {
  total: number
  skipped: number
} {
  const { total = 0, skipped = 0, recorded = 0 } = counters
  return status === 'cancelled' ? { total: recorded, skipped: skipped + total - recorded } : { total, skipped }
}

/** The broadcast as the API and events show it. */
export function presentBroadcast(broadcast: ShownBroadcast) {
  const { id, name, template_name, template_language, status, status_reason } = broadcast
  const { total, skipped } = countRecipients(broadcast)
  return {
    id,
    name,
    templateName: template_name,
    language: template_language,
    status,
    totalRecipients: total,
    skippedRecipients: skipped,
    scheduled_at: toIso(broadcast.scheduled_at),
    started_at: toIso(broadcast.started_at),
    completed_at: toIso(broadcast.completed_at),
    created_at: toIso(broadcast.created_at),
    from: broadcast.from_number ?? null,
    reason: status_reason,
  }
}

/** The recipient as the API shows it. */
export function presentRecipient(recipient: Recipient) {
  return {
    contactId: recipient.contact_id,
    chatNumber: recipient.number,
    contactName: recipient.name,
    status: recipient.status,
    reason: recipient.reason,
    messageId: recipient.upstream_id,
    errorCode: recipient.error?.code ?? null,
    errorMessage: recipient.error?.text ?? null,
    sent_at: toIso(recipient.sent_at),
    delivered_at: toIso(recipient.delivered_at),
    read_at: toIso(recipient.read_at),
  }
}
