import type { ReadyContent } from '../model/messages/content.js'
import type { NetworkDetails } from '../model/messages/message.js'
import type { SendOutcome } from '../upstream/client.js'
import type { UploadFile, UploadOutcome } from '../upstream/media.js'

/**
 * The recipient: a phone number, the upstream's user id of a person who shows no number, or a group of the business API.
 * Channels that address chats by JIDs get those in place of user ids, also of groups.
 */
export type Recipient = { phone: string } | { userId: string } | { group: string }

/** An outgoing message, for every kind of channel. */
export interface DriverMessage {
  /** Our id; comes back with every status. */
  id: string
  recipient: Recipient
  content: ReadyContent
  /** The upstream's id of the message that this one replies or reacts to. */
  replyToUpstreamId: string | null
}

/** The outcome of one attempt to send. For linked devices, `network` is stored with the message. */
export type DriverOutcome = SendOutcome & { network?: NetworkDetails }

/** Sends through one connected number or device. */
export interface ChannelDriver {
  /** Uploads a file, waiting at most `timeoutMs`; `id` is our id of the file. Can be repeated. Never throws. */
  upload(file: UploadFile & { id: string }, timeoutMs: number): Promise<UploadOutcome>
  /** Makes one attempt, waiting at most `timeoutMs` for the answer. Never throws. */
  send(message: DriverMessage, timeoutMs: number): Promise<DriverOutcome>
}
