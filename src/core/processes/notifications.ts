import type { Logger } from 'pino'
import type { Database } from '../../database/pool.js'
import { sleep } from '../../lib/async/backoff.js'
import { batch } from '../../lib/async/batcher.js'
import { asObjects, parseJsonObject } from '../../lib/text/json.js'
import type { Notification, Notifications } from '../../model/notification.js'
import { notifyProcesses } from '../../storage/processes/notifications.js'
import type { ProcessRegistration } from './process-registry.js'

/** The pause between two notifications of a process. */
const PAUSE_MS = 10
/** The maximum number of ids per topic that keeps a notification below PostgreSQL's 8,000 bytes. */
const MAX_ORGANIZATIONS = 48
/** The maximum number of commands and sessions; they take what the ids leave of the 8,000 bytes. */
const MAX_WITH_COMMANDS = 5
const MAX_WITH_SESSIONS = 3

/**
 * Creates the notifications of this process. They reach its own listeners at once; other processes get one PostgreSQL
 * notification for all since the last one. Commits of events and jobs by `database` are sent from now on. Nothing is sent
 * after `close`.
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
    const payload = encode(registration.processId, mergeNotifications(notifications))
    // A lost notification only causes a delay, since its receivers also poll.
    await notifyProcesses(database, payload).catch((error) =>
      log.warn({ err: error }, 'the other processes could not be notified'),
    )
    await sleep(PAUSE_MS, closing.signal).catch(() => undefined)
    return notifications
  }, Number.MAX_SAFE_INTEGER)

  const notifyListeners = (notification: Notification) => {
    for (const listener of listeners) {
      try {
        listener(notification)
      } catch (error) {
        log.error({ err: error }, 'a notification could not be handled')
      }
    }
  }

  const receive = (payload: string) => {
    const message = parseJsonObject(payload)
    if (message?.from === registration.processId) return
    for (const notification of asObjects(message?.notifications)) notifyListeners(notification as Notification)
  }

  const send: Notifications['send'] = (notification) => {
    if (closing.signal.aborted) return
    notifyListeners(notification)
    sending = sendToOthers(notification)
  }

  // A process that runs a worker processes the callbacks that it has stored: others are not notified (app.ts).
  const stopCommits = database.onCommit((committed) => {
    if (committed.topic !== 'callbacks') send(committed)
  })
  return {
    send,
    listen: (listener) => {
      listeners.add(listener)
      // A process without listeners does not subscribe.
      if (!isListening) registration.listen({ receive, missed: () => notifyListeners({ topic: 'missed' }) })
      isListening = true
      return () => void listeners.delete(listener)
    },
    close: async () => {
      stopCommits()
      closing.abort()
      await sending
    },
  }
}

/**
 * Sends notifications from a process that receives none, such as an operator's command; `sent` resolves when they are
 * sent. Commits of jobs by `database` are sent, too.
 */
export function createNotificationSender(database: Database): Pick<Notifications, 'send'> & { sent(): Promise<void> } {
  const sending: Promise<void>[] = []
  // A lost notification only causes a delay, since its receivers also poll.
  const send: Notifications['send'] = (notification) =>
    void sending.push(notifyProcesses(database, encode(null, [notification])).catch(() => undefined))
  database.onCommit((committed) => {
    if (committed.topic === 'jobs') send(committed)
  })
  return {
    send,
    sent: async () => void (await Promise.all(sending)),
  }
}

/** The payload of a notification. */
function encode(from: number | null, notifications: readonly Notification[]): string {
  return JSON.stringify({ from, notifications })
}

/** Merges notifications into as few as possible. */
function mergeNotifications(notifications: readonly Notification[]): Notification[] {
  const withWebhooks = new Set(
    notifications.flatMap((notification) => (notification.topic === 'webhooks' ? [notification.organizationId] : [])),
  )
  const alike = (['instances', 'jobs'] as const).filter((topic) => notifications.some((one) => one.topic === topic))
  const merged: Notification[] = [
    ...mergeTopic(notifications, 'events', MAX_ORGANIZATIONS),
    ...mergeTopic(notifications, 'callbacks', MAX_ORGANIZATIONS),
    ...mergeTopic(notifications, 'commands', MAX_WITH_COMMANDS),
    ...mergeTopic(notifications, 'sessions', MAX_WITH_SESSIONS),
    ...alike.map((topic): Notification => ({ topic })),
  ]
  if (withWebhooks.size > MAX_ORGANIZATIONS) return [...merged, { topic: 'missed' }]
  return [
    ...merged,
    ...Array.from(withWebhooks, (organizationId): Notification => ({ topic: 'webhooks', organizationId })),
  ]
}

function mergeTopic(
  notifications: readonly Notification[],
  topic: 'events' | 'callbacks' | 'commands' | 'sessions',
  limit: number,
): Notification[] {
  const lists = notifications.flatMap((notification) =>
    notification.topic === topic ? [notification.organizationIds] : [],
  )
  return lists.length > 0 ? [{ topic, organizationIds: unite(lists, limit) }] : []
}

/** All named organizations; null if one list, or the result, stands for all organizations. */
function unite(lists: readonly (readonly string[] | null)[], limit: number): string[] | null {
  const ids = new Set<string>()
  for (const list of lists) {
    if (list === null) return null
    for (const id of list) ids.add(id)
  }
  return ids.size > limit ? null : [...ids]
}
