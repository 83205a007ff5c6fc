import type { Context } from '../../context.js'
import { presentEvent, type ShownEvent } from '../../model/webhooks/event.js'
import { EVENT_KINDS, EVERY_KIND, readKinds } from '../../model/webhooks/webhook.js'
import {
  type EventPosition,
  type EventWindow,
  OLDEST_POSITION,
  readEventWindows,
  readFilteredEventWindow,
  readNewestPosition,
} from '../../storage/events/events.js'
import { findBusinessNumbers } from '../organizations/numbers.js'
import { findHistories } from '../processes/histories.js'
import { checkHistory, checkNotAhead, LATEST, markPosition, readPosition, writePosition } from './positions.js'

export interface FeedQuery {
  /**
   * `nextAfter` of the previous page; null: start with the oldest stored event; `latest`: return only the newest
   * position.
   */
  after: string | null
  /** Kinds of events; null: all. */
  types: readonly string[] | null
  limit: number
}

/**
 * A page of the feed. Fewer events than the limit mean that it is the last page for now, or that many events of other
 * kinds were passed over; the next page then continues after them.
 */
export interface FeedPage {
  events: ({ id: string } & ShownEvent)[]
  nextAfter: string
}

/**
 * Reads the events after a position. No event is skipped, even if transactions commit out of order. Throws
 * invalid_parameter.
 */
export async function readFeed(
  ctx: Pick<Context, 'database' | 'mediaLinks' | 'clock' | 'log'>,
  organizationId: string,
  { after, types, limit }: FeedQuery,
): Promise<FeedPage> {
  const kinds = readTypes(types)
  const given = after === null || after === LATEST ? null : readPosition(after)
  // Before the events are read, so that nothing that is read is newer than the history.
  const histories = await findHistories(ctx)
  if (given !== null) checkHistory(given, histories)
  const mark = (position: EventPosition) => writePosition(markPosition(position, histories))
  if (after === LATEST) return { events: [], nextAfter: mark(await readNewestPosition(ctx.database)) }
  const start = given ?? OLDEST_POSITION
  const { events, next } = await readPage(ctx, organizationId, start, { kinds, limit })
  checkNotAhead(start, next)
  const numbers = await findBusinessNumbers(ctx, organizationId)
  const now = ctx.clock()
  return {
    events: events.map((event) => ({ id: event.id, ...presentEvent(event, ctx.mediaLinks.urlOf, numbers, now) })),
    nextAfter: mark(next),
  }
}

/** By default all public kinds, which exclude webhook.test. */
function readTypes(types: readonly string[] | null): readonly string[] {
  const kinds = types && readKinds(types, 'types', 'invalid_parameter')
  return kinds === null || kinds.includes(EVERY_KIND) ? EVENT_KINDS : kinds
}

/** Reads the rest of a window that an earlier page began, and then the next window. */
async function readPage(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  start: EventPosition,
  { kinds, limit }: { kinds: readonly string[]; limit: number },
) {
  const first = await readWindow(ctx, organizationId, start, { kinds, limit })
  const room = limit - first.events.length
  const isFinished = first.next.windowTo === null
  if (start.windowTo === null || !isFinished || room === 0) return first
  const second = await readWindow(ctx, organizationId, first.next, { kinds, limit: room })
  return { events: [...first.events, ...second.events], next: second.next }
}

/** The next window after a position, or the rest of one; at most `limit` events. Null kinds: all. */
export async function readWindow(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  position: EventPosition,
  { kinds, limit }: { kinds: readonly string[] | null; limit: number },
): Promise<EventWindow> {
  const start = { ...position, organizationId }
  if (kinds !== null) return readFilteredEventWindow(ctx.database, start, kinds, limit)
  const windows = await readEventWindows(ctx.database, [start], limit)
  const [window] = windows as [EventWindow]
  return window
}
