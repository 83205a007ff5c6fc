import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import type { SessionKeys } from '../keys/session-keys.js'
import type { ClientVersion, LibraryLogger, LinkedLibrary, LinkedSocket, SocketConfig } from '../library.js'
import type { DeviceEvent } from '../wire/event.js'
import { type Directory, editedBy, readNetworkEvent } from '../wire/from-network.js'
import { isChat, isGroup, normalizeJid } from '../wire/jid.js'
import { isOfGroup, type NetworkSignal, readSignals } from '../wire/signals.js'
import { declineCalls } from './calls.js'
import { codeOf } from './close-reason.js'
import { openDirectory } from './directory.js'
import { ReorderBuffer } from './reorder-buffer.js'
import { isVote, readVote } from './votes.js'

/** The settings that the owner of a device has chosen. */
export interface DeviceSettings {
  /** Declines calls and sends `callAnswer` to the caller. */
  rejectCalls: boolean
  callAnswer: string | null
  ignoreGroups: boolean
  /** Shown as online while connected. */
  alwaysOnline: boolean
  /** Marks incoming messages as read. */
  readMessages: boolean
}

/** How a connection ended; `code` is the network's, null if it gave none. */
export interface ConnectionEnd {
  code: number | null
  text: string
  /** We hung up in order to reconnect. */
  isIntended?: boolean
}

/** Receives what happens on a connection. None of these throws. */
export interface ConnectionListener {
  onOpen(): void
  /** A code to scan. */
  onQr(text: string): void
  onEvents(events: DeviceEvent[]): void
  onSignal(signal: NetworkSignal): void
  onWarning(error: unknown, text: string): void
}

export interface ConnectionOptions {
  keys: SessionKeys
  /** Null: the network's own address. */
  socketUrl: string | null
  /** Null: the library's default. */
  version: ClientVersion | null
  settings: () => DeviceSettings
  findMessage: (networkId: string) => Promise<JsonObject | null>
  sleep: (ms: number, signal: AbortSignal) => Promise<void>
}

/** How many edits are remembered until the library raises them again, which it does at once. */
const MAX_EDITED = 1_000

/** One connection, from start to end. */
export class Connection {
  readonly socket: LinkedSocket
  /** Names that only the network or the session's keys know. */
  readonly directory: Directory
  readonly ended: Promise<ConnectionEnd>
  readonly #options: ConnectionOptions
  readonly #listener: ConnectionListener
  readonly #reorderBuffer: ReorderBuffer
  /** The messages whose edits came as messages: the library raises them a second time. */
  readonly #edited = new Set<string>()
  readonly #library: LinkedLibrary
  #resolveEnded: (reason: ConnectionEnd) => void = () => undefined
  #hasEnded = false

  /** Connects. Throws the library's error if the connection cannot even start. */
  constructor(library: LinkedLibrary, options: ConnectionOptions, listener: ConnectionListener) {
    this.#library = library
    this.#options = options
    this.#listener = listener
    this.#reorderBuffer = new ReorderBuffer(listener.onEvents, options.sleep)
    this.ended = new Promise((resolve) => {
      this.#resolveEnded = resolve
    })
    this.socket = library.makeWASocket(toSocketConfig(library, options))
    this.directory = openDirectory(this.socket)
    this.socket.ws.on('CB:message', ({ attrs }) => this.#reorderBuffer.arrived(attrs))
    listenTo(this.socket, (name, data) => this.#receive(name, data))
  }

  /** Ends the connection at once, without logging out. */
  hangUp(reason: ConnectionEnd): void {
    this.#end(reason)
    // The library may wait long for a network that is gone.
    Promise.resolve(this.socket.end(undefined)).catch(() => undefined)
  }

  #end(reason: ConnectionEnd): void {
    this.#hasEnded = true
    this.#reorderBuffer.end()
    this.#resolveEnded(reason)
  }

  #receive(name: string, data: unknown): void {
    try {
      this.#handleEvent(name, data)
    } catch (error) {
      this.#listener.onWarning(error, `An event of the network (${name}) could not be read`)
    }
  }

  #handleEvent(name: string, data: unknown): void {
    const { keys, settings } = this.#options
    if (name === 'creds.update') keys.credentialsChanged()
    if (name === 'connection.update') this.#handleConnectionUpdate(asObject(data))
    if (name === 'call') declineCalls(this.socket, settings(), data, this.#listener.onWarning)
    for (const signal of readSignals(name, data)) {
      if (!(isOfGroup(signal) && settings().ignoreGroups)) this.#listener.onSignal(signal)
    }
    if (name === 'messages.upsert') this.#handleMessages(data)
    else this.#handleOther(name, data)
  }

