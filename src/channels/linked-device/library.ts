import output from 'node:console'
import { createRequire } from 'node:module'
import { isAbsolute } from 'node:path'
import type { Readable } from 'node:stream'
import { pathToFileURL } from 'node:url'
import type { JsonObject } from '../../lib/text/json.js'
import type { ChatPresence, MessageKey } from '../device.js'
import { type OnLibraryRejection, surviveLibraryRejections } from './library-rejections.js'

/**
 * The parts of the protocol library (`baileys` 7) that Parley uses. It is not a dependency, since its own dependencies
 * are under the GPL: it is loaded only if an operator has installed it.
 */
export interface LinkedLibrary {
  makeWASocket(config: SocketConfig): LinkedSocket
  initAuthCreds(): Credentials
  /** Converts between values that contain bytes and JSON. */
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
  /** Throws if the addresses are not those with which the vote was encrypted. */
  decryptPollVote?(
    vote: JsonObject,
    context: { pollCreatorJid: string; voterJid: string; pollMsgId: string; pollEncKey: Uint8Array },
  ): { selectedOptions?: Uint8Array[] | null }
  downloadContentFromMessage(file: EncryptedFile, kind: string, options?: JsonObject): Promise<Readable>
  /** A query about people. */
  USyncQuery: new () => PeopleQuery
  USyncUser: new () => { withPhone(phone: string): unknown }
  /**
   * The current version of the network's web client. Never fails; `isLatest` is false if the version could not be
   * looked up.
   */
  fetchLatestWaWebVersion(): Promise<{ version: ClientVersion; isLatest: boolean }>
}

export type ClientVersion = [number, number, number]

/** A message in the library's form: bytes are Uint8Arrays, large numbers are Longs. */
export type NetworkMessage = object

/** The session's keys and account data; only the fields that Parley reads. */
export interface Credentials {
  me?: { id: string; name?: string; verifiedName?: string; lid?: string }
  /** Present once a phone has linked the device. */
  account?: unknown
  /** Known once the phone has handed over the account's settings; chats stay archived until then, as on a new phone. */
  accountSettings?: { unarchiveChats?: boolean }
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

/** A person; `contact` is missing if the network does not say whether the number exists. */
export interface FoundPerson {
  id: string
  contact?: boolean
  lid?: string | null
}

/** Values by type and id, besides the credentials; null removes a value. */
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

export interface LinkedSocket {
  ev: { emit(event: string, data: unknown): boolean }
  /** `CB:message`: a message has arrived, still encrypted. */
  ws: { on(event: 'CB:message', listener: (stanza: Stanza) => void): unknown }
  signalRepository: { lidMapping: { getPNForLID(lid: string): Promise<string | null> } }
  end(error: Error | undefined): unknown
  logout(): Promise<void>
  requestPairingCode(number: string): Promise<string>
  sendMessage(jid: string, content: JsonObject, options: JsonObject): Promise<SentMessage | undefined>
  /** The network's next answer about this message; undefined if there is none in time. */
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
 * Loads the library by package name or from the absolute path of a folder or file. Null if it is not installed; throws
 * if it cannot be loaded or is another library. `onRejection` receives its unhandled rejections, which would end the
 * process.
 */
export async function loadLibrary(specifier: string, onRejection: OnLibraryRejection): Promise<LinkedLibrary | null> {
  try {
    const library: unknown = await import(addressOf(specifier))
    if (!isLibrary(library)) throw new Error(`${specifier} is not a supported version of the library`)
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
  // The path may be a folder with a main file.
  return pathToFileURL(createRequire(import.meta.url).resolve(specifier)).href
}

function isLibrary(library: unknown): library is LinkedLibrary {
  const needed = ['makeWASocket', 'initAuthCreds', 'BufferJSON', 'proto', 'downloadContentFromMessage', 'USyncQuery']
  return needed.every((name) => name in (library as object))
}

/** False if a dependency of the library is missing. */
function isNotInstalled(error: unknown, specifier: string): boolean {
  const { code, message = '' } = error as NodeJS.ErrnoException
  return (code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND') && message.includes(`'${specifier}'`)
}

let isSilenced = false

/**
 * A dependency of the library prints whole sessions, including keys, to the console. Our own code prints no objects
 * there.
 */
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
