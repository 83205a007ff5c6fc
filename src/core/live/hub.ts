import type { LiveContext } from '../../context.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import type { Notification } from '../../model/notification.js'
import type { MarkedPosition } from '../webhooks/positions.js'
import { type LiveItem, readLiveWindow } from './items.js'
import { findNewestPosition, writeMark } from './mark.js'

/** Receives live events; must not throw. */
export type LiveListener = (item: LiveItem) => void

/** Reads the feed of an organization. */
interface Reader {
  listeners: Set<LiveListener>
  /** All events after it will be sent. */
  readonly position: MarkedPosition
  loop: Loop
}

/** A reader, possibly still starting, with the number of its listeners. */
interface Shared {
  users: number
  started: Promise<Reader>
}

/** How often the feed is read without a notification, since a notification may be lost. */
const POLL_MS = 3_000
/** How many events are sent at once: few enough for slow listeners to keep up. */
const MAX_EVENTS = 100

/**
 * Distributes the events of organizations to all listeners of this process. One reader per organization reads the feed
 * while there are listeners; each event is serialized once for all of them.
 */
export class LiveHub {
  readonly #ctx: LiveContext
  readonly #readers = new Map<string, Shared>()
  /** A process without listeners does not subscribe to notifications. */
  #stopListening: (() => void) | null = null

  constructor(ctx: LiveContext) {
    this.#ctx = ctx
  }

  /** Sends all events of the organization to the listener until it leaves. */
  async join(organizationId: string, listener: LiveListener): Promise<{ leave(): void; mark(): string }> {
    this.#stopListening ??= this.#ctx.notifications.listen((notification) => this.#onNotification(notification))
    const shared = this.#share(organizationId)
    shared.users += 1
    try {
      const reader = await shared.started
      reader.listeners.add(listener)
      return {
        mark: () => writeMark(reader.position, this.#ctx.clock()),
        leave: () => {
          if (reader.listeners.delete(listener)) this.#release(organizationId, shared)
        },
      }
    } catch (error) {
      this.#release(organizationId, shared)
      throw error
    }
  }

  /** Stops sending events. */
  async close(): Promise<void> {
    this.#stopListening?.()
    const left = await Promise.allSettled(Array.from(this.#readers.values(), ({ started }) => started))
    this.#readers.clear()
    await Promise.all(left.map((one) => one.status === 'fulfilled' && one.value.loop.stop()))
  }

  #onNotification(notification: Notification): void {
    if (notification.topic !== 'events' && notification.topic !== 'missed') return
    const named = notification.topic === 'events' ? notification.organizationIds : null
    for (const id of named ?? this.#readers.keys()) {
      this.#readers.get(id)?.started.then(
        ({ loop }) => loop.wake(),
        () => undefined,
      )
    }
  }

  #share(organizationId: string): Shared {
    const known = this.#readers.get(organizationId)
    if (known) return known
    const shared = { users: 0, started: startReader(this.#ctx, organizationId) }
    this.#readers.set(organizationId, shared)
    return shared
  }

  /** The reader ends with its last listener. */
  #release(organizationId: string, shared: Shared): void {
    shared.users -= 1
    if (shared.users > 0) return
    if (this.#readers.get(organizationId) === shared) this.#readers.delete(organizationId)
    shared.started.then(
      ({ loop }) => loop.stop(),
      () => undefined,
    )
  }
}

async function startReader(ctx: LiveContext, organizationId: string): Promise<Reader> {
  const listeners = new Set<LiveListener>()
  let position = await findNewestPosition(ctx)
  const round = async () => {
    const { items, next, hasMore } = await readLiveWindow(ctx, organizationId, position, MAX_EVENTS)
    position = next
    for (const item of items) for (const listener of listeners) listener(item)
    return hasMore
  }
  const loop = startLoop({
    round,
    pauseMs: () => POLL_MS,
    onFailure: (error) => ctx.log.warn({ err: error, organizationId }, 'live events could not be read; trying again'),
  })
  return {
    listeners,
    loop,
    get position() {
      return position
    },
  }
}
