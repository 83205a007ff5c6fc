import type { Context } from '../../context.js'
import { presentLiveEvent } from '../../model/conversations/inbox.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { TEST_KIND } from '../../model/webhooks/webhook.js'
import { readSurroundings } from '../../storage/conversations/threads.js'
import type { EventPosition } from '../../storage/events/events.js'
import { readWindow } from '../webhooks/feed.js'
import { writeMark } from './mark.js'

/** An event as it is told live. */
export interface LiveItem {
  eventId: string
  type: string
  /** By which a reader goes on after it. */
  mark: string
  /** A LiveEvent (model/conversations/inbox) as JSON. */
  data: string
}

/** What comes next in the feed of an organization. */
export interface LiveWindow {
  items: LiveItem[]
  next: EventPosition
  /** How many events were read, those among them that are not told. */
  read: number
  /** Whether there may be more by now. */
  hasMore: boolean
}

/** Reads at most `limit` events after a position, as they are told. */
export async function readLiveWindow(
  ctx: Pick<Context, 'database' | 'mediaLinks'>,
  organizationId: string,
  start: EventPosition,
  limit: number,
): Promise<LiveWindow> {
  const { events, next } = await readWindow(ctx, organizationId, start, null, limit)
  const told = events.filter((event) => event.type !== TEST_KIND && !isOfBroadcast(event))
  const around = await readSurroundings(
    ctx.database,
    organizationId,
    unique(told.map(({ data, contact_id }) => data.contact && contact_id)),
    unique(told.map(({ data }) => data.message?.instance_id)),
  )
  // Whoever goes on after one of them goes on within this window, whether it has been read to its end or not.
  const { windowFrom } = start
  const windowTo = next.windowTo ?? next.windowFrom
  const items = told.map((event) => {
    const surroundings = around(event.contact_id, event.data.message?.instance_id ?? null)
    return {
      eventId: event.id,
      type: event.type,
      mark: writeMark({ windowFrom, windowTo, seq: event.seq }, new Date(event.created_at)),
      data: JSON.stringify(presentLiveEvent(event, surroundings, ctx.mediaLinks.urlOf)),
    }
  })
  // What was left of a window is not all that has happened since.
  return { items, next, read: events.length, hasMore: events.length === limit || start.windowTo !== null }
}

/** What becomes of the many messages of a broadcast would be all that pages hear of. It shows when somebody looks at them. */
function isOfBroadcast({ type, data }: EventRow): boolean {
  return type !== 'message.reaction' && (data.message?.recipient_n ?? 0) > 0
}

function unique(ids: readonly (string | null | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => typeof id === 'string'))]
}
