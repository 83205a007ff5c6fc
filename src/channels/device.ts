import type { JsonObject } from '../lib/text/json.js'
import type { CallFailure } from '../upstream/client.js'
import type { DriverMessage } from './driver.js'

/** Identifies a message on the network. */
export interface MessageKey {
  remoteJid: string
  fromMe: boolean
  id: string
  /** The author, in a group. */
  participant?: string
}

/** A stored message that another one replies to, reacts to or revokes. */
export interface KnownMessage {
  key: MessageKey
  /** The network's message; if it is not stored, one built from the text. */
  message: JsonObject
}

export type ChatPresence = 'available' | 'unavailable' | 'composing' | 'recording' | 'paused'

/** A command to a device. JSON, because another process may run the device. */
export type DeviceCommand =
  /** Returns a code to scan or, with `number`, one to type. Does nothing if the device is connected. → PairingCode */
  | { verb: 'connect'; number: string | null }
  /** Reconnects. → PairingCode | null (null: connected, or connecting without a code) */
  | { verb: 'restart' }
  /** Ends the session permanently. → null */
  | { verb: 'logout' }
  /** → Sent */
  | { verb: 'send'; message: DriverMessage; replyTo: KnownMessage | null }
  /** → null */
  | { verb: 'set_presence'; presence: ChatPresence }
  /** Shows the presence in one chat until it changes or times out on the phone. → null */
  | { verb: 'show_presence'; jid: string; presence: ChatPresence }
  /** `isTyping`: also shows typing below the message, where the channel shows it so (the business API). → null */
  | { verb: 'mark_read'; keys: MessageKey[]; isTyping?: boolean }
  /** → NumberCheck[], in the order asked */
  | { verb: 'check_numbers'; numbers: string[] }
  /** → { url: string | null } */
  | { verb: 'profile_picture'; jid: string }
  /** → Sent */
  | { verb: 'delete_message'; key: MessageKey }
  /** → Sent */
  | { verb: 'edit_message'; key: MessageKey; text: string }
  /** → null */
  | { verb: 'archive'; jid: string; archive: boolean; last: { key: MessageKey; messageTimestamp: number } | null }

/** A code that links the device to a phone; `count` is the number of codes so far. */
export interface PairingCode {
  /** The text of the QR code. */
  code: string | null
  /** The eight characters to type. */
  pairingCode: string | null
  count: number
}

/** The network's answer to a message that it accepted. */
export interface Sent {
  key: MessageKey
  /** The network's form of the message; stored with it. */
  message: JsonObject | null
}

/** Whether a number is on the network, and its address there. */
export interface NumberCheck {
  jid: string
  exists: boolean
  number: string
  name?: string
  lid?: string
}

/** The outcome of a command; devices never throw. */
export type DeviceAnswer =
  | { outcome: 'done'; value: unknown }
  /** This kind of channel does not have the feature; `text` says so. */
  | { outcome: 'unsupported'; text: string }
  /** Not connected; nothing was done. */
  | { outcome: 'not_open'; text: string }
  /** The network refused the command. */
  | { outcome: 'refused'; code: number | null; text: string }
  /** It is not known whether the command was carried out. */
  | { outcome: 'unknown'; text: string }
  /** The upstream's answer to a command that can be repeated. */
  | CallFailure

/** A connected number or device, in this process or another. Waits at most `timeoutMs`; never throws. */
export type Device = (command: DeviceCommand, timeoutMs: number) => Promise<DeviceAnswer>
