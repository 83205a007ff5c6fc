import { backoffDelay } from '../../../lib/async/backoff.js'
import { errorMessage } from '../../../lib/text/error-message.js'
import type { PairingCode } from '../../device.js'
import type { EventWriter } from '../event-writer.js'
import { openSessionKeys, type SessionKeys } from '../keys/session-keys.js'
import type { ClientVersion, LinkedLibrary } from '../library.js'
import type { DeviceState, SessionSettings } from '../session-options.js'
import { normalizeJid, phoneOf } from '../wire/jid.js'
import { CLOSE_CODES, codeOf, isRefusal, nextStep } from './close-reason.js'
import type { Condition } from './condition.js'
import { Connection, type ConnectionEnd } from './connection.js'

/** A connection and its progress so far. */
export interface Link {
  connection: Connection
  keys: SessionKeys
  isOpen: boolean
  /** The code that it shows. */
  shown: PairingCode | null
}

/** Longer than the library waits for any single answer of the network. */
const CONNECT_TIMEOUT_MS = 90_000
const RECONNECT = { baseMs: 1_000, maxMs: 60_000, jitter: 0.5 }
/** Maximum number of codes that are offered for one connection. */
const MAX_CODES = 30
const STOPPED: ConnectionEnd = { code: null, text: 'Stopped' }
const UNSCANNED = { step: 'end', clear: false, text: 'None of the codes was scanned' } as const

interface Outcome {
  ended: ConnectionEnd
  wasAccepted: boolean
}

/** Keeps a device connected, with one link after the other. */
export class ConnectionSupervisor {
  readonly #library: LinkedLibrary
  readonly #settings: SessionSettings
  readonly #eventWriter: EventWriter
  readonly #condition: Condition
  readonly #stopping = new AbortController()
  #link: Link | null = null
  #running: Promise<void> | null = null
  #retryNow = new AbortController()
  #codeCount = 0
  #version: ClientVersion | null = null
  #mustDrain = false
  #isDisconnecting = false

  /** `condition` is notified when the link changes. */
  constructor(library: LinkedLibrary, settings: SessionSettings, eventWriter: EventWriter, condition: Condition) {
    this.#library = library
    this.#settings = settings
    this.#eventWriter = eventWriter
    this.#condition = condition
  }

  current(): Link | null {
    return this.#link
  }

  /** True while it is connected or tries to be. */
  isRunning(): boolean {
    return this.#running !== null
  }

  /** Number of codes shown since the start. */
  codeCount(): number {
    return this.#codeCount
  }

