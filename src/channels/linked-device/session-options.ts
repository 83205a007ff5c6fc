import type { JsonObject } from '../../lib/text/json.js'
import type { PairingCode } from '../device.js'
import type { DeviceSettings } from './connection.js'
import type { DeviceEvent } from './event.js'
import type { KeyStore } from './key-store.js'
import type { PendingWrite } from './retry-queue.js'
import type { OpenedFile } from './to-network.js'

/** How a session stands. `code` is the network's code of the last close; `text` says to people what it means. */
export interface DeviceState {
  state: 'open' | 'connecting' | 'close'
  code: number | null
  text: string | null
  /** Digits of the number, and the name of its profile; when it is open. */
  owner?: string
  profileName?: string
}

export interface SessionLog {
  info(fields: JsonObject, text: string): void
  warn(fields: JsonObject, text: string): void
}

/** What a session needs of its surroundings. */
export interface DeviceSessionOptions {
  store: KeyStore
  /** These three record what happens, one call after the other, and are called again until they resolve. */
  onState(state: DeviceState): Promise<void>
  onCode(code: PairingCode): Promise<void>
  onMessages(events: DeviceEvent[]): Promise<void>
  /** Takes over what came in and could not be recorded before the session was stopped. */
  onUnrecorded(delivery: PendingWrite): void
  /** The network's message (JSON) that has this id on the network, for a phone that could not read it. */
  findMessage(networkId: string): Promise<JsonObject | null>
  /** The file that a message names as `channelMediaId`. */
  openFile(mediaId: string): Promise<OpenedFile>
  /** As they are now. */
  settings(): DeviceSettings
  log: SessionLog
  /** Where the network is; null: at its own address. */
  socketUrl: string | null
  sleep?: (ms: number, signal: AbortSignal) => Promise<void>
  random?: () => number
}

/** The same, with everything given. */
export type SessionSettings = Required<DeviceSessionOptions>
