import type { DeviceEvent } from '../wire/event.js'
import { isChat, isLid, normalizeJid } from '../wire/jid.js'

/**
 * Emits the messages of each chat in the order of their arrival, and those that waited for the device before live ones.
 */
export interface ReorderBuffer {
  /** A message has arrived, still encrypted. */
  arrived(message: ArrivedMessage): void
  /** Messages have been decrypted, in any order. */
  decrypted(messages: readonly DecryptedMessage[]): void
  /** The network has delivered everything that waited for the device. */
  backlogDone(): void
  /** The connection has ended; emits what was held back. */
  end(): void
}

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

/** Some messages, such as undecryptable ones, are never emitted by the library; later ones wait this long for them. */
const LIVE_TIMEOUT_MS = 5_000
/** The library decrypts waiting messages one by one. */
const BACKLOG_TIMEOUT_MS = 30_000

/**
 * The library looks up keys before it queues a message, so the second of two close messages may overtake the first.
 * `emit` gets events in order; it must not throw.
 */
export function createReorderBuffer(
  emit: (events: DeviceEvent[]) => void,
  sleep: (ms: number, signal: AbortSignal) => Promise<void>,
): ReorderBuffer {
  const chats = new Map<string, Arrival[]>()
  const byId = new Map<string, Arrival>()
  const ending = new AbortController()
  let backlog: 'unknown' | 'coming' | 'over' = 'unknown'

  function arrived(message: ArrivedMessage): void {
    const { id, offline } = message
    const chat = chatOf(message)
    if (id === undefined || byId.has(id) || !isChat(chat) || ending.signal.aborted) return
    const arrival = { id, chat, isLive: offline === undefined, events: null, over: new AbortController() }
    const queue = chats.get(chat) ?? []
    const firstLive = arrival.isLive ? -1 : queue.findIndex(({ isLive }) => isLive)
    queue.splice(firstLive === -1 ? queue.length : firstLive, 0, arrival)
    chats.set(chat, queue)
    byId.set(id, arrival)
    if (!arrival.isLive) beginBacklog()
    after(arrival.isLive ? LIVE_TIMEOUT_MS : BACKLOG_TIMEOUT_MS, arrival.over.signal, () => giveUp(arrival))
  }

  function beginBacklog(): void {
    if (backlog !== 'unknown') return
    backlog = 'coming'
    after(BACKLOG_TIMEOUT_MS, ending.signal, backlogDone)
  }

  function after(ms: number, signal: AbortSignal, work: () => void): void {
    sleep(ms, signal).then(work, () => undefined)
  }

  function decrypted(messages: readonly DecryptedMessage[]): void {
    const ready: DeviceEvent[] = []
    for (const { id, events } of messages) {
      const arrival = id === null ? undefined : byId.get(id)
      if (!arrival) ready.push(...events)
      else if (arrival.events) arrival.events.push(...events)
      else {
        arrival.events = [...events]
        arrival.over.abort()
        ready.push(...takeReady(arrival.chat))
      }
    }
    if (ready.length > 0) emit(ready)
  }

  /** Removes the events of a chat that no earlier message blocks. */
  function takeReady(chat: string): DeviceEvent[] {
    const queue = chats.get(chat) ?? []
    const ready: DeviceEvent[] = []
    for (let first = queue[0]; first?.events; first = queue[0]) {
      if (first.isLive && backlog === 'coming') break
      ready.push(...first.events)
      remove(first)
    }
    return ready
  }

  function remove(arrival: Arrival): void {
    const queue = chats.get(arrival.chat) ?? []
    queue.splice(queue.indexOf(arrival), 1)
    if (queue.length === 0) chats.delete(arrival.chat)
    byId.delete(arrival.id)
  }

  function giveUp(arrival: Arrival): void {
    remove(arrival)
    const ready = takeReady(arrival.chat)
    if (ready.length > 0) emit(ready)
  }

  function backlogDone(): void {
    backlog = 'over'
    const ready = [...chats.keys()].flatMap(takeReady)
    if (ready.length > 0) emit(ready)
  }

  function end(): void {
    ending.abort()
    const left = [...chats.values()].flat()
    for (const { over } of left) over.abort()
    chats.clear()
    byId.clear()
    const ready = left.flatMap(({ events }) => events ?? [])
    if (ready.length > 0) emit(ready)
  }

  return { arrived, decrypted, backlogDone, end }
}

/** A person may write by number and with a hidden id within one burst; both count as the chat of the number. */
function chatOf({ from = '', recipient, sender_pn, recipient_pn, peer_recipient_pn }: ArrivedMessage): string {
  const jid = recipient ?? from
  const number = recipient === undefined ? sender_pn : (recipient_pn ?? peer_recipient_pn)
  return normalizeJid(isLid(jid) ? (number ?? jid) : jid)
}
