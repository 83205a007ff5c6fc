import type { ReadyContent } from '../model/messages/content.js'
import type { NetworkDetails } from '../model/messages/message.js'
import type { SendOutcome } from '../upstream/client.js'
import type { UploadFile, UploadOutcome } from '../upstream/media.js'

/** Whom a message is for: a phone number, or the upstream's user id of a person who shows none. */
export type Recipient = { phone: string } | { userId: string }

/** A message on its way out, whatever the kind of connection. */
export interface DriverMessage {
  /** Our id; comes back with every status. */
  id: string
  recipient: Recipient
  content: ReadyContent
  /** The upstream's id of the message that this one answers, or reacts to. */
  replyToUpstreamId: string | null
}

/** What became of a try to send; of what a linked device sent, `network` is to be kept. */
export type DriverOutcome = SendOutcome & { network?: NetworkDetails }

/** A way out: one connected number or device. */
export interface ChannelDriver {
  /** Hands a file over (`id`: under which it is stored with us), waiting at most `timeoutMs`; doing it again is harmless. Never throws. */
  upload(file: UploadFile & { id: string }, timeoutMs: number): Promise<UploadOutcome>
  /** Makes one try, waiting at most `timeoutMs` for the answer. Never throws. */
  send(message: DriverMessage, timeoutMs: number): Promise<DriverOutcome>
}
