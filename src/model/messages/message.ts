import { type Contact, toIso } from '../contacts/contact.js'
import type { BusinessNumbers } from '../organizations/own-number.js'
import { isDeleted } from './shown/deleted.js'
import { presentContent } from './shown/present-content.js'

/** Who wrote a message. */
export type SenderType = 'user-chat' | 'bot-chat' | 'human-chat' | 'system'

/** The status of a message. It never goes backwards, except that `failed` gives way to `delivered` and `read`. */
export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** An outcome that is not known yet: the call is in progress, or it ended without an answer. */
export type Outcome = 'pending' | 'unknown'

/** Why a send failed, or why the file is missing: the upstream's code, or one of ours such as `outcome_unknown`. */
export interface MessageError {
  code: number | string
  text: string
  /** Set if the failure was temporary and not caused by the message; not shown. */
  passing?: PassingReason
}

/**
 * Temporary causes of a failure: the credentials, the rate of the number or of one recipient, or the upstream itself.
 */
export type PassingReason = 'credentials' | 'number' | 'pair' | 'unavailable'

export const OUTCOME_UNKNOWN = 'outcome_unknown'
/** The code of a message whose file was removed after the retention time. */
export const MEDIA_REMOVED = 'media_removed'
/** The upstream's error code for recipients who do not want marketing messages of this business. */
export const OPTED_OUT = 131050

/** A reaction as its message shows it. */
export interface Reaction {
  emoji: string
  sender_type: SenderType
  created_at: Date | string
}

/** A message as the network of a linked device has it; for the business API only the author of a group message. */
export interface NetworkDetails {
  /** The chat, if it is not that of a phone number. */
  remoteJid?: string
  /** The author, in a group. */
  participant?: string
  /** Another address of the author: the number's JID beside a hidden id, or the upstream's user id beside a number. */
  participantAlt?: string
  pushName?: string
  /** Typed on the phone. */
  fromPhone?: true
  /** The network's own message; bytes are base64. */
  message?: Record<string, unknown>
}

/** A message as its row is stored; in events the dates are ISO strings. */
export interface Message {
  organization_id: string
  id: string
  contact_id: string
  seq: number | null
  upstream_id: string | null
  sender_type: SenderType
  message_type: string
  text: string
  media_type: string | null
  media_id: string | null
  media_expires_at: Date | string | null
  transcription: string | null
  content: unknown
  /** What messages of all kinds may have (shown/extras); absent from events of the version before. */
  extras?: unknown
  /** The instance that it went through; null: the organization's own number. */
  instance_id: string | null
  /** Data that only linked devices have. */
  network: NetworkDetails | null
  status: MessageStatus
  outcome: Outcome | null
  error: MessageError | null
  context_upstream_id: string | null
  assignee_id: string | null
  created_at: Date | string
  accepted_at: Date | string | null
  /** Who held the conversation then, if not the organization. Older events have none. */
  handled_by?: 'upstream_agent' | null
  /** Since when the upstream holds it back. Older events have none. */
  held_at?: Date | string | null
}

/** A message's row with data of other tables; events of new messages leave out what is empty. */
export interface ShownMessage extends Message {
  reactions?: Reaction[] | null
  assignee?: { id: string; full_name: string; email: string } | null
}

/** A message with fields of its contact. */
export interface MessageOfContact {
  message: ShownMessage
  contact: Pick<Contact, 'chat_id' | 'phone_number' | 'network_id' | 'full_name'>
}

/** Creates the URL of a stored file, which works until `expiresAt`. */
export type MediaAddress = (organizationId: string, mediaId: string, expiresAt: Date) => string

/** The message as interfaces and events show it. */
export function presentMessage(message: ShownMessage, mediaAddress: MediaAddress) {
  const deleted = isDeleted(message)
  return {
    message: message.text,
    sender_type: message.sender_type,
    created_at: toIso(message.created_at),
    message_status: message.status,
    media_type: message.media_type,
    media_url: deleted ? null : presentMedia(message, mediaAddress),
    content: presentContent(message),
    assignee: message.assignee ?? null,
    voice_note_transcription: deleted ? null : message.transcription,
    reactions: (message.reactions ?? []).map((reaction) => ({ ...reaction, created_at: toIso(reaction.created_at) })),
    id: message.id,
    message_id: message.upstream_id,
    message_type: message.message_type,
    context_message_id: message.context_upstream_id,
    error: message.error && { code: message.error.code, text: message.error.text },
    outcome: presentOutcome(message),
    ...presentAuthor(message),
    ...(message.handled_by && { handled_by: message.handled_by }),
  }
}

/** The message as the API and webhooks show it, with the business number that it went through; null: it was none. */
export function presentMessageOf(message: ShownMessage, mediaAddress: MediaAddress, numbers: BusinessNumbers) {
  // Events of the version before 1.0 have no instance.
  return { ...presentMessage(message, mediaAddress), business_number: numbers(message.instance_id ?? null) }
}

/** What is not known yet about the sending; null: nothing. A status that version 1.0 applied leaves `held_at`. */
function presentOutcome({ outcome, held_at, status }: ShownMessage): Outcome | 'held' | null {
  return outcome ?? (held_at && status === 'sent' ? 'held' : null)
}

/** The author of a group message; empty for private ones. */
function presentAuthor({ network }: ShownMessage) {
  if (!network?.participant) return {}
  const { participant, participantAlt, pushName = null } = network
  const addresses = [participant, participantAlt].filter((address) => address !== undefined)
  const digits = addresses.map(digitsOf).find((found) => found !== undefined)
  const userId = addresses.find((address) => digitsOf(address) === undefined)
  return {
    author: { name: pushName, phone_number: digits === undefined ? null : `+${digits}`, user_id: userId ?? null },
  }
}

/** The digits of a number's JID; undefined for other addresses. */
function digitsOf(address: string): string | undefined {
  return /^(\d+)(?::\d+)?@s\.whatsapp\.net$/.exec(address)?.[1]
}

function presentMedia(
  { organization_id, media_id, media_expires_at }: ShownMessage,
  mediaAddress: MediaAddress,
): string | null {
  if (media_id === null || media_expires_at === null) return null
  return mediaAddress(organization_id, media_id, new Date(media_expires_at))
}
