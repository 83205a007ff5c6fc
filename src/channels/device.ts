import type { JsonObject } from '../lib/text/json.js'
import type { DriverMessage } from './driver.js'

/** A message as the network names it. */
export interface MessageKey {
  remoteJid: string
  fromMe: boolean
  id: string
  /** Who wrote it, in a group. */
  participant?: string
}

/** The message that another one answers, reacts to, or takes back, as far as it is known here. */
export interface KnownMessage {
  key: MessageKey
  /** As the network wrote it; where that is not known, made from its text. */
  message: JsonObject
}

export type ChatPresence = 'available' | 'unavailable' | 'composing' | 'recording' | 'paused'

/** What a device is asked to do; JSON, since another process may have to do it. */
export type DeviceCommand =
  /** Shows a code to be scanned, or with `number` one to be typed; changes nothing where it is open. → PairingCode */
  | { verb: 'connect'; number: string | null }
  /** Connects anew. → PairingCode | null (null: it is open, or on its way without a code) */
  | { verb: 'restart' }
  /** Ends the session for good. → null */
  | { verb: 'logout' }
  /** → Sent */
  | { verb: 'send'; message: DriverMessage; replyTo: KnownMessage | null }
  /** → null */
  | { verb: 'set_presence'; presence: ChatPresence }
  /** Shows it in a chat until it is changed or forgotten. → null */
  | { verb: 'show_presence'; jid: string; presence: ChatPresence }
  /** → null */
  | { verb: 'mark_read'; keys: MessageKey[] }
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

/** A code by which a phone links the device; `count` = how many there have been. */
export interface PairingCode {
  /** The text of the QR code. */
  code: string | null
  /** The eight characters to be typed. */
  pairingCode: string | null
  count: number
}

/** What the network says of a message that it took. */
export interface Sent {
  key: MessageKey
  /** As the network has it; kept with the message. */
  message: JsonObject | null
}

/** Whether a number can be written to; `jid` under which. */
export interface NumberCheck {
  jid: string
  exists: boolean
  number: string
  name?: string
  lid?: string
}

/** What became of a command. Never an exception. */
export type DeviceAnswer =
  | { outcome: 'done'; value: unknown }
  /** This kind of connection has no such thing; `text` says so. */
  | { outcome: 'unsupported'; text: string }
  /** It is not connected; surely nothing was done. */
  | { outcome: 'not_open'; text: string }
  /** The network said no. */
  | { outcome: 'refused'; code: number | null; text: string }
  /** Nobody can tell whether it was done. */
  | { outcome: 'unknown'; text: string }

/** A connected number or device, wherever it runs. Waits at most `timeoutMs`; never throws. */
export type Device = (command: DeviceCommand, timeoutMs: number) => Promise<DeviceAnswer>
