import type { Logger } from 'pino'
import type { Database, Queryable } from '../../database/pool.js'
import { sleep } from '../../lib/async/backoff.js'
import { batch } from '../../lib/async/batcher.js'
import { asObjects, parseJsonObject } from '../../lib/text/json.js'
import type { Notification, Notifications } from '../../model/notification.js'
import { notifyProcesses } from '../../storage/runtime/notifications.js'
import type { ProcessRegistration } from './process-registry.js'

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
export function createNotifications(
  database: Database,
  registration: Pick<ProcessRegistration, 'processId' | 'listen'>,
  log: Logger,
): Notifications & { close(): Promise<void> } {
  const listeners = new Set<(notification: Notification) => void>()
  const closing = new AbortController()
  let sending: Promise<unknown> = Promise.resolve()
  let isListening = false

  const sendToOthers = batch(async (notifications: Notification[]) => {
    const payload = JSON.stringify({ from: registration.processId, notifications: mergeNotifications(notifications) })
    // A lost notification only delays: who reads events looks for them from time to time.
    await notifyProcesses(database, payload).catch((error) =>
      log.warn({ err: error }, 'the other processes could not be told of news'),
    )
    await sleep(PAUSE_MS, closing.signal).catch(() => undefined)
    return notifications
  }, Number.MAX_SAFE_INTEGER)

  const tell = (notification: Notification) => {
    for (const listener of listeners) {
      try {
        listener(notification)
      } catch (error) {
        log.error({ err: error }, 'a signal could not be taken in')
      }
    }
  }

  const hear = (payload: string) => {
    const notification = parseJsonObject(payload)
    if (notification?.from === registration.processId) return
    for (const signal of asObjects(notification?.signals)) tell(signal as Notification)
  }

  const send: Notifications['send'] = (signal) => {
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
      if (!isListening) registration.listen({ hear, missed: () => tell({ topic: 'missed' }) })
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
export function createNotificationSender(database: Queryable): Pick<Notifications, 'send'> & { sent(): Promise<void> } {
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
function mergeNotifications(notifications: readonly Notification[]): Notification[] {
  const withWebhooks = new Set(
    notifications.flatMap((notification) => (notification.topic === 'webhooks' ? [notification.organizationId] : [])),
  )
  const instances = notifications.find(({ topic }) => topic === 'instances')
  const folded: Notification[] = [
    ...mergeTopic(notifications, 'events', MAX_ORGANIZATIONS),
    ...mergeTopic(notifications, 'commands', MAX_WITH_COMMANDS),
    ...mergeTopic(notifications, 'sessions', MAX_WITH_SESSIONS),
    ...(instances ? [instances] : []),
  ]
  if (withWebhooks.size > MAX_ORGANIZATIONS) return [...folded, { topic: 'missed' }]
  return [
    ...folded,
    ...Array.from(withWebhooks, (organizationId): Notification => ({ topic: 'webhooks', organizationId })),
  ]
}

function mergeTopic(
  notifications: readonly Notification[],
  topic: 'events' | 'commands' | 'sessions',
  limit: number,
): Notification[] {
  const lists = notifications.flatMap((notification) =>
    notification.topic === topic ? [notification.organizationIds] : [],
  )
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