  /** Starts, if it is not running. */
  start(): void {
    if (this.isRunning() || this.#stopping.signal.aborted) return
    this.#codeCount = 0
    this.#running = this.#keepConnected()
      .catch((error: unknown) => {
        this.#settings.log.warn({ err: error }, 'The connection of a linked device is not retried any more')
        this.#eventWriter.end(null, { clear: false, text: 'The connection failed' })
      })
      .finally(() => {
        this.#running = null
        this.#condition.notify()
      })
  }

  /** Ends the wait before the next attempt. */
  reconnectNow(): void {
    this.#retryNow.abort()
  }

  /** Hangs up; the next link starts when all events are recorded. */
  disconnectUntilDrained(): void {
    this.#mustDrain = true
    this.#hangUp({ code: CLOSE_CODES.unavailable, text: 'What comes in cannot be recorded' })
  }

  /** Logs out with `logOut` and resolves when the link has ended; no other link starts before. */
  async disconnect(logOut: (link: Link | null) => Promise<void>): Promise<void> {
    this.#isDisconnecting = true
    try {
      await logOut(this.#link)
      this.reconnectNow()
      await this.#running
    } finally {
      this.#isDisconnecting = false
    }
  }

  async stop(): Promise<void> {
    this.#stopping.abort()
    this.#hangUp(STOPPED)
    await this.#running
  }

  /** Shows another code, in addition to the last one or in its place. */
  show(link: Link, code: PairingCode): void {
    link.shown = code
    this.#eventWriter.code(code)
    this.#condition.notify()
  }

  /** Reconnects until there is nothing left to try. */
  async #keepConnected(): Promise<void> {
    const { log } = this.#settings
    let failures = 0
    let refusals = 0
    this.#eventWriter.state({ state: 'connecting', code: null, text: null })
    for (;;) {
      if (this.#mustDrain) await this.#eventWriter.drained()
      if (this.#isOver()) return
      this.#mustDrain = false
      // From here on reconnectNow ends the next wait, even if it is called before the wait begins.
      this.#retryNow = new AbortController()
      const { ended, wasAccepted } = await this.#connectOnce()
      if (this.#isOver()) return
      failures = wasAccepted ? 0 : failures + 1
      refusals = !isRefusal(ended.code) ? 0 : wasAccepted ? 1 : refusals + 1
      const next = this.#codeCount > MAX_CODES ? UNSCANNED : nextStep(ended.code, refusals)
      log.info({ code: ended.code, reason: ended.text, next: next.step }, 'The connection of a linked device ended')
      if (next.step === 'end') {
        // The next start, which may come at once, must not read the keys before they are removed.
        this.#mustDrain = next.clear
        return this.#eventWriter.end(next === UNSCANNED ? CLOSE_CODES.closed : ended.code, next)
      }
      this.#eventWriter.state({ state: 'connecting', code: ended.code, text: ended.text })
      if (ended.code === CLOSE_CODES.version_refused) this.#version = await this.#findNewerVersion()
      if (next.step === 'back_off' && !ended.isIntended) await this.#backOff(Math.max(1, failures))
      if (this.#isOver()) return
    }
  }

  async #connectOnce(): Promise<Outcome> {
    const { store, log } = this.#settings
    let link: Link | null = null
    const over = new AbortController()
    try {
      const keys = await openSessionKeys(this.#library, store, (error) => {
        log.warn({ err: error }, 'The session of a linked device could not be written')
        link?.connection.hangUp({ code: null, text: 'The session could not be written' })
      })
      link = this.#connect(keys)
      this.#link = link
      // Stopped while the session was being read.
      if (this.#isOver()) link.connection.hangUp(STOPPED)
      void this.#hangUpIfStuck(link, over.signal)
      const ended = await link.connection.ended
      return { ended, wasAccepted: wasAccepted(link) }
    } catch (error) {
      log.warn({ err: error }, 'A linked device could not begin to connect')
      return { ended: { code: codeOf(error), text: errorMessage(error) }, wasAccepted: false }
    } finally {
      over.abort()
      this.#link = null
      this.#condition.notify()
      // The next connection must find the changes of this one, and this one must not overwrite later changes.
      await link?.keys.close()
    }
  }

  #connect(keys: SessionKeys): Link {
    const { settings, findMessage, socketUrl, sleep, log } = this.#settings
    const connection = new Connection(
      this.#library,
      { keys, socketUrl, version: this.#version, settings, findMessage, sleep },
      {
        onOpen: () => this.#opened(link),
        onQr: (text) => this.#showNext(link, text),
        onEvents: (events) => this.#eventWriter.messages(connection, events),
        onSignal: this.#settings.onSignal,
        onWarning: (error, text) => log.warn({ err: error }, text),
      },
    )
    const link: Link = { connection, keys, isOpen: false, shown: null }
    return link
  }

  /**
   * The library does not report the end of every connection, for example if the first request is answered with a web
   * page.
   */
  async #hangUpIfStuck(link: Link, signal: AbortSignal): Promise<void> {
    const isLate = await this.#settings.sleep(CONNECT_TIMEOUT_MS, signal).then(
      () => true,
      () => false,
    )
    if (!isLate || wasAccepted(link)) return
    link.connection.hangUp({ code: CLOSE_CODES.timed_out, text: 'The network did not let it in in time' })
  }

  #opened(link: Link): void {
    link.isOpen = true
    link.shown = null
    this.#codeCount = 0
    this.#eventWriter.state(toOpenState(link.keys))
    this.#condition.notify()
  }

  #showNext(link: Link, text: string): void {
    this.#codeCount += 1
    if (this.#codeCount <= MAX_CODES)
      this.show(link, { code: text, pairingCode: link.shown?.pairingCode ?? null, count: this.#codeCount })
    else link.connection.hangUp({ code: CLOSE_CODES.closed, text: UNSCANNED.text })
  }

  #hangUp(reason: ConnectionEnd): void {
    this.#link?.connection.hangUp(reason)
  }

  async #findNewerVersion(): Promise<ClientVersion | null> {
    if (this.#settings.socketUrl !== null) return this.#version
    const found = await this.#library.fetchLatestWaWebVersion().catch(() => null)
    return found?.isLatest ? found.version : this.#version
  }

  async #backOff(failures: number): Promise<void> {
    const { sleep, random } = this.#settings
    const signal = AbortSignal.any([this.#stopping.signal, this.#retryNow.signal])
    if (!signal.aborted) await sleep(backoffDelay(failures, RECONNECT, random), signal).catch(() => undefined)
  }

  #isOver(): boolean {
    return this.#stopping.signal.aborted || this.#isDisconnecting
  }
}

/** True if the network accepted the session or showed codes. */
function wasAccepted({ isOpen, shown }: Link): boolean {
  return isOpen || shown !== null
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
