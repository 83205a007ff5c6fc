import type { JsonObject } from '../../lib/text/json.js'
import type { MessageKey } from '../device.js'

/** A person or group by what the network calls them; `lid` is the id of a person who hides the number, a whole address. */
export interface NetworkParty {
  phone: string | null
  lid: string | null
}

/** The chat that a message belongs to: with a person, or a group, which has neither phone nor lid. */
export interface NetworkChat extends NetworkParty {
  jid: string
  /** The subject of a group, where it is known. */
  name: string | null
}

/** What the network tells, as JSON: it is stored before it is understood (core/messages/receive/read-device-callback). */
export type DeviceEvent =
  | {
      type: 'message'
      key: MessageKey
      chat: NetworkChat
      /** Who wrote it, in a group. */
      sender: NetworkParty | null
      pushName: string | null
      /** Unix seconds. */
      timestamp: number | null
      /** As the network has it: bytes are base64. Reactions, edits and revocations are messages too; and so is one of ours that comes back. */
      message: JsonObject
    }
  | {
      type: 'status'
      key: MessageKey
      chat: NetworkChat
      status: 'sent' | 'delivered' | 'read' | 'failed'
      timestamp: number | null
      /** The network's code of a failure. */
      code: string | null
    }
