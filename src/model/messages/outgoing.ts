import type { NetworkDetails, SenderType } from './message.js'
import type { AskedNote, CallsNote } from './trace.js'

/** A message to be recorded before the upstream is called. */
export interface OutgoingMessage {
  organizationId: string
  id: string
  /** The instance that sends it; null: the organization's own number. */
  instanceId: string | null
  /** Whether a person without a number is addressed by a JID (…@lid, …@g.us) instead of the upstream's user id. */
  usesJids: boolean
  /** Whether the channel sends this content to groups. */
  fitsGroups: boolean
  /** The forms of the recipient's address; the first known one finds the contact. */
  addresses: readonly string[]
  sender_type: Extract<SenderType, 'bot-chat' | 'human-chat'>
  message_type: string
  text: string
  media_type: string | null
  content: unknown
  /** The stored file that it shows. */
  mediaId: string | null
  /** Our id or the upstream's id of the message that it answers or reacts to. */
  replyToId: string | null
  /** A reaction shows only on its target and takes no number in the conversation. */
  isReaction: boolean
  /** Whether the upstream's limit per recipient applies. */
  pairLimit: boolean
  assignee_id: string | null
  created_at: Date
  /** For contact.updated. */
  contactEventId: string
  /** Whether contacts that do not allow broadcasts are left out. */
  isPromotional: boolean
  /** The recipient of the broadcast that the message belongs to; null for other messages. */
  recipient: BroadcastRecipient | null
  /** Who asked for it, for its trace. */
  asked: AskedNote
  /** The trace of the request, if it is recorded; as in the header. */
  traceparent: string | null
}

/** A recipient of a broadcast. A one-off send has n = 0 and is created with its message. */
export interface BroadcastRecipient {
  broadcastId: string
  n: number
  /** The campaign that counts it. */
  campaignId: string
  /** The parameters of a one-off send. */
  parameters: unknown
}

/** Why a message is not recorded. */
export type NotRecorded =
  | { recorded: false; reason: 'no_contact' }
  /** `not_found`: the reply target does not exist. */
  | { recorded: false; reason: 'blocked' | 'not_found'; chatId: string }
  /** The channel has no address of the contact, or the contact is a group that the channel is not in. */
  | { recorded: false; reason: 'unreachable'; chatId: string; isGroup: boolean }
  /** The contact is a group, and the channel does not send this content to groups. */
  | { recorded: false; reason: 'unfit'; chatId: string }
  /** The contact does not allow broadcasts; `optedOut`: because it opted out. */
  | { recorded: false; reason: 'unwanted'; chatId: string; optedOut: boolean }
  /** The broadcast is not running any more, or the recipient was skipped. */
  | { recorded: false; reason: 'withdrawn'; chatId: string }
  /** The limit per recipient is reached. */
  | { recorded: false; reason: 'paced'; chatId: string; waitMs: number }

/** The result of recording: refused with a reason, or recorded with the data that the call needs. */
export type Recorded =
  | NotRecorded
  | {
      recorded: true
      contactId: string
      chatId: string
      /** The upstream's user id, if the contact has no phone number. */
      userId: string | null
      /** The upstream's id of the group, if the contact is one and the channel is a number of the business API. */
      groupId: string | null
      replyToUpstreamId: string | null
    }

/** An acceptance of a message by the upstream. */
export interface Acceptance {
  organizationId: string
  id: string
  upstreamId: string | null
  /** As the network of a linked device has it; null for other channels. */
  network: NetworkDetails | null
  at: Date
  /** Another form of the recipient's number. */
  alias: string | null
  /** The recipient's user id. */
  userId: string | null
  /** Whether the upstream holds it back until it knows how the first recipients of its template react. */
  isHeld?: boolean
  eventId: string
  /** The calls, for its trace. */
  note: CallsNote
}

/** Records sends (core/messages/send/message-writer). */
export interface MessageWriter {
  /**
   * Records a message before its call, or says why not. Waits for the contact's row while `leftMs` is more than 0, then
   * throws service_unavailable. Fails with a unique violation if the message's id is taken.
   */
  record(message: OutgoingMessage, leftMs: () => number): Promise<Recorded>
  /**
   * Records that the upstream accepted a message. Fails with a unique violation if its upstream id is taken; throws
   * service_unavailable as above.
   */
  accept(acceptance: Acceptance): Promise<void>
}
