import { type Contact, toIso } from '../contacts/contact.js'

/** Who wrote a message (spec 3). */
export type SenderType = 'user-chat' | 'bot-chat' | 'human-chat' | 'system'

/** How far a message came (spec 3). Never goes backwards; `failed` gives way to `delivered` and `read` (contract 4). */
export type MessageStatus = 'sent' | 'delivered' | 'read' | 'failed'

/** The upstream's answer to a send is outstanding: not yet here, or not to come (contract 4, Sending). */
export type Outcome = 'pending' | 'unknown'

/** Why a send failed: the upstream's code, or a word of ours such as `outcome_unknown`. */
export interface MessageError {
  code: number | string
  text: string
  /** Why the upstream took nothing at all, where that is no fault of the message; not shown. */
  passing?: PassingReason
}

/** What keeps a message from being taken and passes: credentials, the rate of the number or of one recipient, the upstream itself. */
export type PassingReason = 'credentials' | 'number' | 'pair' | 'unavailable'

export const OUTCOME_UNKNOWN = 'outcome_unknown'
/** The upstream's code of an error: the recipient wants no marketing messages of this business. */
export const OPTED_OUT = 131050

/** A reaction as it shows on its message (contract 4, Conversations). */
export interface Reaction {
  emoji: string
  sender_type: SenderType
  created_at: Date | string
}

/** A message as the network of a linked device has it; of the business API's messages, who of a group wrote one. */
export interface NetworkDetails {
  /** The chat, where it is no phone number's. */
  remoteJid?: string
  /** Who wrote it, in a group. */
  participant?: string
  pushName?: string
  /** Typed on the phone. */
  fromPhone?: true
  /** As the network wrote it; bytes are base64. */
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
  /** The instance whose connection it went through; null: the organization's own number. */
  instance_id: string | null
  /** What only the network of a linked device tells of it. */
  network: NetworkDetails | null
  status: MessageStatus
  outcome: Outcome | null
  error: MessageError | null
  context_upstream_id: string | null
  assignee_id: string | null
  created_at: Date | string
  accepted_at: Date | string | null
}

/** A message's row with what other tables add to it for showing; the event of a fresh message leaves out what it has not. */
export interface ShownMessage extends Message {
  reactions?: Reaction[] | null
  assignee?: { id: string; full_name: string; email: string } | null
}

/** A message with what shows of its contact. */
export interface MessageOfContact {
  message: ShownMessage
  contact: Pick<Contact, 'chat_id' | 'phone_number' | 'network_id' | 'full_name'>
}

/** Makes the address of a stored file, which works until `expiresAt`. */
export type MediaAddress = (organizationId: string, mediaId: string, expiresAt: Date) => string

/** The message as every interface and event shows it (spec 2.2; contract 4 for the fields after `reactions`). */
export function presentMessage(message: ShownMessage, mediaAddress: MediaAddress) {
  return {
    message: message.text,
    sender_type: message.sender_type,
    created_at: toIso(message.created_at),
    message_status: message.status,
    media_type: message.media_type,
    media_url: presentMedia(message, mediaAddress),
    assignee: message.assignee ?? null,
    voice_note_transcription: message.transcription,
    reactions: (message.reactions ?? []).map((reaction) => ({ ...reaction, created_at: toIso(reaction.created_at) })),
    id: message.id,
    message_id: message.upstream_id,
    message_type: message.message_type,
    context_message_id: message.context_upstream_id,
    error: message.error && { code: message.error.code, text: message.error.text },
    outcome: message.outcome,
    ...presentAuthor(message),
  }
}

/** Who of a group wrote the message; nothing of private ones. */
function presentAuthor({ network }: ShownMessage) {
  if (!network?.participant) return {}
  const { participant, pushName = null } = network
  const digits = /^(\d+)(?::\d+)?@s\.whatsapp\.net$/.exec(participant)?.[1]
  const address =
    digits === undefined ? { phone_number: null, user_id: participant } : { phone_number: `+${digits}`, user_id: null }
  return { author: { name: pushName, ...address } }
}

function presentMedia(
  { organization_id, media_id, media_expires_at }: ShownMessage,
  mediaAddress: MediaAddress,
): string | null {
  if (media_id === null || media_expires_at === null) return null
  return mediaAddress(organization_id, media_id, new Date(media_expires_at))
}
