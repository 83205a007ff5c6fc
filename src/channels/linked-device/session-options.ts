import type { JsonObject } from '../../lib/text/json.js'
import type { PairingCode } from '../device.js'
import type { DeviceSettings } from './connection/connection.js'
import type { KeyStore } from './keys/key-store.js'
import type { PendingWrite } from './retry-queue.js'
import type { DeviceEvent } from './wire/event.js'
import type { NetworkSignal } from './wire/signals.js'
import type { OpenedFile } from './wire/to-network.js'

/** The state of a session. `code` is the network's code of the last close; `text` explains it to users. */
export interface DeviceState {
  state: 'open' | 'connecting' | 'close'
  code: number | null
  text: string | null
  /** The digits of the number and the profile name, while connected. */
  owner?: string
  profileName?: string
}

export interface SessionLog {
  info(fields: JsonObject, text: string): void
  warn(fields: JsonObject, text: string): void
}

export interface DeviceSessionOptions {
  store: KeyStore
  /** These three record what happens. Calls do not overlap and are repeated until they resolve. */
  onState(state: DeviceState): Promise<void>
  onCode(code: PairingCode): Promise<void>
  onMessages(events: DeviceEvent[]): Promise<void>
  /** Called with what is not stored, such as presence and calls; must not throw. */
  onSignal(signal: NetworkSignal): void
  /** Takes over messages that could not be recorded before the session was stopped. */
  onUnrecorded(delivery: PendingWrite): void
  /** The stored message with this network id, for a phone that could not decrypt it. */
  findMessage(networkId: string): Promise<JsonObject | null>
  /** Opens the file that a message names as `channelMediaId`. */
  openFile(mediaId: string): Promise<OpenedFile>
  /** The current settings. */
  settings(): DeviceSettings
  log: SessionLog
  /** The network's address; null: the default. */
  socketUrl: string | null
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  random?: () => number
}

export type SessionSettings = Required<DeviceSessionOptions>
