import type { Queryable } from '../../../database/pool.js'
import { type EventPosition, type EventWindow, readEventWindows } from '../../../storage/events/events.js'

/** The next events of an organization, possibly none. */
export interface NewEvents extends EventWindow {
  /** The feed's position in the database when they were read. */
  stored: EventPosition
  /** There may be more of them. */
  hasMore: boolean
}

/** Reads what comes after the positions of feeds. */
export interface EventReader {
  /** At most `limit` new events of each of these organizations, whose feeds are at these positions. */
  read(db: Queryable, feeds: ReadonlyMap<string, EventPosition>, limit: number): Promise<NewEvents[]>
  /** Moves on past events that no webhook wants; false if the position should be stored instead. */
  skip(events: NewEvents): boolean
}

/** A position that moved only past unwanted events is stored this often; after a crash these events are read again. */
const STORE_POSITION_MS = 30_000

/** Creates the reader of a process. How far it has skipped events is only in memory. */
export function createEventReader(): EventReader {
  const skipped = new Map<string, { stored: EventPosition; next: EventPosition; since: number }>()

  /** The position in the database, or what this process has skipped from there. */
  function startOf(organizationId: string, stored: EventPosition): EventPosition {
    const known = skipped.get(organizationId)
    if (known && isSamePosition(known.stored, stored)) return known.next
    skipped.delete(organizationId)
    return stored
  }

  return {
    read: async (db, positions, limit) => {
      const starts = new Map(Array.from(positions, ([id, stored]) => [id, startOf(id, stored)]))
      const given = Array.from(starts, ([organizationId, start]) => ({ organizationId, ...start }))
      const windows = await readEventWindows(db, given, limit)
      return windows.map((window) => {
        const { organizationId, next } = window
        const stored = positions.get(organizationId) ?? next
        // After the last page of a window come the events since it was opened.
        const hasMore = next.windowTo !== null || starts.get(organizationId)?.windowTo !== null
        return { ...window, stored, hasMore }
      })
    },
    skip: ({ organizationId, events, stored, next }) => {
      const since = skipped.get(organizationId)?.since ?? performance.now()
      if (events.length > 0 && performance.now() - since > STORE_POSITION_MS) return false
      skipped.set(organizationId, { stored, next, since })
      return true
    },
  }
}

/** True if both are the same position. */
function isSamePosition(one: EventPosition, other: EventPosition): boolean {
  return one.windowFrom === other.windowFrom && one.windowTo === other.windowTo && one.seq === other.seq
}
