import type { Queryable } from '../../database/pool.js'
import type { Notification } from '../../model/notification.js'
import { listWork } from '../../storage/webhooks/health.js'

/** How often is looked for what is due. */
const LOOK_MS = 1_000
/** How often is looked for new events, in case a notification was lost. */
const READ_MS = 2_000

/** What there may be to do, as far as this process knows. It may be wrong; the database decides. */
export class Work {
  /** The number of active webhooks, by organization. */
  readonly #active = new Map<string, number>()
  /** Organizations that may have new events. */
  readonly #fresh = new Set<string>()
  /** Webhooks with deliveries that may be due and unclaimed, with their organizations; those served longest ago first. */
  readonly #hungry = new Map<string, string>()
  /** Organizations whose webhooks or deliveries have changed. */
  readonly #changed = new Set<string>()
  #lookAt = 0
  #readAt = 0

  /** Notes a notification; true if it gives something to do. */
  hear(notification: Notification): boolean {
    if (notification.topic === 'events') {
      for (const id of notification.organizationIds ?? this.#active.keys()) this.addFresh(id)
    } else if (notification.topic === 'webhooks') this.#changed.add(notification.organizationId)
    else if (notification.topic === 'missed') this.lookSoon()
    else return false
    return true
  }

  /** Looks in the database for what is due, from time to time or because something changed. */
  async look(db: Queryable, now: Date): Promise<void> {
    const isForAll = performance.now() >= this.#lookAt
    const mayHaveEvents = performance.now() >= this.#readAt
    const changed = new Set(this.#changed)
    if (!isForAll && changed.size === 0) return
    // First, so that a change meanwhile is not lost.
    this.#changed.clear()
    if (isForAll) this.#lookAt = performance.now() + LOOK_MS
    if (isForAll && mayHaveEvents) this.#readAt = performance.now() + READ_MS
    const found = await listWork(db, isForAll ? null : [...changed], now)
    const isKnown = new Set(this.#active.keys())
    for (const id of isForAll ? isKnown : changed) this.#active.delete(id)
    for (const { organization_id: id, webhook_id, is_due } of found) {
      this.#active.set(id, (this.#active.get(id) ?? 0) + 1)
      if (mayHaveEvents || changed.has(id) || !isKnown.has(id)) this.addFresh(id)
      if (is_due) this.addHungry(webhook_id, id)
    }
  }

  /** Makes the next look one for everything. */
  lookSoon(): void {
    this.#lookAt = 0
    this.#readAt = 0
  }

  /** Milliseconds until the next look. */
  pauseMs(): number {
    return Math.max(1, this.#lookAt - performance.now())
  }

  /** Notes that an organization may have new events; without active webhooks, nobody reads them. */
  addFresh(organizationId: string): void {
    if (this.#active.has(organizationId)) this.#fresh.add(organizationId)
  }

  /** Organizations that may have new events, those that waited longest first, with at most `max` webhooks in all. */
  takeFresh(max: number): { organizationIds: string[]; webhooks: number } {
    const organizationIds: string[] = []
    let webhooks = 0
    for (const id of this.#fresh) {
      const count = this.#active.get(id) ?? 0
      if (organizationIds.length > 0 && webhooks + count > max) break
      organizationIds.push(id)
      webhooks += count
    }
    for (const id of organizationIds) this.#fresh.delete(id)
    return { organizationIds, webhooks }
  }

  hasFresh(): boolean {
    return this.#fresh.size > 0
  }

  /** The webhook ids and organizations of what may be claimed. */
  hungry(): [webhookId: string, organizationId: string][] {
    return [...this.#hungry]
  }

  isHungry(webhookId: string): boolean {
    return this.#hungry.has(webhookId)
  }

  /** Notes that a webhook may have due deliveries that are not claimed; others come first. */
  addHungry(webhookId: string, organizationId: string): void {
    this.#hungry.delete(webhookId)
    this.#hungry.set(webhookId, organizationId)
  }

  /** Notes that a webhook has no such deliveries. */
  removeHungry(webhookId: string): void {
    this.#hungry.delete(webhookId)
  }

  /** Notes that an organization's webhooks or deliveries have changed. */
  addChanged(organizationId: string): void {
    this.#changed.add(organizationId)
  }
}
