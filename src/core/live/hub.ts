import type { Context } from '../../context.js'
import { type Loop, startLoop } from '../../lib/async/loop.js'
import type { Notification } from '../../model/notification.js'
import { type EventPosition, readNewestPosition } from '../../storage/events/events.js'
import { type LiveItem, readLiveWindow } from './items.js'
import { writeMark } from './mark.js'

export type LiveContext = Pick<Context, 'database' | 'mediaLinks' | 'notifications' | 'clock' | 'log'>

/** Hears of events as they happen; must not throw. */
export type LiveListener = (item: LiveItem) => void

/** The events of organizations, for all who listen in this process. */
export interface LiveHub {
  /** Tells the listener of all events of the organization from now on, until it leaves. */
  join(organizationId: string, listener: LiveListener): Promise<{ leave(): void; mark(): string }>
  /** Tells nobody of anything more. */
  close(): Promise<void>
}

/** The reader of an organization's feed. */
interface Reader {
  listeners: Set<LiveListener>
  /** All that comes after it will be told. */
  readonly position: EventPosition
  loop: Loop
}

/** A reader that may be on its way, and for how many. */
interface Shared {
  users: number
  started: Promise<Reader>
}

/** A signal may be lost. */
const LOOK_MS = 3_000
/** Told in one go: so few that whoever reads can keep up. */
const MAX_EVENTS = 100

/**
 * Makes the hub of a process: an organization's feed is read by one reader while somebody listens, as soon as there is news, and each
 * event is composed once for all who hear of it.
 */
export function createLiveHub(ctx: LiveContext): LiveHub {
  const readers = new Map<string, Shared>()
  // A process in which nobody listens is spared the signals of the others.
  let stopListening: (() => void) | null = null

  function hear(notification: Notification): void {
    if (notification.topic !== 'events' && notification.topic !== 'missed') return
    const named = notification.topic === 'events' ? notification.organizationIds : null
    for (const id of named ?? readers.keys()) {
      readers.get(id)?.started.then(
        ({ loop }) => loop.wake(),
        () => undefined,
      )
    }
  }

  async function start(organizationId: string): Promise<Reader> {
    const listeners = new Set<LiveListener>()
    let position = await readNewestPosition(ctx.database)
    const round = async () => {
      const { items, next, hasMore } = await readLiveWindow(ctx, organizationId, position, MAX_EVENTS)
      position = next
      for (const item of items) for (const listener of listeners) listener(item)
      return hasMore
    }
    const loop = startLoop({
      round,
      pauseMs: () => LOOK_MS,
      onFailure: (error) => ctx.log.warn({ err: error, organizationId }, 'events could not be told live; trying again'),
    })
    return {
      listeners,
      loop,
      get position() {
        return position
      },
    }
  }

  function share(organizationId: string): Shared {
    const known = readers.get(organizationId)
    if (known) return known
    const shared = { users: 0, started: start(organizationId) }
    readers.set(organizationId, shared)
    return shared
  }

  /** The last one puts out the light. */
  function release(organizationId: string, shared: Shared): void {
    shared.users -= 1
    if (shared.users > 0) return
    if (readers.get(organizationId) === shared) readers.delete(organizationId)
    shared.started.then(
      ({ loop }) => loop.stop(),
      () => undefined,
    )
  }

  return {
    join: async (organizationId, listener) => {
      stopListening ??= ctx.notifications.listen(hear)
      const shared = share(organizationId)
      shared.users += 1
      try {
        const reader = await shared.started
        reader.listeners.add(listener)
        return {
          mark: () => writeMark(reader.position, ctx.clock()),
          leave: () => {
            if (reader.listeners.delete(listener)) release(organizationId, shared)
          },
        }
      } catch (error) {
        release(organizationId, shared)
        throw error
      }
    },
    close: async () => {
      stopListening?.()
      const left = await Promise.allSettled(Array.from(readers.values(), ({ started }) => started))
      readers.clear()
      await Promise.all(left.map((one) => one.status === 'fulfilled' && one.value.loop.stop()))
    },
  }
}
