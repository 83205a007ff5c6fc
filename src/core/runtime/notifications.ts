import type { Logger } from 'pino'
import type { Database, Queryable } from '../../database/pool.js'
import { sleep } from '../../lib/async/backoff.js'
import { coalesce } from '../../lib/async/batcher.js'
import { asObjects, parseJsonObject } from '../../lib/text/json.js'
import type { Signal, Signals } from '../../model/notification.js'
import { notifyProcesses } from '../../storage/runtime/notifications.js'
import type { Presence } from './process-registry.js'

/** Between two notifications of a process. */
const PAUSE_MS = 10
/** As many ids of each topic as keep a notification below the 8,000 bytes that PostgreSQL takes. */
const MAX_ORGANIZATIONS = 64
/** Of commands and sessions fewer: what is left of the 8,000. */
const MAX_WITH_COMMANDS = 5
const MAX_WITH_SESSIONS = 3

/**
 * Signals of this process: heard in it at once, and by the other processes with one notification for all signals of the time
 * since the last one. `database.onEvents` is told by them from now on. Nothing is sent after `close`.
 */
export function createSignals(
  database: Database,
  presence: Pick<Presence, 'processId' | 'listen'>,
  log: Logger,
): Signals & { close(): Promise<void> } {
  const listeners = new Set<(signal: Signal) => void>()
  const closing = new AbortController()
  let sending: Promise<unknown> = Promise.resolve()
  let isListening = false

  const sendToOthers = coalesce(async (signals: Signal[]) => {
    const payload = JSON.stringify({ from: presence.processId, signals: fold(signals) })
    // A lost notification only delays: who reads events looks for them from time to time.
    await notifyProcesses(database, payload).catch((error) =>
      log.warn({ err: error }, 'the other processes could not be told of news'),
    )
    await sleep(PAUSE_MS, closing.signal).catch(() => undefined)
    return signals
  }, Number.MAX_SAFE_INTEGER)

  const tell = (signal: Signal) => {
    for (const listener of listeners) {
      try {
        listener(signal)
      } catch (error) {
        log.error({ err: error }, 'a signal could not be taken in')
      }
    }
  }

  const hear = (payload: string) => {
    const notification = parseJsonObject(payload)
    if (notification?.from === presence.processId) return
    for (const signal of asObjects(notification?.signals)) tell(signal as Signal)
  }

  const send: Signals['send'] = (signal) => {
    if (closing.signal.aborted) return
    tell(signal)
    sending = sendToOthers(signal)
  }

  const stopEvents = database.onEvents((organizationIds) => send({ topic: 'events', organizationIds }))
  return {
    send,
    listen: (listener) => {
      listeners.add(listener)
      // A process in which nobody listens is spared the notifications of the others.
      if (!isListening) presence.listen({ hear, missed: () => tell({ topic: 'missed' }) })
      isListening = true
      return () => void listeners.delete(listener)
    },
    close: async () => {
      stopEvents()
      closing.abort()
      await sending
    },
  }
}

/** Signals of a process that hears none, such as a command of an operator; `sent` resolves when they have gone. */
export function createSignalSender(database: Queryable): Pick<Signals, 'send'> & { sent(): Promise<void> } {
  const sending: Promise<void>[] = []
  return {
    // A lost notification only delays: whoever it is for looks from time to time.
    send: (signal) => {
      const payload = JSON.stringify({ from: null, signals: [signal] })
      sending.push(notifyProcesses(database, payload).catch(() => undefined))
    },
    sent: async () => void (await Promise.all(sending)),
  }
}

/** The same in as few signals as there can be. */
function fold(signals: readonly Signal[]): Signal[] {
  const withWebhooks = new Set(
    signals.flatMap((signal) => (signal.topic === 'webhooks' ? [signal.organizationId] : [])),
  )
  const instances = signals.find(({ topic }) => topic === 'instances')
  const folded: Signal[] = [
    ...foldTopic(signals, 'events', MAX_ORGANIZATIONS),
    ...foldTopic(signals, 'commands', MAX_WITH_COMMANDS),
    ...foldTopic(signals, 'sessions', MAX_WITH_SESSIONS),
    ...(instances ? [instances] : []),
  ]
  if (withWebhooks.size > MAX_ORGANIZATIONS) return [...folded, { topic: 'missed' }]
  return [...folded, ...Array.from(withWebhooks, (organizationId): Signal => ({ topic: 'webhooks', organizationId }))]
}

function foldTopic(signals: readonly Signal[], topic: 'events' | 'commands' | 'sessions', limit: number): Signal[] {
  const lists = signals.flatMap((signal) => (signal.topic === topic ? [signal.organizationIds] : []))
  return lists.length > 0 ? [{ topic, organizationIds: unite(lists, limit) }] : []
}

/** All organizations that are named; null where one list, or what becomes of them, is anybody's. */
function unite(lists: readonly (readonly string[] | null)[], limit: number): string[] | null {
  const ids = new Set<string>()
  for (const list of lists) {
    if (list === null) return null
    for (const id of list) ids.add(id)
  }
  return ids.size > limit ? null : [...ids]
}
