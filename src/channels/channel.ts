import type { SendOutcome } from '../upstream/client.js'

/** Whom a message is for: a phone number, or the upstream's user id of a person who shows none. */
export type Recipient = { phone: string } | { userId: string }

/** A message on its way out, whatever the kind of connection. */
export interface ChannelMessage {
  /** Our id; comes back with every status. */
  id: string
  recipient: Recipient
  content: { type: 'text'; text: string }
  /** The upstream's id of the message that this one answers. */
  contextUpstreamId: string | null
}

/** A way out: one connected number or device. */
export interface Channel {
  /** Makes one try, waiting at most `timeoutMs` for the answer. Never throws. */
  send(message: ChannelMessage, timeoutMs: number): Promise<SendOutcome>
}
