/**
 * That there is something new, for those who would otherwise look for it from time to time. A hint: it may come for nothing, and
 * be lost where a process or a connection ends.
 * `events`: these organizations may have new events; null: any may. `webhooks`: this organization's have changed.
 * `instances`: linked devices may be wanted now, or no more, or free to be taken. `commands`: those of these organizations (null: of any)
 * may have been asked for something, or have answered.
 * `sessions`: members of these organizations (null: of any) may have been signed out, or have another role.
 * `missed`: signals may have been lost until now.
 */
export type Notification =
  | { topic: 'events'; organizationIds: readonly string[] | null }
  | { topic: 'webhooks'; organizationId: string }
  | { topic: 'instances' }
  | { topic: 'commands'; organizationIds: readonly string[] | null }
  | { topic: 'sessions'; organizationIds: readonly string[] | null }
  | { topic: 'missed' }

/** Signals within this process and to the others of the service. */
export interface Notifications {
  /** After what it tells of has been committed. Listeners of this process hear it before `send` returns. */
  send(signal: Exclude<Notification, { topic: 'missed' }>): void
  /** Hears every signal from now on, and `missed` where some may have been lost; the result ends that. It must not take long. */
  listen(listener: (notification: Notification) => void): () => void
}
