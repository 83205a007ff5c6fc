import { backoffDelay } from '../../../lib/async/backoff.js'
import type { PairingCode } from '../../device.js'
import type { EventWriter } from '../event-writer.js'
import { openSessionKeys, type SessionKeys } from '../keys/session-keys.js'
import type { ClientVersion, LinkedLibrary } from '../library.js'
import type { DeviceState, SessionSettings } from '../session-options.js'
import { normalizeJid, phoneOf } from '../wire/jid.js'
import { CLOSE_CODES, codeOf, isRefusal, nextStep } from './close-reason.js'
import type { Condition } from './condition.js'
import { type Connection, type ConnectionEnd, openConnection } from './connection.js'

/** A connection and its progress so far. */
export interface Link {
  connection: Connection
  keys: SessionKeys
  isOpen: boolean
  /** The code that it shows. */
  shown: PairingCode | null
}

/** Keeps a device connected, with one link after the other. */
export interface ConnectionSupervisor {
  current(): Link | null
  /** True while it is connected or tries to be. */
  isRunning(): boolean
  /** Number of codes shown since the start. */
  codeCount(): number
  /** Starts, if it is not running. */
  start(): void
  /** Ends the wait before the next attempt. */
  reconnectNow(): void
  /** Logs out with `logOut` and resolves when the link has ended; no other link starts before. */
  disconnect(logOut: (link: Link | null) => Promise<void>): Promise<void>
  /** Shows another code, in addition to the last one or in its place. */
  show(link: Link, code: PairingCode): void
  stop(): Promise<void>
}

/** Longer than the library waits for any single answer of the network. */
const CONNECT_TIMEOUT_MS = 90_000
const RECONNECT = { baseMs: 1_000, maxMs: 60_000, jitter: 0.5 }
/** A phone that has not scanned one of so many codes will not scan another. */
const MAX_CODES = 30
const UNSCANNED = { step: 'end', clear: false, text: 'Nobody has scanned the codes' } as const

interface Outcome {
  ended: ConnectionEnd
  /** True if the network accepted the session or showed codes. */
  wasAccepted: boolean
}

