import type { NetworkDetails, SenderType } from './message.js'

/** A message to be recorded before the upstream is called. */
export interface OutgoingMessage {
  organizationId: string
  id: string
  /** The instance whose connection it leaves by; null: the organization's own number. */
  instanceId: string | null
  /** Whether a person without a number is called as a device's network does (…@lid, …@g.us), not by the upstream's user id. */
  usesJids: boolean
  /** The forms of the recipient's address; the first that is known leads to the contact. */
  addresses: readonly string[]
  sender_type: Extract<SenderType, 'bot-chat' | 'human-chat'>
  message_type: string
  text: string
  media_type: string | null
  content: unknown
  /** The stored file that it shows. */
  mediaId: string | null
  /** Id, ours or the upstream's, of the message that this one answers or reacts to. */
  replyToId: string | null
  /** A reaction shows only on the message that it is about, so it takes no number in the conversation. */
  isReaction: boolean
  /** Whether the upstream's pace for one recipient is to be kept. */
  pairLimit: boolean
  assignee_id: string | null
  created_at: Date
  /** For contact.updated. */
  contactEventId: string
  /** Whether it is kept from who wants no broadcasts. */
  isPromotional: boolean
  /** The recipient of a broadcast that it is for; null of other messages. */
  recipient: BroadcastRecipient | null
}

/** A recipient of a broadcast. A single, with n = 0, is made together with its message. */
export interface BroadcastRecipient {
  broadcastId: string
  n: number
  /** With what it is counted. */
  campaignId: string
  /** Its own parameters, to be kept with a single. */
  parameters: unknown
}

/** Why a message is not recorded. */
export type NotRecorded =
  | { recorded: false; reason: 'no_contact' }
  /** `not_found`: the message that it is about. */
  | { recorded: false; reason: 'blocked' | 'not_found'; chatId: string }
  /** The connection has no address of the contact, or the contact is a group and the connection reaches none. */
  | { recorded: false; reason: 'unreachable'; chatId: string; isGroup: boolean }
  /** The contact wants no broadcasts; `optedOut`: it said so itself. */
  | { recorded: false; reason: 'unwanted'; chatId: string; optedOut: boolean }
  /** The broadcast does not run any more, or the recipient is not to be sent to. */
  | { recorded: false; reason: 'withdrawn'; chatId: string }
  /** The recipient has had as many messages as the upstream takes for now. */
  | { recorded: false; reason: 'paced'; chatId: string; waitMs: number }

/** What became of recording: refused with the reason, or recorded with what the call to the upstream needs. */
export type Recorded =
  | NotRecorded
  | {
      recorded: true
      contactId: string
      chatId: string
      /** The upstream's user id, where the contact has no phone number. */
      userId: string | null
      replyToUpstreamId: string | null
    }

/** What the upstream's acceptance of a message tells. */
export interface Acceptance {
  organizationId: string
  id: string
  upstreamId: string | null
  /** As the network of a linked device has it; null elsewhere. */
  network: NetworkDetails | null
  at: Date
  /** A further form of the recipient's number. */
  alias: string | null
  /** The recipient's user id. */
  userId: string | null
  eventId: string
}

/** Writes down what is sent (core/messages/send/message-writer). */
export interface MessageWriter {
  /**
   * Records a message before its call, or says why not. Tries until the time `until` (milliseconds) to get hold of the
   * contact's row, then throws service_unavailable. A unique violation when the message's id is taken.
   */
  record(message: OutgoingMessage, until: number): Promise<Recorded>
  /** Keeps that the upstream took a message. A unique violation when its upstream id is taken; service_unavailable as above. */
  accept(acceptance: Acceptance): Promise<void>
}
