import { withTimeout } from '../../../lib/async/timeout.js'
import { asObject, asObjects, asText, type JsonObject } from '../../../lib/text/json.js'
import { KeysNotRead } from '../keys/key-store.js'
import type { SessionKeys } from '../keys/session-keys.js'
import type { ClientVersion, LibraryLogger, LinkedLibrary, LinkedSocket } from '../library.js'
import type { DeviceEvent } from '../wire/event.js'
import { type Directory, readNetworkEvent } from '../wire/from-network.js'
import { isChat, isGroup, normalizeJid } from '../wire/jid.js'
import { codeOf } from './close-reason.js'
import { createReorderBuffer } from './reorder-buffer.js'

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

/** One connection, from start to end. */
export interface Connection {
  socket: LinkedSocket
  /** Names that only the network or the session's keys know. */
  directory: Directory
  /** The addresses of this account. */
  own(): string[]
  ended: Promise<ConnectionEnd>
  /** Ends the connection at once, without logging out. */
  hangUp(reason: ConnectionEnd): void
}

/** Connects. Throws the library's error if the connection cannot even start. */
export function openConnection(
  library: LinkedLibrary,
  options: ConnectionOptions,
  listener: ConnectionListener,
): Connection {
  const { keys, settings, socketUrl, version, findMessage, sleep } = options
  const reorderBuffer = createReorderBuffer(listener.onEvents, sleep)
  let end: (reason: ConnectionEnd) => void = () => undefined
  let hasEnded = false
  const ended = new Promise<ConnectionEnd>((resolve) => {
    end = (reason) => {
      hasEnded = true
      reorderBuffer.end()
      resolve(reason)
    }
  })
  const socket = library.makeWASocket({
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
  })
  const directory = openDirectory(socket)

  function handleEvent(name: string, data: unknown): void {
    if (name === 'creds.update') keys.credentialsChanged()
    if (name === 'connection.update') handleConnectionUpdate(asObject(data))
    if (name === 'call') handleCalls(data)
    if (name === 'messages.upsert') handleMessages(data)
    else handleOther(name, data)
  }

  function handleMessages(data: unknown): void {
    const messages = asObjects(asObject(data).messages)
    reorderBuffer.decrypted(
      messages.map((message) => ({
        id: asText(asObject(message.key).id),
        events: readNetworkEvent('messages.upsert', { messages: [message] }, own()),
      })),
    )
  }

  function handleOther(name: string, data: unknown): void {
    const events = readNetworkEvent(name, data, own())
    if (events.length > 0) listener.onEvents(events)
  }

  function handleConnectionUpdate({ qr, connection, lastDisconnect, receivedPendingNotifications }: JsonObject): void {
    if (hasEnded) return
    if (receivedPendingNotifications === true) reorderBuffer.backlogDone()
    const code = asText(qr)
    if (code !== null) listener.onQr(code)
    if (connection === 'open') listener.onOpen()
    if (connection !== 'close') return
    const { error } = asObject(lastDisconnect)
    end({ code: codeOf(error), text: error instanceof Error ? error.message : 'The connection ended' })
  }

  function handleCalls(data: unknown): void {
    const { rejectCalls, callAnswer } = settings()
    if (!rejectCalls) return
    for (const call of asObjects(data)) {
      const id = asText(call.id)
      const from = asText(call.from)
      if (call.status !== 'offer' || id === null || from === null) continue
      // The call waited for the device; the caller has hung up since.
      if (call.offline === true) continue
      void decline(id, from, call.isGroup === true ? null : callAnswer)
    }
  }

  async function decline(id: string, from: string, answer: string | null): Promise<void> {
    try {
      await socket.rejectCall(id, from)
      if (answer) await socket.sendMessage(normalizeJid(from), { text: answer, linkPreview: null }, {})
    } catch (error) {
      listener.onWarning(error, 'A call could not be declined')
    }
  }

  function own(): string[] {
    const { id, lid } = keys.state.creds.me ?? {}
    return [id, lid].filter((jid) => jid !== undefined && jid !== null).map(normalizeJid)
  }

  socket.ws.on('CB:message', ({ attrs }) => reorderBuffer.arrived(attrs))
  listenTo(socket, (name, data) => {
    try {
      handleEvent(name, data)
    } catch (error) {
      listener.onWarning(error, `An event of the network (${name}) could not be read`)
    }
  })
  return {
    socket,
    directory,
    own,
    ended,
    hangUp: (reason) => {
      end(reason)
      // The library may wait long for a network that is gone.
      Promise.resolve(socket.end(undefined)).catch(() => undefined)
    },
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

/** Maximum wait for a group's name; its messages wait for it. */
const SUBJECT_TIMEOUT_MS = 5_000

function openDirectory(socket: LinkedSocket): Directory {
  const subjects = new Map<string, Promise<string | null>>()

  async function askSubject(group: string): Promise<string | null> {
    const found = await withTimeout(socket.groupMetadata(group), SUBJECT_TIMEOUT_MS).catch(() => null)
    return asText(found?.subject)
  }

  return {
    findPhone: (lid) => socket.signalRepository.lidMapping.getPNForLID(lid).catch(toNone),
    // Asked once per connection.
    findSubject: (group) => {
      const known = subjects.get(group) ?? askSubject(group)
      subjects.set(group, known)
      return known
    },
  }
}

/** Other failures mean that no number is known; keys that could not be read may contain one. */
function toNone(error: unknown): null {
  if (error instanceof KeysNotRead) throw error
  return null
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
