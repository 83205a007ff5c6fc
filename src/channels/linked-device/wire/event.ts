import type { JsonObject } from '../../../lib/text/json.js'
import type { MessageKey } from '../../device.js'

/** A person or group by its names on the network; `lid` is the full address of a person who hides the number. */
export interface NetworkParty {
  phone: string | null
  lid: string | null
}

/** The chat of a message: a person, or a group, which has neither phone nor lid. */
export interface NetworkChat extends NetworkParty {
  jid: string
  /** The subject of a group, if known. */
  name: string | null
}

/**
 * An event of the network as JSON. It is stored first and interpreted later, by
 * core/callbacks/read/read-device-callback.
 */
export type DeviceEvent =
  | {
      type: 'message'
      key: MessageKey
      chat: NetworkChat
      /** The author, in a group. */
      sender: NetworkParty | null
      pushName: string | null
      /** Unix seconds. */
      timestamp: number | null
      /**
       * The network's message; bytes are base64. Reactions, edits and revocations are messages too, and so are our own
       * when they come back.
       */
      message: JsonObject
      /** The account is set to leave chats in the archive when a message comes. The connection adds it. */
      keepsArchived?: boolean
    }
  | {
      type: 'status'
      key: MessageKey
      chat: NetworkChat
      status: 'sent' | 'delivered' | 'read' | 'failed'
      timestamp: number | null
      /** The network's error code. */
      code: string | null
    }
