import output from 'node:console'
import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../lib/text/json.js'
import type { ChatPresence, MessageKey } from '../device.js'
import { type OnLibraryRejection, surviveLibraryRejections } from './library-rejections.js'

/**
 * What is used of the library that speaks the network's protocol (`baileys` 7). It is no dependency of ours: its own are
 * under the GPL, so it is loaded only where an operator has installed it, and these types are all that we know of it.
 */
export interface LinkedLibrary {
  makeWASocket(config: SocketConfig): LinkedSocket
  initAuthCreds(): Credentials
  /** Between values with bytes in them and JSON. */
  BufferJSON: {
    replacer: (key: string, value: unknown) => unknown
    reviver: (key: string, value: unknown) => unknown
  }
  proto: {
    Message: {
      fromObject(message: JsonObject): NetworkMessage
      AppStateSyncKeyData: { fromObject(value: JsonObject): unknown }
    }
  }
  /** The decrypted bytes of a file. */
  downloadContentFromMessage(file: EncryptedFile, kind: string, options?: JsonObject): Promise<Readable>
  /** A question to the network about people. */
  USyncQuery: new () => PeopleQuery
  USyncUser: new () => { withPhone(phone: string): unknown }
  /** The version that the network's own web client has now; never fails, `isLatest` tells whether it was found out. */
  fetchLatestWaWebVersion(): Promise<{ version: ClientVersion; isLatest: boolean }>
}

export type ClientVersion = [number, number, number]

/** A message as the library has it: bytes are Uint8Arrays, big numbers are Longs. */
export type NetworkMessage = object

/** The session's own keys and what the network told of the account; only what is read here is named. */
export interface Credentials {
  me?: { id: string; name?: string; verifiedName?: string; lid?: string }
  /** There from the moment at which a phone has linked the device. */
  account?: unknown
}

export interface EncryptedFile {
  mediaKey?: Uint8Array
  directPath?: string
  url?: string
}

export interface PeopleQuery {
  withContactProtocol(): PeopleQuery
  withLIDProtocol(): PeopleQuery
  withUser(user: unknown): PeopleQuery
}

/** What the network says of a person: `contact` is missing where it does not say whether there is one. */
export interface FoundPerson {
  id: string
  contact?: boolean
  lid?: string | null
}

/** Key and value of what a session keeps beside its credentials; null removes it. */
export type KeysByType = Record<string, Record<string, unknown>>

export interface AuthenticationState {
  creds: Credentials
  keys: {
    get(type: string, ids: string[]): Promise<Record<string, unknown>>
    set(data: KeysByType): Promise<void>
  }
}

export interface SocketConfig {
  auth: AuthenticationState
  logger: LibraryLogger
  waWebSocketUrl?: string
  version?: ClientVersion
  emitOwnEvents: boolean
  syncFullHistory: boolean
  markOnlineOnConnect: boolean
  shouldIgnoreJid: (jid: string) => boolean
  getMessage: (key: { id?: string | null }) => Promise<NetworkMessage | undefined>
  transactionOpts: { maxCommitRetries: number; delayBetweenTriesMs: number }
}

export interface LibraryLogger {
  level: string
  child(): LibraryLogger
  trace(...entry: unknown[]): void
  debug(...entry: unknown[]): void
  info(...entry: unknown[]): void
  warn(...entry: unknown[]): void
  error(...entry: unknown[]): void
}

/** One connection to the network. */
export interface LinkedSocket {
  ev: { emit(event: string, data: unknown): boolean }
  /** `CB:message`: an envelope has come, still encrypted. */
  ws: { on(event: 'CB:message', listener: (stanza: Stanza) => void): unknown }
  signalRepository: { lidMapping: { getPNForLID(lid: string): Promise<string | null> } }
  end(error: Error | undefined): unknown
  logout(): Promise<void>
  requestPairingCode(number: string): Promise<string>
  sendMessage(jid: string, content: JsonObject, options: JsonObject): Promise<SentMessage | undefined>
  /** The next word of the network that names this id; undefined when there is none in time. */
  waitForMessage(id: string, timeoutMs: number): Promise<Stanza | undefined>
  executeUSyncQuery(query: PeopleQuery): Promise<{ list: FoundPerson[] } | undefined>
  groupMetadata(jid: string): Promise<{ subject?: string; participants?: { id: string }[] }>
  profilePictureUrl(jid: string, size: 'image' | 'preview', timeoutMs?: number): Promise<string | undefined>
  sendPresenceUpdate(presence: ChatPresence, jid?: string): Promise<void>
  readMessages(keys: MessageKey[]): Promise<void>
  chatModify(change: JsonObject, jid: string): Promise<void>
  rejectCall(id: string, from: string): Promise<void>
}

export interface SentMessage {
  key: { remoteJid?: string | null; fromMe?: boolean | null; id?: string | null; participant?: string | null }
  message?: NetworkMessage | null
}

export interface Stanza {
  tag: string
  attrs: Record<string, string | undefined>
}

/**
 * Loads the library by the name of its package, or from a folder's or file's absolute path. Null where it is not installed;
 * throws where what is there cannot be loaded or is no such library. `onStray` hears of what it fails at unheard, which would end the
 * process.
 */
export async function loadLibrary(specifier: string, onRejection: OnLibraryRejection): Promise<LinkedLibrary | null> {
  try {
    const library: unknown = await import(addressOf(specifier))
    if (!isLibrary(library)) throw new Error(`${specifier} is no version of the library that is known here`)
    silenceSessionDumps()
    surviveLibraryRejections(specifier, onRejection)
    return library
  } catch (error) {
    if (isNotInstalled(error, specifier)) return null
    throw error
  }
}

function addressOf(specifier: string): string {
  if (!isAbsolute(specifier)) return specifier
  // A folder has a main file.
  return pathToFileURL(createRequire(import.meta.url).resolve(specifier)).href
}

function isLibrary(library: unknown): library is LinkedLibrary {
  const needed = ['makeWASocket', 'initAuthCreds', 'BufferJSON', 'proto', 'downloadContentFromMessage', 'USyncQuery']
  return needed.every((name) => name in (library as object))
}

/** Something that the library itself lacks is another failure. */
function isNotInstalled(error: unknown, specifier: string): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(`'${specifier}'`)
}

let isSilenced = false

/** A dependency of the library prints whole sessions, keys and all, to the console; nothing of ours prints objects there. */
function silenceSessionDumps(): void {
  if (isSilenced) return
  isSilenced = true
  for (const level of ['log', 'info', 'warn'] as const) {
    const print = output[level].bind(output)
    output[level] = (...entry: unknown[]) => {
      if (!entry.some((part) => typeof part === 'object' && part !== null)) print(...entry)
    }
  }
}
