import type { LiveContext } from '../../context.js'
import type { Scope } from '../../model/organizations/scope.js'
import { Problem } from '../../model/problem.js'
import { findHistories } from '../processes/histories.js'
import { checkHistory, checkNotAhead, type MarkedPosition, markPosition } from '../webhooks/positions.js'
import type { LiveHub } from './hub.js'
import { type LiveItem, readLiveWindow } from './items.js'
import { readMark } from './mark.js'

/** A reader of an organization's live events. */
export interface LiveReader {
  organizationId: string
  scopes: readonly Scope[]
  /** The mark of the last event that the reader received; null: it starts now. */
  after: string | null
}

/** Receives live events. */
export interface LiveSink {
  /** Aborted when the reader is gone. */
  readonly signal: AbortSignal
  /** The stream starts; it has all events after this mark. */
  begin(mark: string): void
  send(item: LiveItem): void
  /** Missed events cannot be sent: the reader must reload. The stream has all events after this mark. */
  reset(mark: string): void
  /** Resolves when the reader has taken all events written so far. */
  drained(): Promise<void>
  /** The stream ends: too many events came while the missed ones were sent. */
  overflow(): void
}

/** The largest number of missed events that are sent. */
const MAX_MISSED = 1_000
/** The largest number of events that are read for it, since events of broadcasts are not sent. */
const MAX_READ = 10 * MAX_MISSED
const PAGE = 100

/**
 * Sends a reader the events that it missed, and then every event as it happens. None is left out, and none is sent
 * twice in one stream; a reader that reconnects may receive some again. Resolves when live events flow; the stream ends
 * with the sink's signal.
 */
export async function followLive(
  ctx: LiveContext,
  hub: LiveHub,
  { organizationId, scopes, after }: LiveReader,
  sink: LiveSink,
): Promise<void> {
  const isVisible = ({ type }: LiveItem) => !type.startsWith('webhook.') || scopes.includes('webhooks:read')
  /** The marks of the missed events that were sent, since the hub may send them too. */
  const sentMarks = new Set<string>()
  let waiting: LiveItem[] | null = []
  const forward = (item: LiveItem) => {
    if (!sentMarks.delete(item.eventId)) sink.send(item)
  }
  const { mark, leave } = await hub.join(organizationId, (item) => {
    if (!isVisible(item)) return
    if (waiting === null) forward(item)
    else if (waiting.push(item) > MAX_MISSED) sink.overflow()
  })
  sink.signal.addEventListener('abort', leave, { once: true })
  if (sink.signal.aborted) return leave()
  try {
    if (after === null) sink.begin(mark())
    else if (!(await sendMissed(readMark(after, ctx.clock())))) sink.reset(mark())
    for (const item of waiting) forward(item)
    waiting = null
  } catch (error) {
    leave()
    throw error
  }

  /**
   * Resolves to false if the missed events cannot be sent: there are too many, or the position is not known any more.
   */
  async function sendMissed(start: MarkedPosition | null): Promise<boolean> {
    let sentCount = 0
    let readCount = 0
    const histories = await findHistories(ctx)
    if (start === null || !isAccepted(() => checkHistory(start, histories))) return false
    let position = markPosition(start, histories)
    while (!sink.signal.aborted) {
      const { items, next, read, hasMore } = await readLiveWindow(ctx, organizationId, position, PAGE)
      if (!isAccepted(() => checkNotAhead(position, next))) return false
      sentCount += items.length
      readCount += read
      if (sentCount > MAX_MISSED || readCount > MAX_READ) return false
      for (const item of items.filter(isVisible)) {
        sentMarks.add(item.eventId)
        sink.send(item)
        await sink.drained()
      }
      if (!hasMore) return true
      position = next
    }
    return false
  }
}

/** False if the check throws a problem. */
function isAccepted(check: () => void): boolean {
  try {
    check()
    return true
  } catch (error) {
    if (error instanceof Problem) return false
    throw error
  }
}