  #handleConnectionUpdate({ qr, connection, lastDisconnect, receivedPendingNotifications }: JsonObject): void {
    if (this.#hasEnded) return
    if (receivedPendingNotifications === true) this.#reorderBuffer.backlogDone()
    const code = asText(qr)
    if (code !== null) this.#listener.onQr(code)
    if (connection === 'open') this.#listener.onOpen()
    if (connection !== 'close') return
    const { error } = asObject(lastDisconnect)
    this.#end({ code: codeOf(error), text: error instanceof Error ? error.message : 'The connection ended' })
  }

  #handleMessages(data: unknown): void {
    const own = this.#ownAddresses()
    const keepsArchived = this.#options.keys.state.creds.accountSettings?.unarchiveChats !== true
    const messages = asObjects(asObject(data).messages)
    const decrypted = messages.map((message) => ({
      id: asText(asObject(message.key).id),
      events: readNetworkEvent('messages.upsert', { messages: [message] }, own).map((event) => ({
        ...event,
        keepsArchived,
      })),
    }))
    for (const event of decrypted.flatMap(({ events }) => events)) this.#noteEdit(event)
    this.#reorderBuffer.decrypted(decrypted)
    for (const vote of messages.filter(isVote)) this.#handleVote(vote, own)
  }

  #handleVote(vote: JsonObject, own: readonly string[]): void {
    const { findMessage } = this.#options
    readVote({ library: this.#library, findMessage, own }, vote)
      .then((signal) => {
        if (signal !== null) this.#listener.onSignal(signal)
      })
      .catch((error: unknown) => this.#listener.onWarning(error, 'A vote could not be read'))
  }

  #noteEdit(event: DeviceEvent): void {
    const target = editedBy(event)
    if (target === null) return
    this.#edited.add(target)
    const [oldest] = this.#edited
    if (this.#edited.size > MAX_EDITED && oldest !== undefined) this.#edited.delete(oldest)
  }

  #handleOther(name: string, data: unknown): void {
    const events = readNetworkEvent(name, data, this.#ownAddresses()).filter((event) => {
      const target = editedBy(event)
      return target === null || !this.#edited.delete(target)
    })
    if (events.length > 0) this.#listener.onEvents(events)
  }

  /** The addresses of this account. */
  #ownAddresses(): string[] {
    const { id, lid } = this.#options.keys.state.creds.me ?? {}
    return [id, lid].filter((jid) => jid !== undefined && jid !== null).map(normalizeJid)
  }
}

function toSocketConfig(library: LinkedLibrary, options: ConnectionOptions): SocketConfig {
  const { keys, settings, socketUrl, version, findMessage } = options
  return {
    auth: keys.state,
    logger: silentLogger,
    ...(socketUrl === null ? {} : { waWebSocketUrl: socketUrl }),
    ...(version === null ? {} : { version }),
    emitOwnEvents: false,
    syncFullHistory: false,
    markOnlineOnConnect: settings().alwaysOnline,
    shouldIgnoreJid: (jid) => !isChat(jid) || (isGroup(jid) && settings().ignoreGroups),
    getMessage: async ({ id }) => {
      const message = id ? await findMessage(id) : null
      return message === null ? undefined : library.proto.Message.fromObject(message)
    },
    // A failure to write keys ends the connection at once; see SessionKeys.
    transactionOpts: { maxCommitRetries: 1, delayBetweenTriesMs: 0 },
  }
}

/**
 * Receives events when the library raises them. The library holds them back for up to 30 s before its own listeners get
 * them, but confirms the messages to the network at once; they would be lost if the process ended.
 */
function listenTo({ ev }: LinkedSocket, handleEvent: (name: string, data: unknown) => void): void {
  const emit = ev.emit.bind(ev)
  ev.emit = (name, data) => {
    const isHeard = emit(name, data)
    handleEvent(name, data)
    return isHeard
  }
}

/** The library's log lines contain keys and messages. */
const silentLogger: LibraryLogger = {
  level: 'silent',
  child: () => silentLogger,
  trace: () => undefined,
  debug: () => undefined,
  info: () => undefined,
  warn: () => undefined,
  error: () => undefined,
}
