import type { DeviceEvent } from '../wire/event.js'
import { isChat, isLid, normalizeJid } from '../wire/jid.js'

/** The envelope of a message. `offline` is set if it waited for the device. */
export interface ArrivedMessage {
  id?: string
  from?: string
  /** The chat, if the owner's own phone wrote the message. */
  recipient?: string
  offline?: string
  /** The number of a sender with a hidden id. */
  sender_pn?: string
  /** The number of the chat, if the owner's own phone wrote the message. */
  recipient_pn?: string
  peer_recipient_pn?: string
}

export interface DecryptedMessage {
  id: string | null
  events: DeviceEvent[]
}

interface Arrival {
  id: string
  chat: string
  isLive: boolean
  /** Null until the message is decrypted. */
  events: DeviceEvent[] | null
  /** Aborted when no timeout is needed any more. */
  over: AbortController
}

type Sleep = (ms: number, signal: AbortSignal) => Promise<void>

/** Some messages, such as undecryptable ones, are never emitted by the library; later ones wait this long for them. */
const LIVE_TIMEOUT_MS = 5_000
/** The library decrypts waiting messages one by one. */
const BACKLOG_TIMEOUT_MS = 30_000

/**
 * Emits the messages of each chat in the order of their arrival, and those that waited for the device before live ones.
 * The library looks up keys before it queues a message, so the second of two close messages may overtake the first.
 */
export class ReorderBuffer {
  readonly #emit: (events: DeviceEvent[]) => void
  readonly #sleep: Sleep
  readonly #chats = new Map<string, Arrival[]>()
  readonly #byId = new Map<string, Arrival>()
  readonly #ending = new AbortController()
  #backlog: 'unknown' | 'coming' | 'over' = 'unknown'

  /** `emit` gets events in order; it must not throw. */
  constructor(emit: (events: DeviceEvent[]) => void, sleep: Sleep) {
    this.#emit = (events) => {
      if (events.length > 0) emit(events)
    }
    this.#sleep = sleep
  }

  /** A message has arrived, still encrypted. */
  arrived(message: ArrivedMessage): void {
    const { id, offline } = message
    const chat = chatOf(message)
    if (id === undefined || this.#byId.has(id) || !isChat(chat) || this.#ending.signal.aborted) return
    const arrival = { id, chat, isLive: offline === undefined, events: null, over: new AbortController() }
    this.#insert(arrival)
    if (!arrival.isLive) this.#beginBacklog()
    const timeoutMs = arrival.isLive ? LIVE_TIMEOUT_MS : BACKLOG_TIMEOUT_MS
    this.#after(timeoutMs, arrival.over.signal, () => this.#giveUp(arrival))
  }

  /** Messages have been decrypted, in any order. */
  decrypted(messages: readonly DecryptedMessage[]): void {
    const ready: DeviceEvent[] = []
    for (const { id, events } of messages) {
      const arrival = id === null ? undefined : this.#byId.get(id)
      if (!arrival) ready.push(...events)
      else if (arrival.events) arrival.events.push(...events)
      else {
        arrival.events = [...events]
        arrival.over.abort()
        ready.push(...this.#takeReady(arrival.chat))
      }
    }
    this.#emit(ready)
  }

  /** The network has delivered everything that waited for the device. */
  backlogDone(): void {
    this.#backlog = 'over'
    this.#emit([...this.#chats.keys()].flatMap((chat) => this.#takeReady(chat)))
  }

  /** The connection has ended; emits what was held back. */
  end(): void {
    this.#ending.abort()
    const left = [...this.#chats.values()].flat()
    for (const { over } of left) over.abort()
    this.#chats.clear()
    this.#byId.clear()
    this.#emit(left.flatMap(({ events }) => events ?? []))
  }

  #insert(arrival: Arrival): void {
    const queue = this.#chats.get(arrival.chat) ?? []
    const firstLive = arrival.isLive ? -1 : queue.findIndex(({ isLive }) => isLive)
    queue.splice(firstLive === -1 ? queue.length : firstLive, 0, arrival)
    this.#chats.set(arrival.chat, queue)
    this.#byId.set(arrival.id, arrival)
  }

  #beginBacklog(): void {
    if (this.#backlog !== 'unknown') return
    this.#backlog = 'coming'
    this.#after(BACKLOG_TIMEOUT_MS, this.#ending.signal, () => this.backlogDone())
  }

  #after(ms: number, signal: AbortSignal, work: () => void): void {
    this.#sleep(ms, signal).then(work, () => undefined)
  }

  #giveUp(arrival: Arrival): void {
    this.#remove(arrival)
    this.#emit(this.#takeReady(arrival.chat))
  }

  /** Removes the events of a chat that no earlier message blocks. */
  #takeReady(chat: string): DeviceEvent[] {
    const queue = this.#chats.get(chat) ?? []
    const ready: DeviceEvent[] = []
    for (let first = queue[0]; first?.events; first = queue[0]) {
      if (first.isLive && this.#backlog === 'coming') break
      ready.push(...first.events)
      this.#remove(first)
    }
    return ready
  }

  #remove(arrival: Arrival): void {
    const queue = this.#chats.get(arrival.chat) ?? []
    queue.splice(queue.indexOf(arrival), 1)
    if (queue.length === 0) this.#chats.delete(arrival.chat)
    this.#byId.delete(arrival.id)
  }
}

/** A person may write by number and with a hidden id within one burst; both count as the chat of the number. */
function chatOf({ from = '', recipient, sender_pn, recipient_pn, peer_recipient_pn }: ArrivedMessage): string {
  const jid = recipient ?? from
  const number = recipient === undefined ? sender_pn : (recipient_pn ?? peer_recipient_pn)
  return normalizeJid(isLid(jid) ? (number ?? jid) : jid)
}
