import type { Context } from '../../context.js'
import { presentLiveEvent } from '../../model/conversations/inbox.js'
import type { EventRow } from '../../model/webhooks/event.js'
import { TEST_KIND } from '../../model/webhooks/webhook.js'
import { readSurroundings } from '../../storage/inbox/threads.js'
import { readWindow } from '../webhooks/feed.js'
import type { MarkedPosition } from '../webhooks/positions.js'
import { writeMark } from './mark.js'

/** An event as it is sent to live readers. */
export interface LiveItem {
  eventId: string
  type: string
  /** The mark from which a reader continues after this event. */
  mark: string
  /** A LiveEvent (model/conversations/inbox) as JSON. */
  data: string
}

/** The next events of an organization's feed. */
export interface LiveWindow {
  items: LiveItem[]
  next: MarkedPosition
  /** How many events were read, including those that are not sent. */
  read: number
  /** Whether there may be more events. */
  hasMore: boolean
}

/** Reads at most `limit` events after a position. */
export async function readLiveWindow(
  ctx: Pick<Context, 'database' | 'mediaLinks' | 'clock'>,
  organizationId: string,
  start: MarkedPosition,
  limit: number,
): Promise<LiveWindow> {
  const { events, next } = await readWindow(ctx, organizationId, start, { kinds: null, limit })
  const { windowFrom, history } = start
  const visible = events.filter((event) => !HIDDEN.has(event.type) && !isOfBroadcast(event))
  const around = await readSurroundings(
    ctx.database,
    organizationId,
    unique(visible.map(({ data, contact_id }) => data.contact && contact_id)),
    unique(visible.map(({ data }) => data.message?.instance_id)),
  )
  // A reader that continues after an event of this window continues within it, even if the window was not read to its
  // end.
  const windowTo = next.windowTo ?? next.windowFrom
  const now = ctx.clock()
  const items = visible.map((event) => {
    const surroundings = around(event.contact_id, event.data.message?.instance_id ?? null)
    return {
      eventId: event.id,
      type: event.type,
      mark: writeMark({ windowFrom, windowTo, seq: event.seq, history }, new Date(event.created_at)),
      data: JSON.stringify(presentLiveEvent(event, surroundings, ctx.mediaLinks.urlOf, now)),
    }
  })
  // Reading the rest of an older window does not reach the end of the feed.
  const hasMore = events.length === limit || start.windowTo !== null
  return { items, next: { ...next, history }, read: events.length, hasMore }
}

/** Of webhooks only: the page shows nothing of them. */
const HIDDEN: ReadonlySet<string> = new Set([TEST_KIND, 'instance.signal', 'instance.message_sent'])

/** The many statuses of a broadcast would drown all other events. Pages show them when they are loaded. */
function isOfBroadcast({ type, data }: EventRow): boolean {
  return type !== 'message.reaction' && (data.message?.recipient_n ?? 0) > 0
}

function unique(ids: readonly (string | null | undefined)[]): string[] {
  return [...new Set(ids.filter((id) => typeof id === 'string'))]
}