export function createConnectionSupervisor(
  library: LinkedLibrary,
  { store, settings, findMessage, socketUrl, log, sleep, random }: SessionSettings,
  eventWriter: EventWriter,
  condition: Condition,
): ConnectionSupervisor & { disconnectUntilDrained(): void } {
  const stopping = new AbortController()
  let link: Link | null = null
  let running: Promise<void> | null = null
  let retryNow = new AbortController()
  let codeCount = 0
  let version: ClientVersion | null = null
  let mustDrain = false
  let isDisconnecting = false

  /** Reconnects until there is nothing left to try. */
  async function keepConnected(): Promise<void> {
    let failures = 0
    let refusals = 0
    eventWriter.state({ state: 'connecting', code: null, text: null })
    for (;;) {
      if (mustDrain) await eventWriter.drained()
      if (isOver()) return
      mustDrain = false
      // From here on reconnectNow ends the next wait, even if it is called before the wait begins.
      retryNow = new AbortController()
      const { ended, wasAccepted: gotThrough } = await connectOnce()
      if (isOver()) return
      failures = gotThrough ? 0 : failures + 1
      refusals = !isRefusal(ended.code) ? 0 : gotThrough ? 1 : refusals + 1
      const next = codeCount > MAX_CODES ? UNSCANNED : nextStep(ended.code, refusals)
      log.info({ code: ended.code, reason: ended.text, next: next.step }, 'The connection of a linked device ended')
      if (next.step === 'end') return eventWriter.end(next === UNSCANNED ? CLOSE_CODES.closed : ended.code, next)
      eventWriter.state({ state: 'connecting', code: ended.code, text: ended.text })
      if (ended.code === CLOSE_CODES.version_refused) version = await findNewerVersion()
      if (next.step === 'back_off' && !ended.isIntended) await pause(Math.max(1, failures))
      if (isOver()) return
    }
  }

  async function connectOnce(): Promise<Outcome> {
    let made: Link | null = null
    const over = new AbortController()
    try {
      const keys = await openSessionKeys(library, store, (error) => {
        log.warn({ err: error }, 'The session of a linked device could not be written')
        made?.connection.hangUp({ code: null, text: 'The session could not be written' })
      })
      made = connect(keys)
      link = made
      // Stopped while the session was being read.
      if (isOver()) made.connection.hangUp({ code: null, text: 'Stopped' })
      void hangUpIfStuck(made, over.signal)
      const ended = await made.connection.ended
      return { ended, wasAccepted: made.isOpen || made.shown !== null }
    } catch (error) {
      log.warn({ err: error }, 'A linked device could not begin to connect')
      return { ended: { code: codeOf(error), text: messageOf(error) }, wasAccepted: false }
    } finally {
      over.abort()
      link = null
      condition.notify()
      // The next connection must find the changes of this one, and this one must not overwrite later changes.
      await made?.keys.close()
    }
  }

  /**
   * The library does not report the end of every connection, for example if the first request is answered with a web
   * page.
   */
  async function hangUpIfStuck(made: Link, signal: AbortSignal): Promise<void> {
    const isLate = await sleep(CONNECT_TIMEOUT_MS, signal).then(
      () => true,
      () => false,
    )
    if (!isLate || made.isOpen || made.shown !== null) return
    made.connection.hangUp({ code: CLOSE_CODES.timed_out, text: 'The network did not let it in in time' })
  }

  function connect(keys: SessionKeys): Link {
    const connection = openConnection(
      library,
      { keys, socketUrl, version, settings, findMessage, sleep },
      {
        onOpen: () => opened(made),
        onQr: (text) => showNext(made, text),
        onEvents: (events) => eventWriter.messages(connection, events),
        onWarning: (error, text) => log.warn({ err: error }, text),
      },
    )
    const made: Link = { connection, keys, isOpen: false, shown: null }
    return made
  }

  function opened(made: Link): void {
    made.isOpen = true
    made.shown = null
    codeCount = 0
    eventWriter.state(toOpenState(made.keys))
    condition.notify()
  }

  function showNext(made: Link, text: string): void {
    codeCount += 1
    if (codeCount <= MAX_CODES)
      show(made, { code: text, pairingCode: made.shown?.pairingCode ?? null, count: codeCount })
    else made.connection.hangUp({ code: CLOSE_CODES.closed, text: UNSCANNED.text })
  }

  function show(made: Link, code: PairingCode): void {
    made.shown = code
    eventWriter.code(code)
    condition.notify()
  }

  async function findNewerVersion(): Promise<ClientVersion | null> {
    if (socketUrl !== null) return version
    const found = await library.fetchLatestWaWebVersion().catch(() => null)
    return found?.isLatest ? found.version : version
  }

  async function pause(failures: number): Promise<void> {
    const signal = AbortSignal.any([stopping.signal, retryNow.signal])
    if (!signal.aborted) await sleep(backoffDelay(failures, RECONNECT, random), signal).catch(() => undefined)
  }

  function start(): void {
    if (running !== null || stopping.signal.aborted) return
    codeCount = 0
    running = keepConnected()
      .catch((error: unknown) => {
        log.warn({ err: error }, 'A linked device is not kept connected any more')
        eventWriter.end(null, { clear: false, text: 'The connection failed' })
      })
      .finally(() => {
        running = null
        condition.notify()
      })
  }

  async function disconnect(logOut: (link: Link | null) => Promise<void>): Promise<void> {
    isDisconnecting = true
    try {
      await logOut(link)
      retryNow.abort()
      await running
    } finally {
      isDisconnecting = false
    }
  }

  function isOver(): boolean {
    return stopping.signal.aborted || isDisconnecting
  }

  return {
    current: () => link,
    isRunning: () => running !== null,
    codeCount: () => codeCount,
    start,
    reconnectNow: () => retryNow.abort(),
    disconnect,
    show,
    disconnectUntilDrained: () => {
      mustDrain = true
      link?.connection.hangUp({ code: CLOSE_CODES.unavailable, text: 'What comes in cannot be recorded' })
    },
    stop: async () => {
      stopping.abort()
      link?.connection.hangUp({ code: null, text: 'Stopped' })
      await running
    },
  }
}

function toOpenState({ state: { creds } }: SessionKeys): DeviceState {
  const { id = '', name, verifiedName } = creds.me ?? {}
  const owner = phoneOf(normalizeJid(id))
  // The library's placeholder for an unknown name.
  const profileName = name === '~' ? verifiedName : (name ?? verifiedName)
  return {
    state: 'open',
    code: null,
    text: null,
    ...(owner === null ? {} : { owner }),
    ...(profileName ? { profileName } : {}),
  }
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error)
}
