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
  readNewestPosition,
} from '../../storage/events/events.js'

/** Where a reader of the feed is, and what it wants. */
export interface FeedQuery {
  /** `nextAfter` of the page before; null: from the oldest event that is kept; `latest`: none yet, only the position. */
  after: string | null
  /** Kinds; null: all. */
  types: readonly string[] | null
  limit: number
}

/** A page of the feed; one with fewer events than asked for is the last one for now. */
export interface FeedPage {
  events: ({ id: string } & ShownEvent)[]
  nextAfter: string
}

const LATEST = 'latest'
/** Two snapshots of transactions, as PostgreSQL writes them (`lowest:next:running,…`), and a number. */
const POSITION = /^(?<from>[\d:,]+)\/(?<to>[\d:,]*)\/(?<seq>\d{0,15})$/
const SNAPSHOT = /^(\d{1,18}):(\d{1,18}):(\d{1,18}(?:,\d{1,18})*)?$/

/** Reads the events after a position, in commit-safe order (contract 4, Webhooks). Throws invalid_parameter. */
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

/** Without any, all that are public: not what is only to try an endpoint out. */
function readTypes(types: readonly string[] | null): readonly string[] {
  const kinds = types && readKinds(types, 'types', 'invalid_parameter')
  return kinds === null || kinds.includes(EVERY_KIND) ? EVENT_KINDS : kinds
}

/** What is left of a window that a page before has begun, and then of the next one. */
async function readPage(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  start: EventPosition,
  kinds: readonly string[],
  limit: number,
) {
  const first = await readWindow(ctx, organizationId, start, kinds, limit)
  const room = limit - first.events.length
  if (start.windowTo === null || room === 0) return first
  const second = await readWindow(ctx, organizationId, first.next, kinds, room)
  return { events: [...first.events, ...second.events], next: second.next }
}

/** The next window after a position, or what is left of one; at most `limit` events, null: of all kinds. */
export async function readWindow(
  ctx: Pick<Context, 'database'>,
  organizationId: string,
  position: EventPosition,
  kinds: readonly string[] | null,
  limit: number,
): Promise<EventWindow> {
  const windows = await readEventWindows(ctx.database, [{ ...position, organizationId }], kinds, limit)
  const [window] = windows as [EventWindow]
  return window
}

/** The position as a text that readers hand back. */
export function writePosition({ windowFrom, windowTo, seq }: EventPosition): string {
  return Buffer.from(`${windowFrom}/${windowTo ?? ''}/${seq ?? ''}`).toString('base64url')
}

/** Reads such a text. Throws invalid_parameter. */
export function readPosition(after: string): EventPosition {
  const { from = '', to = '', seq } = POSITION.exec(Buffer.from(after, 'base64url').toString('latin1'))?.groups ?? {}
  if (!isSnapshot(from) || (to !== '' && !isSnapshot(to))) {
    const message = `after "${excerpt(after)}" is no position in the feed: give next_after of an answer, ${LATEST}, or leave it out`
    throw new Problem('invalid_parameter', message)
  }
  return { windowFrom: from, windowTo: to || null, seq: seq ? Number(seq) : null }
}

/** Refuses a position of which this database knows nothing, by one that was read after it. Throws invalid_parameter. */
export function checkOrigin(start: EventPosition, next: EventPosition): void {
  if (isLater(start.windowFrom, next.windowTo ?? next.windowFrom)) throw notOfThisDatabase()
}

/** Whether one snapshot knows of transactions that were yet to come at the other. */
function isLater(one: string, other: string): boolean {
  const nextOf = (snapshot: string) => BigInt(snapshot.split(':')[1] ?? 0)
  return nextOf(one) > nextOf(other)
}

function notOfThisDatabase(): Problem {
  return new Problem(
    'invalid_parameter',
    'after is a position of another time or database, as before a backup was restored: begin anew, without it or with latest',
  )
}

/** Whether PostgreSQL takes it: the running ones in rising order, none below the lowest, all below the next. */
function isSnapshot(text: string): boolean {
  const [, lowest, next, running] = SNAPSHOT.exec(text) ?? []
  if (lowest === undefined || next === undefined) return false
  const ids = running === undefined ? [] : running.split(',').map(BigInt)
  const isRising = ids.every((id, index) => id > (ids[index - 1] ?? BigInt(lowest) - 1n))
  return BigInt(lowest) >= 1n && BigInt(lowest) <= BigInt(next) && isRising && (ids.at(-1) ?? 0n) < BigInt(next)
}
