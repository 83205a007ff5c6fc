import type { Context } from '../../context.js'
import { excerpt } from '../../lib/text/text.js'
import { Problem } from '../../model/problem.js'
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

const LATEST = 'latest'
/** Two snapshots in PostgreSQL's notation (`lowest:next:running,…`) and a number. */
const POSITION = /^(?<from>[\d:,]+)\/(?<to>[\d:,]*)\/(?<seq>\d{0,15})$/
const SNAPSHOT = /^(\d{1,18}):(\d{1,18}):(\d{1,18}(?:,\d{1,18})*)?$/

/**
 * Reads the events after a position. No event is skipped, even if transactions commit out of order. Throws
 * invalid_parameter.
 */
export async function readFeed(
  ctx: Pick<Context, 'database' | 'mediaLinks'>,
  organizationId: string,
  { after, types, limit }: FeedQuery,
): Promise<FeedPage> {
  const kinds = readTypes(types)
  if (after === LATEST) return { events: [], nextAfter: writePosition(await readNewestPosition(ctx.database)) }
  const start = after === null ? OLDEST_POSITION : readPosition(after)
  const { events, next } = await readPage(ctx, organizationId, start, kinds, limit)
  checkOrigin(start, next)
  return {
    events: events.map((event) => ({ id: event.id, ...presentEvent(event, ctx.mediaLinks.urlOf) })),
    nextAfter: writePosition(next),
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
  kinds: readonly string[],
  limit: number,
) {
  const first = await readWindow(ctx, organizationId, start, kinds, limit)
  const room = limit - first.events.length
  const isFinished = first.next.windowTo === null
  if (start.windowTo === null || !isFinished || room === 0) return first
  const second = await readWindow(ctx, organizationId, first.next, kinds, room)
  return { events: [...first.events, ...second.events], next: second.next }
}

/** The next window after a position, or the rest of one; at most `limit` events. Null kinds: all. */
export async function readWindow(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  position: EventPosition,
  kinds: readonly string[] | null,
  limit: number,
): Promise<EventWindow> {
  const start = { ...position, organizationId }
  if (kinds !== null) return readFilteredEventWindow(ctx.database, start, kinds, limit)
  const windows = await readEventWindows(ctx.database, [start], limit)
  const [window] = windows as [EventWindow]
  return window
}

/** The position as an opaque text. */
export function writePosition({ windowFrom, windowTo, seq }: EventPosition): string {
  return Buffer.from(`${windowFrom}/${windowTo ?? ''}/${seq ?? ''}`).toString('base64url')
}

/** Reads a position text. Throws invalid_parameter. */
export function readPosition(after: string): EventPosition {
  const { from = '', to = '', seq } = POSITION.exec(Buffer.from(after, 'base64url').toString('latin1'))?.groups ?? {}
  if (!isSnapshot(from) || (to !== '' && !isSnapshot(to))) {
    const message = `after "${excerpt(after)}" is not a position of the feed: give next_after of an answer, ${LATEST}, or leave it out`
    throw new Problem('invalid_parameter', message)
  }
  return { windowFrom: from, windowTo: to || null, seq: seq ? Number(seq) : null }
}

/**
 * Refuses a position that this database cannot have issued, by comparing it with a newer one. Throws invalid_parameter.
 */
export function checkOrigin(start: EventPosition, next: EventPosition): void {
  if (isLater(start.windowFrom, next.windowTo ?? next.windowFrom)) throw notOfThisDatabase()
}

/** True if one snapshot knows of transactions that had not started at the other. */
function isLater(one: string, other: string): boolean {
  const nextOf = (snapshot: string) => BigInt(snapshot.split(':')[1] ?? 0)
  return nextOf(one) > nextOf(other)
}

function notOfThisDatabase(): Problem {
  return new Problem(
    'invalid_parameter',
    'after is a position of another database, or from before a backup was restored: start again, without it or with latest',
  )
}

/** True if PostgreSQL accepts the snapshot: the running ids in rising order, between the lowest and the next. */
function isSnapshot(text: string): boolean {
  const [, lowest, next, running] = SNAPSHOT.exec(text) ?? []
  if (lowest === undefined || next === undefined) return false
  const ids = running === undefined ? [] : running.split(',').map(BigInt)
  const isRising = ids.every((id, index) => id > (ids[index - 1] ?? BigInt(lowest) - 1n))
  return BigInt(lowest) >= 1n && BigInt(lowest) <= BigInt(next) && isRising && (ids.at(-1) ?? 0n) < BigInt(next)
}
