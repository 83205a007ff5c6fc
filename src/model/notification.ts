/**
 * A hint that something changed, for code that would otherwise poll. It may be spurious, and it may be lost when a
 * process or a connection ends. `events`: these organizations (null: any) may have new events. `webhooks`: the
 * organization's webhooks changed. `instances`: linked devices may need to be started, stopped or taken over.
 * `commands`: commands or answers of these organizations (null: any) may be waiting. `sessions`: members of these
 * organizations (null: any) may have been signed out or have a new role. `jobs`: jobs may have become due. `callbacks`:
 * callbacks of these organizations (null: any) may be waiting. `missed`: notifications may have been lost until now.
 */
export type Notification =
  | { topic: 'events'; organizationIds: readonly string[] | null }
  | { topic: 'webhooks'; organizationId: string }
  | { topic: 'instances' }
  | { topic: 'commands'; organizationIds: readonly string[] | null }
  | { topic: 'sessions'; organizationIds: readonly string[] | null }
  | { topic: 'jobs' }
  | { topic: 'callbacks'; organizationIds: readonly string[] | null }
  | { topic: 'missed' }

/** Notifications within this process and between the processes of the service. */
export interface Notifications {
  /** Call it after the commit. Listeners of this process are called before `send` returns. */
  send(notification: Exclude<Notification, { topic: 'missed' }>): void
  /**
   * Calls the listener for every notification, and with `missed` if some may have been lost. Returns a function that
   * unsubscribes. Listeners must return quickly.
   */
  listen(listener: (notification: Notification) => void): () => void
}
